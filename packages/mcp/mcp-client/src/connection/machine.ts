/**
 * Owns the life of one server's connection as a pure transition function: which state follows which event, and what
 * the supervisor must do about it. No I/O, no clock of its own; explored exhaustively by a test.
 */
import type { Generation, ReconnectPolicy } from '../types.ts'

/** Why a server is given up. */
export type FailureReason = 'fatal' | 'exhausted' | 'reconnect-disabled' | 'unclosed'

/** What happens once a closing generation confirmed its end. */
export type Next =
  | { readonly to: 'backoff'; readonly delayMs: number }
  | { readonly to: 'connecting' }
  | { readonly to: 'needs-auth' }
  | { readonly to: 'failed'; readonly reason: FailureReason }
  | { readonly to: 'stopped' }

export type State =
  | { readonly name: 'idle' }
  | { readonly name: 'connecting'; readonly generation: Generation }
  | { readonly name: 'syncing'; readonly generation: Generation }
  | { readonly name: 'ready'; readonly generation: Generation; readonly since: number }
  | { readonly name: 'closing'; readonly generation: Generation; readonly next: Next }
  | { readonly name: 'backoff'; readonly delayMs: number }
  | { readonly name: 'needs-auth' }
  /** `unclosed` is a generation whose end was never confirmed: nothing may open before it is. */
  | { readonly name: 'failed'; readonly reason: FailureReason; readonly unclosed?: Generation }
  | { readonly name: 'stopped' }

export type Event =
  | { readonly type: 'start' }
  | { readonly type: 'opened'; readonly generation: Generation }
  | { readonly type: 'synced'; readonly generation: Generation }
  | {
      readonly type: 'broke'
      readonly generation: Generation
      readonly disposition: 'retry' | 'auth' | 'fatal'
    }
  | { readonly type: 'closed'; readonly generation: Generation }
  | { readonly type: 'close-timed-out'; readonly generation: Generation }
  | { readonly type: 'delay-elapsed' }
  | { readonly type: 'authorized' }
  | { readonly type: 'restart' }
  | { readonly type: 'stop' }

export type Effect =
  | { readonly type: 'open'; readonly generation: Generation }
  | { readonly type: 'close'; readonly generation: Generation }
  | { readonly type: 'arm'; readonly delayMs: number }
  | { readonly type: 'disarm' }
  /** Unregister everything this server published. */
  | { readonly type: 'withdraw' }

export interface Machine {
  readonly state: State
  /** Consecutive failed attempts of the current outage. */
  readonly failures: number
  readonly lastGeneration: Generation
  /** The server has worked once: a fatal failure may be a moment's (a binary being replaced), so it is retried. */
  readonly proven: boolean
}

export interface Step {
  readonly machine: Machine
  readonly effects: readonly Effect[]
}

export const INITIAL: Machine = { state: { name: 'idle' }, failures: 0, lastGeneration: 0, proven: false }

/** Delay before attempt number `failures` of an outage, in milliseconds. */
export function backoffDelay(failures: number, policy: ReconnectPolicy): number {
  return Math.min(policy.maxDelayMs, policy.initialDelayMs * 2 ** (failures - 1))
}

/** The one transition function. `now` is in milliseconds, of any monotonic clock. */
export function transition(machine: Machine, event: Event, policy: ReconnectPolicy, now: number): Step {
  const { state } = machine
  switch (event.type) {
    case 'start':
      return state.name === 'idle' ? open(machine) : stay(machine)
    case 'authorized':
      return state.name === 'needs-auth' ? open({ ...machine, failures: 0 }) : stay(machine)
    case 'delay-elapsed':
      return state.name === 'backoff' ? open(machine) : stay(machine)
    case 'opened':
      if (state.name !== 'connecting' || state.generation !== event.generation) return stay(machine)
      return become(machine, { name: 'syncing', generation: event.generation })
    case 'synced':
      if (state.name !== 'syncing' || state.generation !== event.generation) return stay(machine)
      return become({ ...machine, proven: true }, { name: 'ready', generation: event.generation, since: now })
    case 'broke': {
      if (!isLive(state) || state.generation !== event.generation) return stay(machine)
      const { failures, next } = afterFailure(machine, state, event.disposition, policy, now)
      return close({ ...machine, failures }, state.generation, next)
    }
    case 'closed':
      return closed(machine, event.generation)
    case 'close-timed-out':
      if (state.name !== 'closing' || state.generation !== event.generation) return stay(machine)
      if (state.next.to === 'stopped') return enter(machine, state.next)
      return withdraw(machine, { name: 'failed', reason: 'unclosed', unclosed: state.generation })
    case 'restart':
      return restart(machine)
    case 'stop':
      return stop(machine)
  }
}

