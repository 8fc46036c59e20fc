/**
 * Owns whether one tool is in the host's registry: for good, for as long as somebody needs it, or not at all. A tool that
 * goes takes a loan with it: what was lent is never left behind.
 */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'

/** Registers one definition; the returned function unregisters it. Throws when the name is taken. */
export type Register = (definition: ToolDefinition) => () => void

type State =
  | { readonly kind: 'out' }
  | { readonly kind: 'direct'; readonly unregister: () => void }
  | { readonly kind: 'lent'; readonly unregister: () => void; holders: number }

export interface Slot {
  isDirect(): boolean
  /** Register for good. Throws what the registry throws; the tool is out then. */
  enter(): void
  /** Unregister, also while it is lent. */
  leave(): void
  /**
   * Register until the returned function is called; all holders share one registration. Nothing happens where the tool
   * is registered for good. Throws what the registry throws.
   */
  lend(): () => void
}

const OUT: State = { kind: 'out' }

export function createSlot(definition: ToolDefinition, register: Register): Slot {
  let state: State = OUT

  function leave(): void {
    const { kind } = state
    if (kind !== 'out') {
      const { unregister } = state
      state = OUT
      unregister()
    }
  }

  return {
    isDirect: () => state.kind === 'direct',
    enter() {
      leave()
      state = { kind: 'direct', unregister: register(definition) }
    },
    leave,
    lend() {
      if (state.kind === 'direct') return () => undefined
      if (state.kind === 'out') {
        state = { kind: 'lent', unregister: withoutStacks(() => register(definition)), holders: 0 }
      }
      const loan = state
      loan.holders += 1
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        loan.holders -= 1
        if (loan.holders === 0 && state === loan) leave()
      }
    },
  }
}

/**
 * The host captures three stacks for each registration, which nobody reads: without them 10 000 tools take a third of
 * the time on the event loop.
 */
export function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
