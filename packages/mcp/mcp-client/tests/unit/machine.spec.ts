/** Owns the tests of the connection machine: all of it by search, and the decisions people rely on by example. */
import { describe, expect, it } from 'vitest'
import { INITIAL, backoffDelay, transition } from '../../src/connection/machine.ts'
import type { Effect, Event, Machine, State, Step } from '../../src/connection/machine.ts'
import type { ReconnectPolicy } from '../../src/types.ts'
import { searchMachine } from './machine-search.ts'

const POLICY: ReconnectPolicy = { enabled: true, initialDelayMs: 1, maxDelayMs: 4, maxAttempts: 3 }
const STATES: readonly State['name'][] = [
  'backoff',
  'closing',
  'connecting',
  'failed',
  'idle',
  'needs-auth',
  'ready',
  'stopped',
  'syncing',
]
const EVENTS: readonly Event['type'][] = [
  'authorized',
  'broke',
  'close-timed-out',
  'closed',
  'delay-elapsed',
  'opened',
  'restart',
  'start',
  'stop',
  'synced',
]

function pairsOf(states: readonly string[]): string[] {
  return states.flatMap((state) => EVENTS.map((event) => `${state}/${event}`)).toSorted()
}

describe('everything the machine can do', () => {
  it('keeps all invariants with reconnect on, in every state and at every event', () => {
    const found = searchMachine(transition, POLICY)
    expect(found).toMatchObject({ violations: {}, complete: true })
    expect(found.violations).toEqual({})
    expect([...found.states].toSorted()).toEqual(STATES)
    expect([...found.pairs].toSorted()).toEqual(pairsOf(STATES))
    expect(found.worlds).toBeGreaterThan(50)
  })

  it('keeps them with reconnect off, where it never waits for a next attempt', () => {
    const found = searchMachine(transition, { ...POLICY, enabled: false })
    const states = STATES.filter((name) => name !== 'backoff')
    expect(found).toMatchObject({ violations: {}, complete: true })
    expect(found.violations).toEqual({})
    expect([...found.states].toSorted()).toEqual(states)
    expect([...found.pairs].toSorted()).toEqual(pairsOf(states))
  })

  it('keeps them with a budget of nothing and with one delay', () => {
    expect(searchMachine(transition, { ...POLICY, maxAttempts: 0 }).violations).toEqual({})
    expect(searchMachine(transition, { ...POLICY, initialDelayMs: 4 }).violations).toEqual({})
  })
})

/** The machine with one fault put in: what the search must not let pass. */
function mutant(change: (step: Step, event: Event, before: Machine) => Step): typeof transition {
  return (machine, event, policy, now) => change(transition(machine, event, policy, now), event, machine)
}

const without = (step: Step, type: Effect['type']): Step => ({
  ...step,
  effects: step.effects.filter((effect) => effect.type !== type),
})

describe('the search itself finds', () => {
  it.each<[string, string, typeof transition]>([
    [
      'a successor opened before the close is confirmed',
      'two live generations',
      mutant((step, event, before) =>
        event.type === 'close-timed-out' && before.state.name === 'closing'
          ? transition({ ...before, state: { name: 'idle' } }, { type: 'start' }, POLICY, 0)
          : step,
      ),
    ],
    [
      'a restart out of failed(unclosed)',
      'two live generations',
      mutant((step, event, before) =>
        event.type === 'restart' && before.state.name === 'failed'
          ? transition({ ...before, state: { name: 'idle' } }, { type: 'start' }, POLICY, 0)
          : step,
      ),
    ],
    [
      'a forgotten withdraw',
      'tools are left in a state without tools',
      mutant((step) => without(step, 'withdraw')),
    ],
    ['a forgotten disarm', 'a timer is armed exactly in backoff', mutant((step) => without(step, 'disarm'))],
    ['a forgotten close', 'closing is asked for', mutant((step) => without(step, 'close'))],
    [
      'a stale generation that counts',
      'a stale generation is inert',
      mutant((step, event, before) =>
        event.type === 'broke' && before.state.name === 'ready'
          ? transition(before, { ...event, generation: before.state.generation }, POLICY, 0)
          : step,
      ),
    ],
    [
      'a stop that waits for ever',
      'stop does not reach stopped',
      mutant((step, event, before) =>
        event.type === 'stop' && before.state.name === 'needs-auth' ? { machine: before, effects: [] } : step,
      ),
    ],
    [
      'a restart after stop',
      'stopped is absorbing',
      mutant((step, event, before) =>
        event.type === 'restart' && before.state.name === 'stopped'
          ? transition({ ...before, state: { name: 'idle' } }, { type: 'start' }, POLICY, 0)
          : step,
      ),
    ],
    [
      'a withdraw on every retry',
      'tools are withdrawn where they stay by contract',
      mutant((step) =>
        step.machine.state.name === 'backoff'
          ? { ...step, effects: [...step.effects, { type: 'withdraw' }] }
          : step,
      ),
    ],
    [
      'a budget that is never used up',
      'failures stay within the budget',
      (machine, event, policy, now) => transition(machine, event, { ...policy, maxAttempts: 9 }, now),
    ],
  ])('%s', (_what, fault, step) => {
    const { violations } = searchMachine(step, POLICY)
    expect(violations).toHaveProperty([fault])
  })
})

