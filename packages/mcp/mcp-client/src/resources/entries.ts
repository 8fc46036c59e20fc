/**
 * Owns the two tools of our own for the resources of one server: their definitions, the same bytes whatever the server
 * does. They go the way of every other tool: budget, search, rules, approvals.
 */
import { hash } from 'node:crypto'
import { isJsonObject } from '../json.ts'
import { OWN_TOOLS, publicToolName } from '../naming.ts'
import type { CatalogEntry, JsonObject, SessionFacts } from '../types.ts'

export const [LIST, READ] = OWN_TOOLS

/** What of the server's word decides the definitions. */
export interface Offer {
  /** It tells of changes of single resources. */
  readonly canWatch: boolean
}

/** What a server offers; undefined where it has no resources. */
export function offerOf({ capabilities }: Pick<SessionFacts, 'capabilities'>): Offer | undefined {
  const { resources } = capabilities
  if (resources === undefined) return undefined
  return { canWatch: isJsonObject(resources) && resources['subscribe'] === true }
}

const text = (description: string): JsonObject => ({ type: 'string', description })

const RESOURCE: JsonObject = {
  type: 'object',
  properties: {
    uri: { type: 'string' },
    name: { type: 'string' },
    title: { type: 'string' },
    description: { type: 'string' },
    mimeType: { type: 'string' },
    size: { type: 'number' },
  },
  required: ['uri', 'name'],
}

const TEMPLATE: JsonObject = {
  type: 'object',
  properties: {
    uriTemplate: { type: 'string' },
    name: { type: 'string' },
    title: { type: 'string' },
    description: { type: 'string' },
    mimeType: { type: 'string' },
  },
  required: ['uriTemplate', 'name'],
}

const LISTED: JsonObject = {
  type: 'object',
  properties: {
    resources: { type: 'array', items: RESOURCE },
    templates: { type: 'array', items: TEMPLATE },
    nextCursor: { type: 'string' },
  },
  required: ['resources', 'templates'],
}

type Run = NonNullable<CatalogEntry['run']>

/** The entries, without what they do elsewhere: the caller brings `run`. */
export function resourceEntries(
  serverName: string,
  { canWatch }: Offer,
  run: { readonly list: Run; readonly read: Run },
): readonly CatalogEntry[] {
  const [listName, readName] = [publicToolName(serverName, LIST), publicToolName(serverName, READ)]
  return [
    entryOf(serverName, {
      rawName: LIST,
      title: 'List resources',
      description:
        `Lists the resources of the MCP server "${serverName}": documents, records and other data by URI, and URI ` +
        `templates to fill in. ${readName} reads one.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: text('Only those whose URI, name, title or description has all these words.'),
          cursor: text('nextCursor of the page before, with the same query.'),
        },
        additionalProperties: false,
      },
      outputSchema: LISTED,
      run: run.list,
    }),
    entryOf(serverName, {
      rawName: READ,
      title: 'Read a resource',
      description:
        `Reads one resource of the MCP server "${serverName}" by its URI, such as one that ${listName} lists, one made ` +
        'from a template, or a resource link in a result.',
      inputSchema: {
        type: 'object',
        properties: {
          uri: text('The URI, with the parameters of a template filled in.'),
          ...(canWatch
            ? {
                watch: {
                  type: 'boolean',
                  description: 'true: tell me from now on when it changes; false: no longer.',
                },
              }
            : {}),
        },
        required: ['uri'],
        additionalProperties: false,
      },
      run: run.read,
    }),
  ]
}

function entryOf(
  serverName: string,
  own: Pick<CatalogEntry, 'rawName' | 'title' | 'description' | 'inputSchema' | 'outputSchema'> & {
    readonly run: Run
  },
): CatalogEntry {
  const { run, ...shown } = own
  return {
    ...shown,
    publicName: publicToolName(serverName, shown.rawName),
    annotations: { readOnlyHint: true, idempotentHint: true },
    taskRequired: false,
    // A server's definition never has this digest: its own is over other members.
    digest: hash('sha256', JSON.stringify(['own', shown])),
    run,
  }
}
