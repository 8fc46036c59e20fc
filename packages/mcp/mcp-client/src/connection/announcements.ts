/**
 * Owns what a server announces by itself on one connection: changes of its lists and of watched resources, and its log
 * messages. A legacy server sends them unasked, a modern one on a stream that is listened to.
 */
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import { isMcpError, messageOf } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { safeLine } from '../text.ts'
import type { JsonObject, ServerSpec, SessionEvents, SessionFacts } from '../types.ts'
import { readLogMessage } from './server-log.ts'
import { openSubscription } from './subscription.ts'
import type { Subscription } from './subscription.ts'

/** Where a request of a modern session says which log messages it wants. */
const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel'
const MAX_URI_CHARS = 4_096
/** How long a server may take to agree to tell of a resource, in milliseconds. */
export const WATCH_MS = 5_000
const MAX_NOTE_CHARS = 300

export interface AnnouncementOptions {
  readonly client: Client
  readonly facts: SessionFacts
  readonly spec: Pick<ServerSpec, 'logLevel' | 'prompts' | 'redact'>
  readonly events: SessionEvents
  readonly clock: Clock
  /** One request of a legacy session. */
  request(method: string, params: JsonObject): Promise<unknown>
}

export interface Announcements {
  /** Whether a change of the tool list would be heard of. */
  hearsChanges(): boolean
  /** See Session.watchResources. */
  watch(uris: readonly string[]): Promise<boolean>
  /** What each request of a modern session carries, so that log messages come at all. */
  readonly meta: JsonObject | undefined
  /**
   * Changes may have been missed.
   * @param isNewSession the server does not know any more what it was told
   */
  resync(isNewSession: boolean): void
  close(): Promise<void>
}

/** Follow the announcements of an established session until closed. */
export function openAnnouncements(options: AnnouncementOptions): Announcements {
  const { client, facts, spec, events } = options
  const isModern = facts.era === 'modern'
  const has = (capability: string, member?: string): boolean => {
    const found = facts.capabilities[capability]
    return member === undefined ? found !== undefined : isJsonObject(found) && found[member] === true
  }
  const lists = {
    tools: has('tools', 'listChanged'),
    prompts: spec.prompts && has('prompts', 'listChanged'),
  }
  const wantsLog = spec.logLevel !== 'off' && has('logging')
  const canWatch = has('resources', 'subscribe')
  let watched = new Set<string>()
  let subscription: Subscription | undefined

  client.setNotificationHandler('notifications/tools/list_changed', () => events.onToolsChanged())
  client.setNotificationHandler('notifications/prompts/list_changed', () => events.onPromptsChanged?.())
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    if (params.uri.length <= MAX_URI_CHARS) events.onResourceUpdated?.(params.uri)
  })
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const line = readLogMessage(params, spec)
    if (line !== undefined) events.onLog?.(line.level, line.text)
  })
  if (isModern && (lists.tools || lists.prompts || canWatch))
    subscription = openSubscription(client, events, options.clock, lists)
  if (!isModern) tellLogLevel()

  function tellLogLevel(): void {
    if (wantsLog) void askLegacy('logging/setLevel', { level: spec.logLevel })
  }

  /** A failure costs what was asked for, and nothing else. */
  async function askLegacy(method: string, params: JsonObject): Promise<boolean> {
    try {
      await options.request(method, params)
      return true
    } catch (error) {
      /* v8 ignore next -- the session translates what its requests reject with */
      const words = isMcpError(error) ? error.message : messageOf(error)
      events.onNote('debug', `${method} failed: ${safeLine(words, spec.redact, MAX_NOTE_CHARS)}`)
      return false
    }
  }

  async function watchLegacy(uris: readonly string[]): Promise<boolean> {
    const before = watched
    watched = new Set(uris)
    const left = [...before].filter((uri) => !watched.has(uri))
    const added = [...watched].filter((uri) => !before.has(uri))
    const outcomes = await Promise.all([
      ...left.map((uri) => askLegacy('resources/unsubscribe', { uri }).then(() => true)),
      ...added.map((uri) => askLegacy('resources/subscribe', { uri })),
    ])
    return outcomes.every(Boolean)
  }

  /** The agent's own read waits behind it: a server that does not answer has not agreed. */
  function inTime(asked: Promise<boolean>): Promise<boolean> {
    const late = Promise.withResolvers<boolean>()
    const cancel = options.clock.after(WATCH_MS, () => late.resolve(false))
    return Promise.race([asked, late.promise]).finally(cancel)
  }

  return {
    hearsChanges: () => lists.tools && (!isModern || subscription?.isOff() === false),
    async watch(uris) {
      if (!canWatch) return uris.length === 0
      return inTime(subscription === undefined ? watchLegacy(uris) : subscription.watch(uris))
    },
    meta: isModern && wantsLog ? { [LOG_LEVEL_META_KEY]: spec.logLevel } : undefined,
    resync(isNewSession) {
      events.onToolsChanged()
      if (lists.prompts) events.onPromptsChanged?.()
      for (const uri of watched) {
        if (isNewSession) void askLegacy('resources/subscribe', { uri })
        events.onResourceUpdated?.(uri)
      }
      if (isNewSession) tellLogLevel()
    },
    async close() {
      await subscription?.close()
    },
  }
}
