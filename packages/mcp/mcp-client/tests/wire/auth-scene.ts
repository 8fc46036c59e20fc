/**
 * Owns the scene of the authorization tests: a real authorization server, a server that it guards, and hosts with the
 * bridge of the source that share one folder of credentials.
 */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAuthorizationServer, startHttpServer } from '@dsh-mcp/testkit'
import type { AuthorizationServer, AuthorizationSwitches, GuardOptions, HttpServer } from '@dsh-mcp/testkit'
import { createBridge } from '../../src/bridge.ts'
import type { Bridge } from '../../src/bridge.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import type { McpError } from '../../src/errors.ts'
import { publicToolName } from '../../src/naming.ts'
import { openRegistryHost } from '../composition/registry-host.ts'
import type { RegistryHost } from '../composition/registry-host.ts'

type LoginHost = NonNullable<Parameters<typeof createBridge>[1]['login']>

export interface AuthHost {
  readonly bridge: Bridge
  readonly failure: McpError | undefined
  readonly lines: readonly string[]
  call(): ReturnType<RegistryHost['execute']>
  state(): string
  close(): Promise<void>
}

export interface AuthScene {
  readonly auth: AuthorizationServer
  readonly server: HttpServer
  readonly folder: string
  open(config?: object, login?: Partial<LoginHost>): Promise<AuthHost>
  /** Texts of all kept files. */
  kept(): Promise<string>
  /** What the guarded server was sent as Authorization, in order. */
  sent(): (string | undefined)[]
  close(): Promise<void>
}

export async function openAuthScene(
  switches: Partial<AuthorizationSwitches> = {},
  guard: GuardOptions = {},
): Promise<AuthScene> {
  const auth = await startAuthorizationServer(switches)
  const server = await startHttpServer({}, { intercept: auth.guard(guard) })
  const folder = await mkdtemp(join(tmpdir(), 'auth-scene-'))
  const hosts: AuthHost[] = []

  async function open(config: object = {}, login: Partial<LoginHost> = {}): Promise<AuthHost> {
    const registry = await openRegistryHost({})
    const { spec } = resolveConfig({ serverName: 'locked', url: server.url, ...config })
    const lines: string[] = []
    const bridge = createBridge(spec, {
      register: (definition) => registry.register(definition),
      services: { ...registry.context.host, log: (level, text) => void lines.push(`${level}: ${text}`) },
      memory: { read: () => ({}), update: () => {}, flush: () => Promise.resolve() },
      clock: SYSTEM_CLOCK,
      version: '0',
      say: ({ level, text }) => void lines.push(`${level}: ${text}`),
      login: { folder, ...login },
    })
    const failure = await bridge.start()
    const host: AuthHost = {
      bridge,
      failure,
      lines,
      call: () => registry.execute(publicToolName('locked', 'echo'), { args: { message: 'hello' } }),
      state: () => bridge.status().state,
      async close() {
        await bridge.dispose()
        await registry.close()
      },
    }
    hosts.push(host)
    return host
  }

  return {
    auth,
    server,
    folder,
    open,
    async kept() {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
      return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
    },
    sent: () => server.requests.map(({ headers }) => headers.authorization),
    async close() {
      await Promise.all(hosts.map((host) => host.close()))
      await Promise.all([server.close(), auth.close()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The person at the browser: opens the page, which sends it straight back; gives what it came back with. */
export async function follow({ url }: { readonly url: string }): Promise<URLSearchParams> {
  const reply = await fetch(url, { redirect: 'manual' })
  await reply.arrayBuffer()
  const location = reply.headers.get('location')
  if (location === null) throw new Error(`the login page answered HTTP ${reply.status}`)
  return new URL(location).searchParams
}

/** The same, and the browser goes on to the loopback address. */
export async function visit(url: string | undefined): Promise<number> {
  const reply = await fetch(url ?? '')
  await reply.arrayBuffer()
  return reply.status
}
