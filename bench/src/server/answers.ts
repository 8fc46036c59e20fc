/**
 * Owns what the benchmark's server answers: prepared text wherever possible, so that its own cost is small and the same
 * for every client. No SDK, no I/O.
 */
import { crc32, deflateSync } from 'node:zlib'

/** What one server is like. Given as JSON in its first argument. */
export interface Nature {
  readonly tools: number
  readonly outputSchemas?: boolean
  /** Time before it reads its first message. */
  readonly delayMs?: number
}

/** How the caller steers the server, as arguments of any tool. */
export type Order =
  | { readonly op: 'echo'; readonly text: string }
  | { readonly op: 'text' | 'image'; readonly size: number }
  | { readonly op: 'crash' }
  | { readonly op: 'touch'; readonly changed: 'none' | 'one' | 'all' }
  | { readonly op: 'storm'; readonly size: number }
  | { readonly op: 'stats' }

export interface Stats {
  /** Times that the whole list was asked for. */
  readonly lists: number
  readonly pid: number
}

/** The ways out of a server. Each takes one JSON text. */
export interface Outlet {
  answer(text: string): void
  notify(text: string): void
}

const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
const REVISION = '2025-06-18'

export function createAnswers(nature: Nature): (line: string, outlet: Outlet) => void {
  let edition = 0
  let isOneChanged = false
  let list = listOf(nature, edition, isOneChanged)
  let lists = 0

  function order(
    { op, ...rest }: Order & { text?: string; size?: number; changed?: string },
    outlet: Outlet,
  ): string {
    const { text = '', size = 0, changed } = rest
    switch (op) {
      case 'text':
        return `{"content":[{"type":"text","text":"${'lorem ipsum dolor '.repeat(Math.ceil(size / 18)).slice(0, size)}"}]}`
      case 'image':
        return `{"content":[{"type":"image","mimeType":"image/png","data":"${png(size).toString('base64')}"}]}`
      case 'crash':
        process.exit(3)
      case 'touch':
        if (changed === 'all') edition += 1
        if (changed === 'one') isOneChanged = !isOneChanged
        list = listOf(nature, edition, isOneChanged)
        outlet.notify(CHANGED)
        return said('')
      case 'storm': {
        let sent = 0
        const timer = setInterval(() => {
          for (let burst = 0; burst < size / 10 && sent < size; burst++, sent++) outlet.notify(CHANGED)
          if (sent === size) clearInterval(timer)
        }, 5)
        return said('')
      }
      case 'stats':
        return said(JSON.stringify({ lists, pid: process.pid } satisfies Stats))
      case 'echo':
        return nature.outputSchemas === true ? structured(text) : said(text)
    }
  }

  return function receive(line, outlet) {
    const { id, method, params } = JSON.parse(line) as {
      id?: string | number
      method: string
      params?: { arguments?: Order }
    }
    if (id === undefined) return
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
    if (method === 'tools/call') {
      outlet.answer(`${head}"result":${order(params?.arguments ?? { op: 'stats' }, outlet)}}`)
    } else if (method === 'tools/list') {
      lists += 1
      outlet.answer(`${head}"result":${list}}`)
    } else if (method === 'initialize') {
      const result = {
        protocolVersion: REVISION,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'bench', version: '1.0.0' },
      }
      outlet.answer(`${head}"result":${JSON.stringify(result)}}`)
    } else if (method === 'ping') {
      outlet.answer(`${head}"result":{}}`)
    } else {
      outlet.answer(`${head}"error":{"code":-32601,"message":"Method not found"}}`)
    }
  }
}

/** What every output schema here takes. */
function structured(text: string): string {
  const content = [{ type: 'text', text }]
  return JSON.stringify({ content, structuredContent: { matches: [{ path: text }], total: 1 } })
}

function said(text: string): string {
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]}`
}

function listOf({ tools, outputSchemas = false }: Nature, edition: number, isOneChanged: boolean): string {
  const items = Array.from({ length: tools }, (_, at) =>
    tool(at, at === 0 && isOneChanged ? -1 : edition, outputSchemas),
  )
  return JSON.stringify({ tools: items })
}

function tool(at: number, edition: number, withOutput: boolean): object {
  return {
    name: `tool_${at}`,
    description: `Does the work number ${at} of edition ${edition}: reads what it is given, and gives back what was asked for.`,
    inputSchema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        op: { type: 'string', description: 'What to do' },
        text: { type: 'string', description: `The text for number ${at}` },
        size: { type: 'integer', minimum: 0, description: 'How much of it' },
        changed: { type: 'string', enum: ['none', 'one', 'all'] },
      },
      required: ['op'],
      additionalProperties: false,
    },
    ...(withOutput
      ? {
          outputSchema: {
            $schema: 'http://json-schema.org/draft-07/schema#',
            type: 'object',
            properties: {
              matches: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: {
                    path: { type: 'string' },
                    line: { type: 'integer' },
                    score: { type: 'number' },
                  },
                  required: ['path'],
                },
              },
              total: { type: 'integer' },
              note: { type: 'string', description: `A note of number ${at}` },
            },
            required: ['matches', 'total'],
          },
        }
      : {}),
    annotations: { readOnlyHint: true },
  }
}

/** A real picture of at least so many bytes: noise, so that nothing shrinks. */
function png(bytes: number): Buffer {
  const width = 1024
  const height = Math.ceil(bytes / (width * 3 + 1))
  const rows = Buffer.alloc(height * (width * 3 + 1))
  let seed = 1
  for (let at = 0; at < rows.length; at++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    rows[at] = at % (width * 3 + 1) === 0 ? 0 : seed >> 16
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
