/** Owns the tests of the second send: a call is repeated only where trusted hints allow it, never otherwise. */
import { fileURLToPath } from 'node:url'
import { NO_ANSWER, httpRow, startHttpServer, stdioRow, stdioServer, text, tool } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, StdioServer } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { rawNames } from '../composition/host-suite.ts'
import { textOf } from '../composition/registry-host.ts'
import { openWireHost } from './wire-host.ts'
import type { WireHost } from './wire-host.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/dies-once.ts', import.meta.url))
const FAST = { initialDelayMs: 20, maxDelayMs: 100 }

let host: WireHost
let end: (() => unknown) | undefined
afterEach(async () => {
  await host.close()
  await end?.()
  end = undefined
})

async function openStdio(config: object, options: object = {}): Promise<StdioServer> {
  const server = stdioServer(FIXTURE, { ...options })
  host = await openWireHost(stdioRow('kit', server, { reconnect: FAST, ...config }))
  return server
}

describe('a process that dies in a call', () => {
  it.each(['read', 'put'])('%s: trusted hints let it be sent to the next one', async (name) => {
    const server = await openStdio({ trustAnnotations: true })
    expect(textOf(await host.call(name))).toBe(`${name} done`)
    expect(rawNames(await server.journal())).toEqual([name, name])
    expect(host.lines).toContainEqual(
      expect.stringMatching(new RegExp(`^debug: call of "${name}" is sent once more: .*exit code 3`)),
    )
  })

  it.each([
    ['read', false],
    ['put', false],
    ['send', true],
    ['plain', true],
    ['send', false],
  ])('%s with trustAnnotations %s: sent once, and said that it may have run', async (name, isTrusted) => {
    const server = await openStdio({ trustAnnotations: isTrusted })
    const result = await host.call(name)
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_CONNECTION_CLOSED' } } })
    expect(textOf(result)).toMatch(/exit code 3.*the disk is gone.*The call may have run/s)
    // The next session is there, and heard nothing of it.
    await expect.poll(() => host.bridge.status().state).toBe('ready')
    expect(textOf(await host.call('plain'))).toBe('plain done')
    expect(rawNames(await server.journal())).toEqual([name, 'plain'])
  })

  it('not where the tool came back another', async () => {
    const server = await openStdio({ trustAnnotations: true })
    expect(textOf(await host.call('changed'))).toContain('The call may have run')
    expect(rawNames(await server.journal())).toEqual(['changed'])
  })

  it('not twice', async () => {
    const server = await openStdio({ trustAnnotations: true }, { every: true })
    expect(textOf(await host.call('read'))).toContain('The call may have run')
    expect(rawNames(await server.journal())).toEqual(['read', 'read'])
  })

  it('not where nobody reconnects', async () => {
    const server = await openStdio({ trustAnnotations: true, reconnect: { enabled: false } })
    expect(textOf(await host.call('read'))).toContain('The call may have run')
    expect(rawNames(await server.journal())).toEqual(['read'])
  })

  it('not after the caller went', async () => {
    const server = await openStdio({
      trustAnnotations: true,
      reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
    })
    const controller = new AbortController()
    const call = host.call('read', { signal: controller.signal })
    await expect.poll(() => host.bridge.status().state).toBe('backoff')
    controller.abort()
    expect(textOf(await call)).toContain('aborted')
    expect(rawNames(await server.journal())).toEqual(['read'])
  })

  it('not after the row went: the call ends with it', async () => {
    await openStdio({
      trustAnnotations: true,
      reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
    })
    const call = host.call('read')
    await expect.poll(() => host.bridge.status().state).toBe('backoff')
    await host.bridge.dispose()
    expect(textOf(await call)).toContain('The call may have run')
  })
})

describe.each(['legacy', 'modern'] as const)('an HTTP server that cuts the reply (%s)', (era) => {
  async function openHttp(isTrusted: boolean): Promise<HttpServer> {
    let calls = 0
    const behaviour: Behaviour = {
      era,
      tools: [
        tool('read', { annotations: { readOnlyHint: true } }),
        tool('send', { annotations: { readOnlyHint: false } }),
      ],
      async callTool({ name }, peer) {
        calls += 1
        if (calls > 1) return text(`${String(name)} done`)
        await peer.raw(': begun\n\n')
        peer.exit()
        return NO_ANSWER
      },
    }
    const server = await startHttpServer(behaviour, { reply: 'sse' })
    end = () => server.close()
    host = await openWireHost(
      httpRow('kit', server.url, { trustAnnotations: isTrusted, reconnect: FAST, toolCallTimeoutMs: 5_000 }),
    )
    return server
  }
  const callsOf = ({ requests }: HttpServer): unknown[] =>
    requests.flatMap(({ message }) => (message?.method === 'tools/call' ? [message.params?.['name']] : []))

  it('gets a trusted read once more', async () => {
    const server = await openHttp(true)
    expect(textOf(await host.call('read'))).toBe('read done')
    expect(callsOf(server)).toEqual(['read', 'read'])
  })

  it.each([
    ['read', false],
    ['send', true],
  ])('gets %s with trustAnnotations %s once', async (name, isTrusted) => {
    const server = await openHttp(isTrusted)
    const result = await host.call(name)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/may have run|outcome/)
    expect(callsOf(server)).toEqual([name])
  })
})