/** Run events through the machine; `ready` is what a connection that works looks like. */
function run(events: readonly Event[], from: Machine = INITIAL, policy = POLICY, now = 0): Step {
  let step: Step = { machine: from, effects: [] }
  for (const event of events) step = transition(step.machine, event, policy, now)
  return step
}

const ready = (generation: number): Event[] => [
  { type: 'opened', generation },
  { type: 'synced', generation },
]
const fail = (generation: number, disposition: 'retry' | 'auth' | 'fatal' = 'retry'): Event[] => [
  { type: 'broke', generation, disposition },
  { type: 'closed', generation },
]

describe('the decisions people rely on', () => {
  it('doubles the delay up to the ceiling', () => {
    const policy = { enabled: true, initialDelayMs: 500, maxDelayMs: 30_000, maxAttempts: 10 }
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((failures) => backoffDelay(failures, policy))
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000])
    expect(backoffDelay(2_000, policy)).toBe(30_000)
  })

  it('gives up after the first failure and maxAttempts further ones', () => {
    let machine = run([{ type: 'start' }]).machine
    for (let failures = 1; failures <= 3; failures++) {
      machine = run(fail(failures), machine).machine
      expect(machine).toMatchObject({ state: { name: 'backoff', delayMs: 2 ** (failures - 1) }, failures })
      machine = run([{ type: 'delay-elapsed' }], machine).machine
    }
    const last = run(fail(4), machine)
    expect(last.machine.state).toEqual({ name: 'failed', reason: 'exhausted' })
    expect(last.effects).toEqual([{ type: 'withdraw' }])
  })

  it('forgets an outage only after an uptime of maxDelayMs', () => {
    const flapping = run([{ type: 'start' }, ...fail(1), { type: 'delay-elapsed' }, ...ready(2)]).machine
    const soon = transition(flapping, { type: 'broke', generation: 2, disposition: 'retry' }, POLICY, 3)
    expect(soon.machine.failures).toBe(2)
    const late = transition(flapping, { type: 'broke', generation: 2, disposition: 'retry' }, POLICY, 4)
    expect(late.machine.failures).toBe(1)
  })

  it('takes a fatal failure for good only while the server has never worked', () => {
    expect(run([{ type: 'start' }, ...fail(1, 'fatal')]).machine.state).toEqual({
      name: 'failed',
      reason: 'fatal',
    })
    const proven = run([{ type: 'start' }, ...ready(1), ...fail(1, 'fatal')]).machine
    expect(proven.state).toEqual({ name: 'backoff', delayMs: 1 })
  })

  it('waits for authorization without a budget', () => {
    const { machine, effects } = run([
      { type: 'start' },
      ...ready(1),
      ...fail(1),
      { type: 'delay-elapsed' },
      ...fail(2, 'auth'),
    ])
    expect(machine).toMatchObject({ state: { name: 'needs-auth' }, failures: 0 })
    expect(effects).toEqual([{ type: 'withdraw' }])
    expect(run([{ type: 'authorized' }], machine).effects).toEqual([{ type: 'open', generation: 3 }])
  })

  it('keeps the tools where reconnect is off', () => {
    const policy = { ...POLICY, enabled: false }
    const { machine, effects } = run([{ type: 'start' }, ...ready(1), ...fail(1)], INITIAL, policy)
    expect(machine.state).toEqual({ name: 'failed', reason: 'reconnect-disabled' })
    expect(effects).toEqual([])
  })

  it('opens nothing beside a generation that never closed, and heals when it does', () => {
    const stuck = run([
      { type: 'start' },
      { type: 'broke', generation: 1, disposition: 'retry' },
      { type: 'close-timed-out', generation: 1 },
    ]).machine
    expect(stuck.state).toEqual({ name: 'failed', reason: 'unclosed', unclosed: 1 })
    expect(run([{ type: 'restart' }], stuck).effects).toEqual([])
    const healed = run([{ type: 'closed', generation: 1 }], stuck).machine
    expect(healed.state).toEqual({ name: 'failed', reason: 'unclosed' })
    expect(run([{ type: 'restart' }], healed).effects).toEqual([{ type: 'open', generation: 2 }])
  })

  it('lets a restart overtake a planned wait, and a stop overtake a restart', () => {
    const closing = run([{ type: 'start' }, { type: 'broke', generation: 1, disposition: 'retry' }]).machine
    const restarted = run([{ type: 'restart' }], closing).machine
    expect(restarted).toMatchObject({ state: { name: 'closing', next: { to: 'connecting' } }, failures: 0 })
    const stopped = run([{ type: 'stop' }, { type: 'restart' }], restarted).machine
    expect(stopped.state).toMatchObject({ name: 'closing', next: { to: 'stopped' } })
  })

  it('starts a fresh budget on restart', () => {
    const waiting = run([{ type: 'start' }, ...fail(1), { type: 'delay-elapsed' }, ...fail(2)]).machine
    const { machine, effects } = run([{ type: 'restart' }], waiting)
    expect(machine).toMatchObject({ state: { name: 'connecting', generation: 3 }, failures: 0 })
    expect(effects).toEqual([{ type: 'disarm' }, { type: 'open', generation: 3 }])
  })
})
