/** Owns which texts of a tool are searched and how much of each is read. Pure. */
import { isJsonObject } from '../json.ts'
import type { JsonObject } from '../types.ts'
import { termsOf } from './meaning.ts'
import { tokensOf } from './tokens.ts'

/** What the index knows of one tool. All texts are a server's: read up to a cap, never trusted. */
export interface SearchableTool {
  readonly publicName: string
  readonly rawName: string
  readonly serverName: string
  readonly title?: string
  readonly description: string
  /** Names and descriptions of the arguments are taken from it. */
  readonly inputSchema: JsonObject
}

/** `lead` is the beginning of a description: what a tool does is said there, `rest` is how. */
export const FIELDS = ['name', 'title', 'lead', 'rest', 'args', 'argTexts', 'server'] as const
export type FieldName = (typeof FIELDS)[number]
export type Fields = Readonly<Record<FieldName, readonly string[]>>

/** Tokens read of each text of one tool: what is further down is prose for the caller, not for the search. */
const MAX_TOKENS = { name: 24, title: 24, description: 72, args: 32, argTexts: 24, server: 12 } as const
const LEAD_TOKENS = 24
/** Arguments of one tool that are read. */
const MAX_ARGS = 32
const MAX_ARG_CHARS = 80

/** The terms of each field. */
export function fieldsOf(tool: SearchableTool): Fields {
  const args = argsOf(tool.inputSchema)
  const read = (text: string, maxTokens: number): string[] => termsOf(tokensOf(text, maxTokens))
  const description = tokensOf(tool.description, MAX_TOKENS.description)
  return {
    name: read(tool.rawName, MAX_TOKENS.name),
    title: read(tool.title ?? '', MAX_TOKENS.title),
    lead: termsOf(description.slice(0, LEAD_TOKENS)),
    rest: termsOf(description.slice(LEAD_TOKENS)),
    args: read(args.map(([name]) => name).join(' '), MAX_TOKENS.args),
    argTexts: read(args.map(([, text]) => text).join(' '), MAX_TOKENS.argTexts),
    server: read(tool.serverName, MAX_TOKENS.server),
  }
}

function argsOf(schema: JsonObject): [name: string, text: string][] {
  const properties = schema['properties']
  if (!isJsonObject(properties)) return []
  const args: [string, string][] = []
  for (const name in properties) {
    if (args.length === MAX_ARGS) break
    const property = properties[name]
    const text = isJsonObject(property) ? property['description'] : undefined
    args.push([name, typeof text === 'string' ? text.slice(0, MAX_ARG_CHARS) : ''])
  }
  return args
}
