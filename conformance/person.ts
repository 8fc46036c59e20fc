/**
 * Owns the person and the agent of the conformance scenarios: questions are answered by the plugin's own code, as a host
 * would have it, by somebody who agrees to everything and enters nothing.
 */
import type { Agent, Caller, Inbound, ServerSpec } from '../packages/mcp/mcp-client/src/types.ts'
import { createInbound } from '../packages/mcp/mcp-client/src/inbound/inbound.ts'

/** Chosen where there is a choice; anything else is skipped. */
const YES: ReadonlySet<string> = new Set(['Answer', 'I have done it'])

/** Who answers what a server asks. */
export function createPerson(spec: ServerSpec, say: (text: string) => void): Inbound {
  return createInbound({
    spec,
    say: (level, text) => say(`${level}: ${text}`),
    host: {
      questions: () => ({
        ask: ({ questions }) =>
          Promise.resolve({
            answers: questions.map(({ id, options = [] }) => ({
              id,
              selected: options.flatMap(({ label }) => (YES.has(label) ? [label] : [])),
            })),
          }),
      }),
      approval: () => undefined,
      llm: () => undefined,
      hasAgents: () => true,
      cwd: () => process.cwd(),
    },
  })
}

/** On whose behalf the calls are made. */
export const CALLER: Caller = {
  agent: { session: { header: { cwd: process.cwd() } } } as Agent,
  hold: () => () => undefined,
}
