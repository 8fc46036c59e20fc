/** Owns the tests of what is told once, and when it is told again; and of letting companions go. */
import { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { mountCompanions } from '../../src/companions.ts'
import { cardText, createTroubles } from '../../src/servers-notice.ts'
import type { Troubles } from '../../src/servers-notice.ts'
import type { ServerHandle, ServerState } from '../../src/types.ts'
import { brokenStatus, readyStatus } from './status-samples.ts'

const github = (state: ServerState): Pick<ServerHandle, 'serverName' | 'state'> => ({
  serverName: 'github',
  state: () => state,
})

/** Whether a server in this state is told now. */
const isTold = (troubles: Troubles, state: ServerState): boolean => {
  const server = github(state)
  troubles.saw(server)
  return troubles.take('isWarned', [server]).length > 0
}

describe('trouble with a server', () => {
  it('is told once, in each way', () => {
    const troubles = createTroubles()
    const servers = [github('failed'), { serverName: 'files', state: () => 'ready' as const }]
    expect(troubles.take('isWarned', servers)).toEqual([servers[0]])
    expect(troubles.take('isWarned', servers)).toEqual([])
    expect(troubles.take('isCarded', servers)).toEqual([servers[0]])
    expect(troubles.take('isCarded', servers)).toEqual([])
  })

  it('is told again after the server has worked', () => {
    const troubles = createTroubles()
    const states: ServerState[] = ['failed', 'connecting', 'failed', 'ready', 'failed', 'needs-auth']
    expect(states.map((state) => isTold(troubles, state))).toEqual([true, false, false, false, true, false])
  })

  it('is no news where a connection that worked was lost and is made again', () => {
    const troubles = createTroubles()
    const states: ServerState[] = ['connecting', 'backoff', 'backoff', 'ready', 'backoff', 'failed']
    expect(states.map((state) => isTold(troubles, state))).toEqual([false, true, false, false, false, true])
  })

  it('is forgotten with the row', () => {
    const troubles = createTroubles()
    expect(isTold(troubles, 'failed')).toBe(true)
    troubles.left('github')
    expect(isTold(troubles, 'failed')).toBe(true)
  })
})

describe('a card', () => {
  it('names all that do not work', () => {
    const two = [brokenStatus(), brokenStatus({ serverName: 'jira', state: 'needs-auth' })]
    expect(cardText(two, [...two, readyStatus()]).split('\n')).toEqual([
      'github, jira do not work. 3 MCP servers: 1 failed, 1 needs auth, 1 ready',
      '',
      expect.stringMatching(/^github: MCP_SPAWN_FAILED: /),
      expect.stringMatching(/^jira: MCP_SPAWN_FAILED: /),
      '',
      '/mcp SERVER shows one in full; /mcp SERVER restart tries again.',
    ])
  })
})

describe('companions', () => {
  it('go with the last row, however often it says so', async () => {
    const ctx = new Context()
    let mounted = 0
    const companion = {
      name: 'one',
      apply(inner: Context) {
        inner.effect(() => {
          mounted += 1
          return () => void (mounted -= 1)
        }, 'one')
      },
    }
    const companions = { first: [], load: async () => [companion] }
    const first = mountCompanions(ctx, companions)
    const second = mountCompanions(ctx, companions)
    await Promise.all([first.complete(), second.complete()])
    first.release()
    first.release()
    await new Promise((resolve) => setImmediate(resolve))
    expect(mounted).toBe(1)
    second.release()
    await new Promise((resolve) => setImmediate(resolve))
    expect(mounted).toBe(0)
    await ctx.fiber.dispose()
  })
})

describe('companions that are still loading', () => {
  it('are not mounted when the last row went meanwhile', async () => {
    const ctx = new Context()
    let mounted = 0
    const loading = Promise.withResolvers<[{ name: string; apply(): void }]>()
    const mount = mountCompanions(ctx, { first: [], load: () => loading.promise })
    const complete = mount.complete()
    mount.release()
    loading.resolve([{ name: 'late', apply: () => void (mounted += 1) }])
    await complete
    await new Promise((resolve) => setImmediate(resolve))
    expect(mounted).toBe(0)
    await ctx.fiber.dispose()
  })
})
