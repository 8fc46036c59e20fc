/**
 * Owns the host of the result tests over a real wire: the real registry and stores, and one server behind the bridge of
 * the source, without loader.
 */
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { createBridge } from '../../src/bridge.ts'
import type { Bridge } from '../../src/bridge.ts'
import { resolveConfig } from '../../src/config.ts'
import { publicToolName } from '../../src/naming.ts'
import type { Row } from '@dsh-mcp/testkit'
import { openRegistryHost } from '../composition/registry-host.ts'
import type { HostOptions, RegistryHost } from '../composition/registry-host.ts'

type Input = NonNullable<Parameters<RegistryHost['execute']>[1]>

export interface WireHost {
  readonly ctx: RegistryHost['ctx']
  readonly bridge: Bridge
  /** What the operator was told: `level: text`. */
  readonly lines: readonly string[]
  /** Raw names that are registered now. */
  has(rawName: string): boolean
  call(rawName: string, input?: Input): ReturnType<RegistryHost['execute']>
  close(): Promise<void>
}

/** Open a host and connect the server of this row; rejects with the failure of the first attempt. */
export async function openWireHost(row: Row, options: HostOptions = {}): Promise<WireHost> {
  const registry = await openRegistryHost(options)
  const { spec } = resolveConfig(row.config)
  const lines: string[] = []
  const bridge = createBridge(spec, {
    register: (definition) => registry.register(definition),
    services: {
      ...registry.context.host,
      log: (level, text) => void lines.push(`${level}: ${text}`),
    },
    memory: { read: () => ({}), update: () => {}, flush: () => Promise.resolve() },
    clock: SYSTEM_CLOCK,
    version: '0',
    say: ({ level, text }) => void lines.push(`${level}: ${text}`),
  })
  const close = async (): Promise<void> => {
    await bridge.dispose()
    await registry.close()
  }
  const failure = await bridge.start()
  if (failure !== undefined) {
    await close()
    throw failure
  }
  const nameOf = (rawName: string): string => publicToolName(spec.serverName, rawName)
  return {
    ctx: registry.ctx,
    bridge,
    lines,
    has: (rawName) => registry.ctx.tools.get(nameOf(rawName)) !== undefined,
    call: (rawName, input) => registry.execute(nameOf(rawName), input),
    close,
  }
}
