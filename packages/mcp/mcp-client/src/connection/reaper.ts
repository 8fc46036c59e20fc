/**
 * Owns the promise that no server outlives the host: all live process groups of this process, killed when it exits and
 * on the signals that end it. Its listeners are there while a group lives, one for each event, however many servers.
 *
 * A host that is killed by SIGKILL or crashes runs no code: then a server sees the end of its stdin, and a good one exits.
 */
import { processGroups } from './process-group.ts'

export interface Reaper {
  /** Kill the group when the host ends. The returned function takes it off again. */
  watch(leader: number): () => void
}

/** What is used of `process`. */
export type ReaperHost = Pick<
  NodeJS.Process,
  'pid' | 'kill' | 'prependListener' | 'off' | 'listeners' | 'listenerCount'
>

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Tells our listeners from others, also those of a second copy of this module (a reload, two versions). */
const MARK: unique symbol = Symbol.for('@deepseek-ai/dsh-mcp-client/reaper')

/** Create the registry of one host process. */
export function createReaper(host: ReaperHost, killNow: (leader: number) => void): Reaper {
  const leaders = new Set<number>()
  const onExit = Object.assign(() => killAll(), { [MARK]: true })
  const onSignal = Object.assign(
    (signal: NodeJS.Signals) => {
      // Somebody else decides what the signal means; if the host ends of it, `exit` comes.
      const others = host.listeners(signal).filter((listener) => !(MARK in listener))
      if (others.length > passiveListeners(host)) return
      killAll()
      remove()
      // With no listener left the default has its way, as it would have had without us.
      if (host.listenerCount(signal) === 0) host.kill(host.pid, signal)
    },
    { [MARK]: true },
  )

  function killAll(): void {
    for (const leader of leaders) killNow(leader)
    leaders.clear()
  }

  function install(): void {
    // First in the line: where another listener throws at the exit, Node asks none that stands behind it.
    host.prependListener('exit', onExit)
    // Also first: a `once` listener of somebody else is gone from the list after it ran.
    for (const signal of SIGNALS) host.prependListener(signal, onSignal)
  }

  function remove(): void {
    host.off('exit', onExit)
    for (const signal of SIGNALS) host.off(signal, onSignal)
  }

  return {
    watch(leader) {
      if (leaders.size === 0) install()
      leaders.add(leader)
      return () => {
        if (leaders.delete(leader) && leaders.size === 0) remove()
      }
    },
  }
}

/**
 * Listeners of the package signal-exit: they also raise the signal again when they find nobody else, so each would wait
 * for the other and the host would ignore the signal. It publishes their number in these two places.
 */
function passiveListeners(host: object): number {
  const counts = [
    Reflect.get(host, '__signal_exit_emitter__') as unknown,
    Reflect.get(globalThis, Symbol.for('signal-exit emitter')) as unknown,
  ].map((emitter) => (emitter as { count?: unknown } | undefined)?.count)
  return counts.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0)
}

/** The reaper of this process. */
export const REAPER = createReaper(process, processGroups().killNow)
