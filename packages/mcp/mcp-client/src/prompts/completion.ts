/**
 * Owns the asking of a server for values that an argument may have. The host completes nothing by itself, so they are
 * shown where a value is missing or was refused. Best effort: what fails, or takes long, is not shown.
 */
import type { Clock } from '../clock.ts'
import { isJsonObject } from '../json.ts'
import { safeLine } from '../text.ts'
import type { Session } from '../types.ts'
import type { Values } from './arguments.ts'
import type { Prompt, PromptArgument } from './prompt.ts'

const MAX_VALUES = 10
const MAX_VALUE_CHARS = 80
/** Values of one answer that are looked at. */
const MAX_FOUND = 1_000
/** Arguments of one prompt that are asked for. */
const MAX_ASKED = 5
/** How long all answers together may take, in milliseconds. */
export const SUGGEST_LIMIT_MS = 3_000

export interface Suggesting {
  readonly prompt: Prompt
  readonly session: Session | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly redact: (text: string) => string
  /** What was given. */
  readonly values: Values
  /** Exact name of the argument without a value; without it, those are told of whose value the server does not know. */
  readonly about?: string | undefined
}

/** ` Values for department: "Sales", "Support".`, or nothing. Never rejects. */
export async function suggestionsFor(suggesting: Suggesting): Promise<string> {
  const { prompt, session, values, about, clock } = suggesting
  if (session?.facts.capabilities['completions'] === undefined) return ''
  const asked = prompt.arguments.filter(({ name }) =>
    about === undefined ? Object.hasOwn(values, name) : name === about,
  )
  const limit = new AbortController()
  const cancel = clock.after(SUGGEST_LIMIT_MS, () => limit.abort())
  const signal = AbortSignal.any([suggesting.signal, limit.signal])
  try {
    const found = asked
      .slice(0, MAX_ASKED)
      .map((argument) => askFor(argument, { ...suggesting, session, signal }))
    return (await Promise.all(found)).join('')
  } finally {
    cancel()
  }
}

async function askFor(
  { name, shownName }: PromptArgument,
  { prompt, session, values, signal, redact }: Suggesting & { readonly session: Session },
): Promise<string> {
  const others = Object.fromEntries(Object.entries(values).filter(([other]) => other !== name))
  const params = {
    ref: { type: 'ref/prompt', name: prompt.rawName },
    argument: { name, value: '' },
    ...(Object.keys(others).length === 0 ? {} : { context: { arguments: others } }),
  }
  let found: readonly unknown[] = []
  try {
    const { completion } = await session.request('completion/complete', params, { signal })
    if (isJsonObject(completion) && Array.isArray(completion['values'])) found = completion['values']
  } catch {
    return '' // the server is asked a favour
  }
  const texts = found.slice(0, MAX_FOUND).filter((value) => typeof value === 'string')
  if (texts.length === 0 || (Object.hasOwn(values, name) && texts.includes(String(values[name])))) return ''
  const shown = texts
    .slice(0, MAX_VALUES)
    .map((value) => JSON.stringify(safeLine(value, redact, MAX_VALUE_CHARS)))
  return ` Values for ${shownName}: ${shown.join(', ')}${texts.length > shown.length ? ', …' : ''}.`
}
