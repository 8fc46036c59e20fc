/** Owns the tests of trusted annotations in the real agent loop: which calls of one step run side by side. */
import { httpRow, runTurn, startHttpServer, text, tool } from '@dsh-mcp/testkit'
import type { Behaviour } from '@dsh-mcp/testkit'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { hostSuite } from './host-suite.ts'

const suite = hostSuite()
/** Long enough for a call beside it to come, where one may. */
const WORK_MS = 150

/** The most calls that were at the server at once, of two that the model made in one step. */
async function overlap(name: string, trustAnnotations: boolean): Promise<number> {
  let inFlight = 0
  let most = 0
  const behaviour: Behaviour = {
    tools: [
      tool('read', { annotations: { readOnlyHint: true } }),
      tool('put', { annotations: { readOnlyHint: false, idempotentHint: true } }),
      tool('plain'),
    ],
    async callTool() {
      inFlight += 1
      most = Math.max(most, inFlight)
      await delay(WORK_MS)
      inFlight -= 1
      return text('done')
    },
  }
  const server = await startHttpServer(behaviour)
  suite.after(() => server.close())
  const host = await suite.boot({ rows: [httpRow('kit', server.url, { trustAnnotations })] })
  const call = { name: `mcp__kit__${name}`, args: {} }
  const turn = await runTurn(host, { script: [{ calls: [call, call] }] })
  expect(turn.transcript.match(/^tool: done$/gm)).toHaveLength(2)
  return most
}

describe('two calls of one step', () => {
  it.each([
    ['read', true, 2],
    ['put', true, 1],
    ['plain', true, 1],
    ['read', false, 1],
  ])('of %s, with trustAnnotations %s: %i at once', async (name, isTrusted, most) => {
    expect(await overlap(name, isTrusted)).toBe(most)
  })
})
