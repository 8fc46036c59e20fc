/**
 * Owns the reading of one listed prompt from a peer that may be sloppy, and the names of the commands: a pure function
 * of server and prompts, within the host's rule for names.
 */
import { createHash } from 'node:crypto'
import { isJsonObject } from '../json.ts'
import { safeLine } from '../text.ts'
import type { JsonObject } from '../types.ts'

const MAX_NAME_CHARS = 1_024
const MAX_SHOWN_CHARS = 80
const MAX_ABOUT_CHARS = 300
const MAX_ARGUMENTS = 32
const MAX_COMMAND_CHARS = 64
const HASH_CHARS = 12

type Redact = (text: string) => string

export interface PromptArgument {
  /** Exact name on the wire. */
  readonly name: string
  /** The name as it may be shown: clean, capped, without secrets, like every text here but the exact names. */
  readonly shownName: string
  readonly description: string
  readonly required: boolean
}

export interface Prompt {
  /** Exact name on the wire. */
  readonly rawName: string
  readonly shownName: string
  readonly title: string
  readonly description: string
  /** In the order of the server, which is the order of positions on a command line. */
  readonly arguments: readonly PromptArgument[]
}

/** One item of prompts/list; undefined where it has no usable name. An odd argument costs itself. */
export function parsePrompt(item: unknown, redact: Redact): Prompt | undefined {
  if (!isJsonObject(item)) return undefined
  const { name } = item
  if (!isName(name)) return undefined
  const found = Array.isArray(item['arguments']) ? item['arguments'].slice(0, MAX_ARGUMENTS) : []
  const taken = new Map<string, PromptArgument>()
  for (const value of found) {
    const argument = argumentOf(value, redact)
    if (argument !== undefined && !taken.has(argument.name)) taken.set(argument.name, argument)
  }
  return {
    rawName: name,
    shownName: safeLine(name, redact, MAX_SHOWN_CHARS),
    title: lineOf(item['title'], redact, MAX_SHOWN_CHARS),
    description: lineOf(item['description'], redact, MAX_ABOUT_CHARS),
    arguments: [...taken.values()],
  }
}

/** A prompt as a server would list it, with its texts as they are shown: {@link parsePrompt} reads it back. */
export function itemOf({ rawName, title, description, arguments: known }: Prompt): JsonObject {
  return {
    name: rawName,
    title,
    description,
    arguments: known.map(({ name, description: about, required }) => ({
      name,
      description: about,
      required,
    })),
  }
}

function argumentOf(value: unknown, redact: Redact): PromptArgument | undefined {
  if (!isJsonObject(value)) return undefined
  const { name, description, required } = value
  if (!isName(name)) return undefined
  return {
    name,
    shownName: safeLine(name, redact, MAX_SHOWN_CHARS),
    description: lineOf(description, redact, MAX_ABOUT_CHARS),
    required: required === true,
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS
}

function lineOf(value: unknown, redact: Redact, maxChars: number): string {
  return typeof value === 'string' ? safeLine(value, redact, maxChars) : ''
}

/**
 * The command of each of these raw names: `mcp__<server>__<prompt>` in lower case. Where that loses more than case, is
 * longer than 64 characters, or is the name of several, it is cut and ends in 12 hex digits of a hash over both names;
 * of several that differ in case alone, the one in lower case keeps the plain name. The order of the list is nothing.
 */
export function commandNames(serverName: string, rawNames: readonly string[]): ReadonlyMap<string, string> {
  const claims = new Map<string, number>()
  for (const rawName of rawNames) {
    const lower = rawName.toLowerCase()
    claims.set(lower, (claims.get(lower) ?? 0) + 1)
  }
  return new Map(
    rawNames.map((rawName) => {
      const lower = rawName.toLowerCase()
      const isPlain = claims.get(lower) === 1 || rawName === lower
      return [rawName, commandName(serverName, rawName, isPlain)]
    }),
  )
}

function commandName(serverName: string, rawName: string, isPlain: boolean): string {
  const lower = `mcp__${serverName}__${rawName}`.toLowerCase()
  const legal = lower.replace(/[^a-z0-9_-]/g, '_')
  if (isPlain && legal === lower && legal.length <= MAX_COMMAND_CHARS) return legal
  const hash = createHash('sha256').update(`${serverName}\0${rawName}`).digest('hex').slice(0, HASH_CHARS)
  return `${legal.slice(0, MAX_COMMAND_CHARS - HASH_CHARS - 1)}_${hash}`
}

/** `<city> [units]`, as the host shows it beside the command; empty where it takes none. */
export function hintOf(prompt: Prompt): string {
  return prompt.arguments
    .map(({ shownName, required }) => (required ? `<${shownName}>` : `[${shownName}]`))
    .join(' ')
}
