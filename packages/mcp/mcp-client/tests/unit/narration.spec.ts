/** Owns the tests of the operator's lines that supervisor.spec.ts does not reach: what is said, and what is not. */
import { describe, expect, it } from 'vitest'
import { INITIAL } from '../../src/connection/machine.ts'
import type { Machine, Next, State } from '../../src/connection/machine.ts'
import { narrate, reasonOf } from '../../src/connection/narration.ts'
import { McpError } from '../../src/errors.ts'

const POLICY = { enabled: true, initialDelayMs: 500, maxDelayMs: 30_000, maxAttempts: 10 }
const machine = (state: State, failures = 0): Machine => ({ ...INITIAL, state, failures })
const ready = machine({ name: 'ready', generation: 1, since: 0 })
const closing = (next: Next): Machine => machine({ name: 'closing', generation: 1, next }, 1)

describe('narrate', () => {
  it.each<State>([
    { name: 'idle' },
    { name: 'connecting', generation: 2 },
    { name: 'syncing', generation: 2 },
    { name: 'ready', generation: 2, since: 0 },
    { name: 'backoff', delayMs: 500 },
    { name: 'needs-auth' },
    { name: 'failed', reason: 'exhausted' },
    { name: 'failed', reason: 'unclosed' },
    { name: 'stopped' },
  ])('says nothing where the cause was said or nobody asked: $name', (state) => {
    expect(narrate(ready, machine(state), POLICY, 'it died')).toBeUndefined()
  })

  it('says nothing without a change of state or a failure', () => {
    expect(narrate(ready, { ...ready, failures: 3 }, POLICY, 'it died')).toBeUndefined()
    expect(narrate(ready, closing({ to: 'connecting' }), POLICY, undefined)).toBeUndefined()
    expect(narrate(ready, closing({ to: 'connecting' }), POLICY, 'it died')).toBeUndefined()
    expect(narrate(ready, closing({ to: 'stopped' }), POLICY, 'it died')).toBeUndefined()
  })

  it('counts the attempts of the outage that is over', () => {
    const line = narrate(ready, machine({ name: 'ready', generation: 4, since: 0 }, 3), POLICY, undefined)
    expect(line).toEqual({ level: 'info', text: 'reconnected and re-synced tools (attempt 3/10)' })
  })

  it('takes what cannot be retried for an end', () => {
    const line = narrate(ready, closing({ to: 'failed', reason: 'unclosed' }), POLICY, 'it died')
    expect(line?.level).toBe('error')
    expect(line?.text).toMatch(/^connection failed for good.*: it died$/)
  })
})

describe('reasonOf', () => {
  const lastError = new McpError('it died', {
    code: 'MCP_CONNECTION_CLOSED',
    server: 'demo',
    stage: 'connect',
  })

  it.each<[State, RegExp]>([
    [{ name: 'failed', reason: 'exhausted' }, /^it was given up until a reload \(it died\)$/],
    [{ name: 'needs-auth' }, /^it asks for authorization \(it died\)$/],
    [{ name: 'stopped' }, /^it was stopped$/],
    [
      { name: 'closing', generation: 1, next: { to: 'stopped' } },
      /^the connection is being closed \(it died\)$/,
    ],
    [{ name: 'idle' }, /^it is still connecting \(it died\)$/],
    [{ name: 'connecting', generation: 1 }, /^it is still connecting/],
    [{ name: 'backoff', delayMs: 60_000 }, /^the next attempt is in (5\d{4}|60000) ms \(it died\)$/],
  ])('%j', (state, words) => {
    expect(reasonOf({ state, lastError }, Date.now())).toMatch(words)
  })

  it('never counts below nothing, and needs no error', () => {
    expect(reasonOf({ state: { name: 'backoff', delayMs: 5 } }, 0)).toBe('the next attempt is in 0 ms')
  })
})