type LiveState = Extract<State, { name: 'connecting' | 'syncing' | 'ready' }>

function isLive(state: State): state is LiveState {
  return state.name === 'connecting' || state.name === 'syncing' || state.name === 'ready'
}

function afterFailure(
  machine: Machine,
  state: LiveState,
  disposition: 'retry' | 'auth' | 'fatal',
  policy: ReconnectPolicy,
  now: number,
): { failures: number; next: Next } {
  if (disposition === 'auth') return { failures: 0, next: { to: 'needs-auth' } }
  if (disposition === 'fatal' && !machine.proven) {
    return { failures: machine.failures, next: { to: 'failed', reason: 'fatal' } }
  }
  const stable = state.name === 'ready' && now - state.since >= policy.maxDelayMs
  const failures = (stable ? 0 : machine.failures) + 1
  if (!policy.enabled) return { failures, next: { to: 'failed', reason: 'reconnect-disabled' } }
  if (failures > policy.maxAttempts) return { failures, next: { to: 'failed', reason: 'exhausted' } }
  return { failures, next: { to: 'backoff', delayMs: backoffDelay(failures, policy) } }
}

function closed(machine: Machine, generation: Generation): Step {
  const { state } = machine
  if (state.name === 'failed' && state.unclosed === generation) {
    return become(machine, { name: 'failed', reason: state.reason })
  }
  if (state.name === 'closing' && state.generation === generation) return enter(machine, state.next)
  return stay(machine)
}

function enter(machine: Machine, next: Next): Step {
  switch (next.to) {
    case 'connecting':
      return open(machine)
    case 'backoff':
      return become(machine, { name: 'backoff', delayMs: next.delayMs }, [
        { type: 'arm', delayMs: next.delayMs },
      ])
    case 'failed':
      // With reconnect off the contract keeps the registered tools: calls fail until a reload.
      if (next.reason === 'reconnect-disabled')
        return become(machine, { name: 'failed', reason: next.reason })
      return withdraw(machine, { name: 'failed', reason: next.reason })
    case 'needs-auth':
    case 'stopped':
      return withdraw(machine, { name: next.to })
  }
}

function stop(machine: Machine): Step {
  const { state } = machine
  const next: Next = { to: 'stopped' }
  switch (state.name) {
    case 'stopped':
      return stay(machine)
    case 'closing':
      return become(machine, { ...state, next })
    case 'connecting':
    case 'syncing':
    case 'ready':
      return close(machine, state.generation, next)
    case 'backoff':
      return disarmed(enter(machine, next))
    case 'idle':
    case 'needs-auth':
    case 'failed':
      return enter(machine, next)
  }
}

function restart(machine: Machine): Step {
  const fresh: Machine = { ...machine, failures: 0 }
  const { state } = machine
  switch (state.name) {
    case 'stopped':
      return stay(machine)
    case 'closing':
      return state.next.to === 'stopped'
        ? stay(machine)
        : become(fresh, { ...state, next: { to: 'connecting' } })
    case 'connecting':
    case 'syncing':
    case 'ready':
      return close(fresh, state.generation, { to: 'connecting' })
    case 'backoff':
      return disarmed(open(fresh))
    case 'failed':
      return state.unclosed === undefined ? open(fresh) : stay(machine)
    case 'idle':
    case 'needs-auth':
      return open(fresh)
  }
}

function open(machine: Machine): Step {
  const generation = machine.lastGeneration + 1
  return become({ ...machine, lastGeneration: generation }, { name: 'connecting', generation }, [
    { type: 'open', generation },
  ])
}

function close(machine: Machine, generation: Generation, next: Next): Step {
  return become(machine, { name: 'closing', generation, next }, [{ type: 'close', generation }])
}

function withdraw(machine: Machine, state: State): Step {
  return become(machine, state, [{ type: 'withdraw' }])
}

function disarmed(step: Step): Step {
  return { ...step, effects: [{ type: 'disarm' }, ...step.effects] }
}

function become(machine: Machine, state: State, effects: readonly Effect[] = []): Step {
  return { machine: { ...machine, state }, effects }
}

function stay(machine: Machine): Step {
  return { machine, effects: [] }
}
