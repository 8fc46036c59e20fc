/**
 * Owns the words the operator reads when a connection changes state. Pure. The wording of reconnecting, giving up
 * and disabled losses is the contract's: people have alerts on it.
 */
import type { McpError } from '../errors.ts'
import type { ReconnectPolicy } from '../types.ts'
import type { FailureReason, Machine, Next, State } from './machine.ts'

export interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly text: string
}

/** Bound of one close, in milliseconds. */
export const CLOSE_TIMEOUT_MS = 5_000

/**
 * The line for one transition, if it is worth one.
 * @param before machine before the event
 * @param after machine after it
 * @param failure message of the error that caused it; already redacted
 */
export function narrate(
  before: Machine,
  after: Machine,
  policy: ReconnectPolicy,
  failure: string | undefined,
): Line | undefined {
  const { state } = after
  if (state === before.state) return undefined
  switch (state.name) {
    case 'closing':
      if (failure === undefined) return undefined
      return broken(state.next, {
        lost: before.state.name === 'ready',
        proven: before.proven,
        failures: after.failures,
        policy,
        failure,
      })
    case 'ready':
      return after.failures === 0
        ? undefined
        : {
            level: 'info',
            text: `reconnected and re-synced tools (attempt ${after.failures}/${policy.maxAttempts})`,
          }
    case 'failed':
      // Said when the close timed out; the late confirmation is no news for people.
      if (state.unclosed === undefined) return undefined
      return {
        level: 'error',
        text:
          `failed generation did not close within ${CLOSE_TIMEOUT_MS}ms — reconnect stopped to avoid overlapping ` +
          'server processes; reload the plugin or restart the Host to retry',
      }
    case 'idle':
    case 'connecting':
    case 'syncing':
    case 'backoff':
    case 'needs-auth':
    case 'stopped':
      return undefined
  }
}

interface Outage {
  /** The connection had been ready. */
  readonly lost: boolean
  /** It has been ready at some time: what it registered then may be there still. */
  readonly proven: boolean
  readonly failures: number
  readonly policy: ReconnectPolicy
  readonly failure: string
}

function broken(next: Next, outage: Outage): Line | undefined {
  const { lost, failures, policy, failure } = outage
  switch (next.to) {
    case 'backoff': {
      const action = lost ? 'connection lost; reconnecting' : 'connection failed; retrying'
      return {
        level: 'warn',
        text: `${action} in ${next.delayMs}ms (attempt ${failures}/${policy.maxAttempts}): ${failure}`,
      }
    }
    case 'needs-auth':
      return {
        level: 'error',
        text: `the server asks for authorization; its tools are withdrawn: ${failure}`,
      }
    case 'failed':
      return { level: 'error', text: failedText(next.reason, outage) }
    case 'connecting':
    case 'stopped':
      return undefined
  }
}

function failedText(reason: FailureReason, { lost, proven, policy, failure }: Outage): string {
  switch (reason) {
    case 'exhausted':
      return (
        `giving up after ${policy.maxAttempts} consecutive failed reconnect attempts — tools unregistered; reload ` +
        `the plugin or restart the Host to reconnect: ${failure}`
      )
    case 'reconnect-disabled':
      return proven
        ? `connection ${lost ? 'lost' : 'failed'} and reconnect is disabled — registered tools will fail until an HMR ` +
            `reload or Host restart: ${failure}`
        : 'connection failed and reconnect is disabled — no tools were registered; reload the plugin or restart ' +
            `the Host to connect: ${failure}`
    case 'fatal':
    case 'unclosed':
      return `connection failed for good, retrying cannot help — no tools from this server: ${failure}`
  }
}

/**
 * Why there is no session, as the end of a sentence.
 * @param since when the state was entered, in milliseconds since the epoch
 */
export function reasonOf(
  { state, lastError }: { readonly state: State; readonly lastError?: McpError },
  since: number,
): string {
  const why = lastError === undefined ? '' : ` (${lastError.message})`
  switch (state.name) {
    case 'backoff':
      return `the next attempt is in ${Math.max(0, since + state.delayMs - Date.now())} ms${why}`
    case 'failed':
      return `it was given up until a reload${why}`
    case 'needs-auth':
      return `it asks for authorization${why}`
    case 'stopped':
      return 'it was stopped'
    case 'closing':
      return `the connection is being closed${why}`
    case 'idle':
    case 'connecting':
    case 'syncing':
    case 'ready':
      return `it is still connecting${why}`
  }
}
