/**
 * Owns the change subscription of a modern session: one subscriptions/listen stream, opened again with capped backoff
 * when it ends, followed by a re-list since changes may have been missed. The SDK never opens it again by itself
 * (typescript-sdk#2098).
 */
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import type { SessionEvents } from '../types.ts'

const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000
/** A stream that lived this long ends a run of failures. */
const STABLE_MS = 30_000
/** A server that refuses this often in a row is not asked again: it works, only without change notifications. */
const MAX_REFUSALS = 3
const ACK_TIMEOUT_MS = 10_000

export interface Subscription {
  /** The server refused the stream for good: no change is heard of any more. */
  isOff(): boolean
  /** Ends the stream and its timer; never rejects. */
  close(): Promise<void>
}

/** Keep listening for tool list changes until closed. */
export function openSubscription(client: Client, events: SessionEvents, clock: Clock): Subscription {
  const ended = new AbortController()
  let isOff = false

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const finish = (): void => {
        cancel()
        ended.signal.removeEventListener('abort', finish)
        resolve()
      }
      const cancel = clock.after(ms, finish)
      ended.signal.addEventListener('abort', finish)
    })

  async function listen(): Promise<void> {
    let failures = 0
    let refusals = 0
    for (let round = 0; !ended.signal.aborted; round++) {
      const openedAt = clock.now()
      try {
        const stream = await client.listen(
          { toolsListChanged: true },
          { signal: ended.signal, timeout: ACK_TIMEOUT_MS },
        )
        refusals = 0
        if (round > 0) events.onToolsChanged()
        await stream.closed
      } catch (error) {
        refusals += 1
        if (!ended.signal.aborted && refusals >= MAX_REFUSALS) {
          isOff = true
          // By code: the server's text is neither redacted nor clean.
          const { code } = error as { code?: unknown }
          events.onNote('warn', `change notifications are off: the server refuses them (${String(code)})`)
          return
        }
      }
      if (ended.signal.aborted) return
      failures = clock.now() - openedAt >= STABLE_MS ? 0 : failures + 1
      await wait(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1)))
    }
  }

  const listening = listen()
  return {
    isOff: () => isOff,
    close() {
      ended.abort()
      return listening
    },
  }
}
