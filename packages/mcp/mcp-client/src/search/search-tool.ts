/** Owns the definition of mcp_search. Its text is constant: it names no server and counts nothing. */
import type { JsonValue, ToolDefinition } from '@deepseek-ai/dsh-tools'
import { McpError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { cleanLine } from '../text.ts'
import type { Finder, Question } from './finder.ts'
import { PAGE_SCHEMA, asPage, pageText } from './page.ts'

export const SEARCH_NAME = 'mcp_search'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 50
/** What is read of a question. */
const MAX_QUERY_CHARS = 1_000

/** @param ready settles when there is an index to search */
export function createSearchTool(finder: Finder, ready: () => Promise<void>): ToolDefinition {
  return {
    name: SEARCH_NAME,
    description:
      'Find tools of the connected MCP servers; most of them are not listed here. Search for what you want to do, then ' +
      'run the best match with mcp_call. Returns names, descriptions and input schemas, best first.',
    parameters: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'What the tool should do, or a tool name. Empty with a server: list its tools.',
        },
        server: { type: 'string', description: 'Search only this server.' },
        limit: {
          type: 'integer',
          description: `Tools per page, up to ${MAX_LIMIT}. Default ${DEFAULT_LIMIT}.`,
        },
        cursor: { type: 'string', description: 'nextCursor of the page before.' },
      },
      required: ['query'],
    },
    output: {
      schema: PAGE_SCHEMA,
      render: (_args, value) => [{ type: 'text', text: pageText(asPage(value)) }],
    },
    async execute(args, exec) {
      const question = questionOf(args)
      await ready()
      return finder.page({ ...question, agent: exec.agent }) as unknown as JsonValue
    },
    isConcurrencySafe: () => true,
    presentCall(args) {
      const { query, server } = isJsonObject(args) ? args : {}
      const about = [query, server].filter((text) => typeof text === 'string' && text !== '').join(', ')
      const title = about === '' ? 'Search tools' : `Search tools: ${cleanLine(about, 120)}`
      return { card: 'generic', title, kind: 'search', ...(args === undefined ? {} : { rawInput: args }) }
    },
  }
}

/** Reads what a model may write for these arguments, numbers as text included. */
function questionOf(args: unknown): Omit<Question, 'agent'> {
  const { query = '', server, limit, cursor } = isJsonObject(args) ? args : {}
  if (typeof query !== 'string') throw rejected('query must be text: what the tool should do')
  if (server !== undefined && server !== null && typeof server !== 'string') {
    throw rejected('server must be the name of a server')
  }
  const offset = cursor === undefined || cursor === null || cursor === '' ? 0 : Number(cursor)
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw rejected('cursor must be the nextCursor of the page before')
  }
  const asked = Math.floor(Number(limit ?? DEFAULT_LIMIT))
  return {
    query: query.slice(0, MAX_QUERY_CHARS),
    server: server ?? undefined,
    limit: Number.isNaN(asked) ? DEFAULT_LIMIT : Math.min(MAX_LIMIT, Math.max(1, asked)),
    offset,
  }
}

function rejected(text: string): McpError {
  return new McpError(text, { code: 'MCP_REQUEST_REJECTED', server: '', stage: 'execution' })
}
