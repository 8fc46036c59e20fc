/** Owns the frame of a suite that boots real hosts: each is disposed after its test, and nothing may be left. */
import { afterEach, beforeEach } from 'vitest'
import { bootHost, expectNoLeftovers, leftovers } from '@dsh-mcp/testkit'
import type { Host, HostOptions, JournalEntry, Leftovers, StdioServer } from '@dsh-mcp/testkit'

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
