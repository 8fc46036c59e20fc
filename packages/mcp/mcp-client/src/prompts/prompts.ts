/**
 * Owns the prompts of one server as slash commands: the list over all sessions, and the commands by difference. A list
 * that fails costs news of the prompts and nothing else: the commands stay as they were.
 */
import type { CommandDefinition } from '@deepseek-ai/dsh-commands'
import { walkPages } from '../discovery/pages.ts'
import { createRefresher } from '../discovery/sync.ts'
import type { Refresher } from '../discovery/sync.ts'
import { messageOf } from '../errors.ts'
import type { Seat } from '../seat.ts'
import { safeLine } from '../text.ts'
import type { JsonObject, ServerSpec, Session } from '../types.ts'
import { runPrompt } from './invocation.ts'
import type { InvocationContext } from './invocation.ts'
import { commandNames, hintOf, itemOf, parsePrompt } from './prompt.ts'
import type { Prompt } from './prompt.ts'

/** Prompts of one server that become commands. */
const MAX_PROMPTS = 1_000
/** How long a list may take, in milliseconds. */
export const LIST_LIMIT_MS = 10_000
const MAX_TOLD_CHARS = 300

export interface PromptsOptions extends InvocationContext {
  readonly spec: InvocationContext['spec'] & Pick<ServerSpec, 'prompts'>
  readonly seat: Seat<CommandDefinition>
  readonly say: (line: { readonly level: 'debug' | 'info' | 'warn'; readonly text: string }) => void
  /** A list was taken: what the next start of a sleeping server needs of it. */
  readonly taken?: (items: readonly JsonObject[]) => void
}

/** One prompt as status shows it: clean, capped, without secrets. */
export interface ShownPrompt {
  readonly command: string
  readonly name: string
}

export interface Prompts {
  /** What an earlier run was told of, for a server that sleeps. */
  remembered(items: readonly unknown[]): void
  /** A session takes calls now: its list is read, and those of sessions before it are not any more. */
  opened(session: Session): void
  /** The list may have changed. Many asks become few reads. */
  changed(): void
  /** The commands go, with the tools; they are back with the next session. */
  withdraw(): void
  commands(): readonly ShownPrompt[]
  /** Settles once no read is in flight. */
  close(): Promise<void>
}

interface Held {
  readonly prompt: Prompt
  /** Equal texts mean the same command. */
  readonly text: string
  readonly leave: () => void
}

/** The reading of one session's list. */
interface Reading {
  readonly refresher: Refresher
  end(): Promise<void>
}

export function createPrompts(options: PromptsOptions): Prompts {
  const { spec, clock, seat } = options
  const held = new Map<string, Held>()
  let reading: Reading | undefined
  /** Settles once no read of an ended reading is in flight. */
  let quiet: Promise<unknown> = Promise.resolve()
  /** What was said of the last list: the same of the next one is no news. */
  let told: readonly string[] = []

  function readingOf(session: Session): Reading {
    const ended = new AbortController()
    const refresher = createRefresher(clock, () => read(session, ended.signal))
    return {
      refresher,
      end() {
        ended.abort()
        return refresher.close()
      },
    }
  }

  async function read(session: Session, ended: AbortSignal): Promise<void> {
    const late = new AbortController()
    const cancel = clock.after(LIST_LIMIT_MS, () => late.abort())
    const signal = AbortSignal.any([ended, late.signal])
    const limits = { pages: spec.limits.pages, items: MAX_PROMPTS, chars: spec.limits.messageBytes }
    try {
      const { items, fault, warnings } = await walkPages('prompts', limits, (cursor) =>
        session.request('prompts/list', cursor === undefined ? {} : { cursor }, { signal }),
      )
      if (ended.aborted) return
      if (fault !== undefined) {
        complain(fault)
        return
      }
      take(items, warnings)
      options.taken?.([...held.values()].map(({ prompt }) => itemOf(prompt)))
    } catch (error) {
      // A session that ended says so itself.
      if (ended.aborted || options.session() !== session) return
      complain(late.signal.aborted ? `no answer within ${LIST_LIMIT_MS} ms` : messageOf(error))
    } finally {
      cancel()
    }
  }

  function complain(words: string): void {
    tell([`the list of prompts could not be read: ${words}`])
  }

  function tell(lines: readonly string[]): void {
    const clean = lines.map((line) => safeLine(line, spec.redact, MAX_TOLD_CHARS))
    for (const text of clean) if (!told.includes(text)) options.say({ level: 'warn', text })
    told = clean
  }

  /** Make the commands be exactly these. What did not change is not touched. */
  function take(items: readonly unknown[], warnings: readonly string[]): void {
    const prompts = new Map<string, Prompt>()
    for (const item of items) {
      const prompt = parsePrompt(item, spec.redact)
      if (prompt !== undefined && !prompts.has(prompt.rawName)) prompts.set(prompt.rawName, prompt)
    }
    const names = commandNames(spec.serverName, [...prompts.keys()])
    const wanted = new Map([...prompts].map(([rawName, prompt]) => [String(names.get(rawName)), prompt]))
    const lines = warnings.map((warning) => warning.replace(' (limits.prompts)', ''))
    const odd = items.length - wanted.size
    if (odd > 0) lines.push(`${odd} of ${items.length} prompts are left out: no name of their own`)
    for (const [command, { text, leave }] of held) {
      const next = wanted.get(command)
      if (next !== undefined && JSON.stringify(next) === text) continue
      leave()
      held.delete(command)
    }
    for (const [command, prompt] of wanted) {
      if (!held.has(command)) hold(command, prompt, (line) => lines.push(line))
    }
    tell(lines)
  }

  function hold(command: string, prompt: Prompt, refused: (line: string) => void): void {
    const hint = hintOf(prompt)
    let leave: (() => void) | undefined
    let isRefused = false
    const definition: CommandDefinition = {
      name: command,
      description: describe(prompt, spec.serverName),
      ...(hint === '' ? {} : { input: { hint } }),
      handler: (invocation) => runPrompt({ command, prompt }, invocation, options),
    }
    leave = seat.put(definition, (error) => {
      isRefused = true
      const line = `the prompt "${prompt.shownName}" is no command: ${messageOf(error)}`
      if (leave === undefined) {
        refused(line)
        return
      }
      // The service came later than the list.
      leave()
      held.delete(command)
      tell([...told, line])
    })
    if (isRefused) leave()
    else held.set(command, { prompt, text: JSON.stringify(prompt), leave })
  }

  function endReading(): void {
    if (reading !== undefined) quiet = Promise.all([quiet, reading.end()])
    reading = undefined
  }

  function withdraw(): void {
    endReading()
    for (const { leave } of held.values()) leave()
    held.clear()
  }

  return {
    remembered(items) {
      if (spec.prompts) take(items, [])
    },
    opened(session) {
      endReading()
      if (!spec.prompts || session.facts.capabilities['prompts'] === undefined) {
        withdraw()
        options.taken?.([])
        return
      }
      reading = readingOf(session)
      reading.refresher.request()
    },
    changed: () => reading?.refresher.request(),
    withdraw,
    commands: () => [...held].map(([command, { prompt }]) => ({ command, name: prompt.shownName })),
    async close() {
      withdraw()
      await quiet
    },
  }
}

function describe({ title, description, shownName }: Prompt, serverName: string): string {
  const words = [title, description].filter((word) => word !== '')
  return `${words.length === 0 ? shownName : words.join(': ')} (prompt of the MCP server ${serverName})`
}
