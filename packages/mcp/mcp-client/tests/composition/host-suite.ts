/** Owns the frame of a suite that boots real hosts: each is disposed after its test, and nothing may be left. */
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect } from 'vitest'
import { bootHost, expectNoLeftovers, leftovers } from '@dsh-mcp/testkit'
import type { Host, HostOptions, JournalEntry, Leftovers, Row, StdioServer } from '@dsh-mcp/testkit'

const loader = createRequire(import.meta.url)('@deepseek-ai/cordis-plugin-loader/package.json') as {
  readonly version: string
}
/**
 * The loader of rc.8 waits for its rows and refuses a broken edit as a whole. The one that its ranges resolve to today
 * (the drift leg) does neither: it logs what failed and goes on.
 */
export const isTransactional = loader.version === '1.0.2'
/** What becomes of a broken edit. */
export const REFUSED = isTransactional ? 'refused' : 'applied'

export interface HostSuite {
  /** Boot a host that is disposed after the test. */
  boot(options?: HostOptions): Promise<Host>
  /** Run after the test, once its hosts are gone. */
  after(end: () => unknown): void
}

/** To be called at the top of a spec file. */
export function hostSuite(): HostSuite {
  let before: Leftovers
  const hosts: Host[] = []
  const ends: (() => unknown)[] = []

  beforeEach(() => {
    before = leftovers()
  })
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.dispose()
    for (const end of ends.splice(0)) await end()
    await expectNoLeftovers(before)
  })

  return {
    async boot(options = {}) {
      const host = await bootHost(options)
      hosts.push(host)
      return host
    },
    after: (end) => void ends.push(end),
  }
}

/** How often the server was started so far. */
export async function startsOf(server: StdioServer): Promise<number> {
  return (await server.journal()).filter(({ kind }) => kind === 'start').length
}

/** Raw names of the calls that reached the server, in order. */
export function rawNames(journal: readonly JournalEntry[]): unknown[] {
  return journal.flatMap(({ kind, message }) =>
    kind === 'received' && message?.method === 'tools/call' ? [message.params?.['name']] : [],
  )
}

/** Put other rows under test, and wait for exactly these tools, in any order. */
export async function editTo(host: Host, rows: readonly Row[], tools: readonly string[]): Promise<void> {
  expect(await host.editRows(rows)).toBe('applied')
  await untilTools(host, tools)
}

/** Wait for exactly these tools, in any order. */
export async function untilTools(host: Host, tools: readonly string[]): Promise<void> {
  const wanted = tools.toSorted().join()
  await host.until(() => host.tools().toSorted().join() === wanted)
}
