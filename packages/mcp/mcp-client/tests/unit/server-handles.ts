/** Owns made-up servers in a hub, whose state a test sets. */
import { createHub } from '../../src/hub.ts'
import type { Hub } from '../../src/hub.ts'
import type { PinChange, ServerHandle, ServerStatus } from '../../src/types.ts'

export interface MadeServer {
  readonly handle: ServerHandle
  /** What `status()` says from now on; the hub is told. */
  become(status: ServerStatus): void
  leave(): void
}

export interface MadeHub {
  readonly hub: Hub
  /** Enrol a server; `restart` is what it does when it is asked to. */
  add(status: ServerStatus, more?: Partial<ServerHandle>): MadeServer
}

export function madeHub(): MadeHub {
  const hub = createHub()
  return {
    hub,
    add(first, more = {}) {
      let status = first
      const handle = {
        serverName: first.serverName,
        scope: undefined,
        status: () => status,
        state: () => status.state,
        restart: () => undefined,
        offered: () => [],
        pins: (): readonly PinChange[] => [],
        approve: async () => [],
        ...more,
      } as unknown as ServerHandle
      const leave = hub.enrol(handle)
      return {
        handle,
        leave,
        become(next) {
          status = next
          hub.changed(handle, 'state')
        },
      }
    },
  }
}
