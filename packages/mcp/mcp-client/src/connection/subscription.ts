/**
 * Owns the change subscription of a modern session: one subscriptions/listen stream, opened again with capped backoff
 * when it ends, followed by a re-list since changes may have been missed. The SDK never opens it again by itself
 * (typescript-sdk#2098). Other wishes open the next stream before the last one is closed, so that no change falls between.
 */
import type { Client, McpSubscription } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import type { SessionEvents } from '../types.ts'

const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000
/** A stream that lived this long ends a run of failures. */
const STABLE_MS = 30_000
/** A server that refuses this often in a row is not asked again: it works, only without change notifications. */
const MAX_REFUSALS = 3
const ACK_TIMEOUT_MS = 10_000

/** The lists that the server announces changes of. */
export interface Lists {
  readonly tools: boolean
  readonly prompts: boolean
}

export interface Subscription {
  /** The server refused the stream for good: no change is heard of any more. */
  isOff(): boolean
  /**
   * Hear of changes of exactly these resources. Settles with whether the server tells of all of them now; where it does
   * not, it is asked again with the next stream. Never rejects.
   */
  watch(uris: readonly string[]): Promise<boolean>
  /** Ends the stream and its timer; never rejects. */
  close(): Promise<void>
}

/** What is wanted now. A newer wish settles the one before it. */
interface Wish {
  readonly uris: readonly string[]
  readonly superseded: PromiseWithResolvers<'superseded'>
  readonly granted: PromiseWithResolvers<boolean>
}

function wishFor(uris: readonly string[]): Wish {
  return { uris, superseded: Promise.withResolvers(), granted: Promise.withResolvers() }
}

/** Keep listening for changes until closed. */
export function openSubscription(
  client: Client,
  events: SessionEvents,
  clock: Clock,
  lists: Lists = { tools: true, prompts: false },
): Subscription {
  const ended = new AbortController()
  let isOff = false
  /** Between two tries. */
  let isPausing = false
  let wish = wishFor([])
  wish.granted.resolve(true)

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

  /** Whatever was listened to may be another one now. */
  function tellAll(uris: readonly string[]): void {
    if (lists.tools) events.onToolsChanged()
    if (lists.prompts) events.onPromptsChanged?.()
    for (const uri of uris) events.onResourceUpdated?.(uri)
  }

  async function listen(): Promise<void> {
    let failures = 0
    let refusals = 0
    /** Was there a stream that has ended, so that changes may have been missed? */
    let hasGap = false
    let replaced: McpSubscription | undefined
    while (!ended.signal.aborted) {
      const now = wish
      const filter = filterOf(lists, now.uris)
      if (filter === undefined) {
        now.granted.resolve(true)
        await replaced?.close()
        replaced = undefined
        hasGap = false
        await now.superseded.promise
        continue
      }
      const openedAt = clock.now()
      try {
        const stream = await client.listen(filter, { signal: ended.signal, timeout: ACK_TIMEOUT_MS })
        refusals = 0
        const honored = new Set(stream.honoredFilter.resourceSubscriptions ?? [])
        now.granted.resolve(now.uris.every((uri) => honored.has(uri)))
        await replaced?.close()
        replaced = undefined
        if (hasGap) tellAll(now.uris)
        hasGap = true
        const end = await Promise.race([stream.closed, now.superseded.promise])
        if (end === 'superseded' && !ended.signal.aborted) {
          replaced = stream
          hasGap = false
          continue
        }
      } catch (error) {
        refusals += 1
        now.granted.resolve(false)
        await replaced?.close()
        replaced = undefined
        hasGap = true
        if (refusals >= MAX_REFUSALS && now.uris.length > 0) {
          // It may be the resources that it does not take: the lists are worth a try without them.
          events.onNote('info', `changes of resources are not told: the server refuses it (${codeOf(error)})`)
          if (wish === now) wish = wishFor([])
          refusals = 0
        }
        if (!ended.signal.aborted && refusals >= MAX_REFUSALS) {
          isOff = true
          wish.granted.resolve(false)
          events.onNote('warn', `change notifications are off: the server refuses them (${codeOf(error)})`)
          return
        }
      }
      if (ended.signal.aborted) return
      failures = clock.now() - openedAt >= STABLE_MS ? 0 : failures + 1
      isPausing = true
      await wait(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1)))
      isPausing = false
    }
  }

  const listening = listen()
  return {
    isOff: () => isOff,
    watch(uris) {
      if (isOff || ended.signal.aborted) return Promise.resolve(uris.length === 0)
      const last = wish
      wish = wishFor([...uris])
      last.granted.resolve(false)
      last.superseded.resolve('superseded')
      // The next stream will ask for it, but that may be a minute away.
      if (isPausing) wish.granted.resolve(false)
      return wish.granted.promise
    },
    close() {
      ended.abort()
      wish.granted.resolve(false)
      wish.superseded.resolve('superseded')
      return listening
    },
  }
}

/** By code: the server's text is neither redacted nor clean. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code)
}

/** Undefined where nothing is listened to. */
function filterOf({ tools, prompts }: Lists, uris: readonly string[]) {
  if (!tools && !prompts && uris.length === 0) return undefined
  return {
    ...(tools ? { toolsListChanged: true } : {}),
    ...(prompts ? { promptsListChanged: true } : {}),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: [...uris] }),
  }
}
