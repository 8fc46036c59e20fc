/**
 * Owns the list of live servers of one app, for what looks at all of them: status, search, commands. A row enrols its
 * server and leaves with it; nobody else holds one.
 */
import type { CallObserver, CallSettled, ServerHandle } from './types.ts'

/** What became of one server: it came or went, its state changed, or its catalog did. */
export type HubChange = 'enrolled' | 'left' | 'state' | 'catalog'

export interface Hub {
  /** Servers by name. */
  servers(): readonly ServerHandle[]
  get(serverName: string): ServerHandle | undefined
  /** @returns takes the server off the list; may be called more than once */
  enrol(server: ServerHandle): () => void
  /** A server tells that its state or its catalog changed. */
  changed(server: ServerHandle, change: 'state' | 'catalog'): void
  /** Listen to changes, in the order they happen. A listener must not throw. */
  watch(listener: (server: ServerHandle, change: HubChange) => void): () => void
  /** A server tells that one of its calls ended. */
  settled(call: CallSettled): void
  /** Listen to ends of calls. A listener must not throw. */
  watchCalls(listener: (call: CallSettled) => void): () => void
  /** The observer of calls; `undefined` where nobody watches. */
  observer(): CallObserver | undefined
  /** @returns takes the observer away, if it is still this one */
  observe(observer: CallObserver): () => void
}

/** Per app root, since several apps may live in one process. */
const hubs = new WeakMap<object, Hub>()

/** The hub of an app. */
export function hubOf(root: object): Hub {
  const hub = hubs.get(root) ?? createHub()
  hubs.set(root, hub)
  return hub
}

export function createHub(): Hub {
  const servers = new Map<string, ServerHandle>()
  const listeners = new Set<(server: ServerHandle, change: HubChange) => void>()
  const callListeners = new Set<(call: CallSettled) => void>()
  let watching: CallObserver | undefined
  const tell = (server: ServerHandle, change: HubChange): void => {
    for (const listener of listeners) listener(server, change)
  }
  return {
    servers: () => [...servers.values()].toSorted((a, b) => (a.serverName < b.serverName ? -1 : 1)),
    get: (serverName) => servers.get(serverName),
    enrol(server) {
      servers.set(server.serverName, server)
      tell(server, 'enrolled')
      return () => {
        if (servers.get(server.serverName) !== server) return
        servers.delete(server.serverName)
        tell(server, 'left')
      }
    },
    changed(server, change) {
      if (servers.get(server.serverName) === server) tell(server, change)
    },
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    settled(call) {
      for (const listener of callListeners) listener(call)
    },
    watchCalls(listener) {
      callListeners.add(listener)
      return () => void callListeners.delete(listener)
    },
    observer: () => watching,
    observe(observer) {
      watching = observer
      return () => {
        if (watching === observer) watching = undefined
      }
    },
  }
}
