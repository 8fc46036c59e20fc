/** Owns the tests of search in the real host: whole tasks by the agent loop over a thousand tools, and the request. */
import { describe, expect, it } from 'vitest'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import {
  PNG,
  createAgent,
  httpRow,
  runTurn,
  startHttpServer,
  stdioRow,
  stdioServer,
  tool,
} from '@dsh-mcp/testkit'
import type { Behaviour, Host, HttpServer, Mode, Tool } from '@dsh-mcp/testkit'
import { hostSuite } from './host-suite.ts'
import { lists, streamOf } from './list-server.ts'

const suite = hostSuite()

async function serve(behaviour: Behaviour): Promise<HttpServer> {
  const server = await startHttpServer(behaviour)
  suite.after(() => server.close())
  return server
}

const many = (count: number, stem: string): Tool[] =>
  Array.from({ length: count }, (_, at) =>
    tool(`${stem}_task_${at}`, {
      description: `Runs the ${stem} task number ${at} and tells how it went`,
      inputSchema: { type: 'object', properties: { depth: { type: 'integer', description: 'How deep' } } },
    }),
  )

const INVOICE = tool('send_invoice', {
  description: 'Send an invoice to a customer by e-mail',
  inputSchema: {
    type: 'object',
    properties: { customer: { type: 'string' }, amount: { type: 'number' } },
    required: ['customer', 'amount'],
  },
})

/** Ten servers with a thousand tools, one of which sends invoices. */
async function thousand(): Promise<{ rows: ReturnType<typeof httpRow>[]; sent: unknown[] }> {
  const sent: unknown[] = []
  const rows = []
  for (let at = 0; at < 10; at++) {
    const tools = [...many(100, `area${at}`)]
    if (at === 6) tools[42] = INVOICE
    const server = await serve({
      tools,
      callTool(params) {
        sent.push([params['name'], params['arguments']])
        return { content: [{ type: 'text', text: 'invoice 77 sent' }], structuredContent: { id: 77 } }
      },
    })
    rows.push(httpRow(`server${at}`, server.url, { tools: { exposure: 'search' } }))
  }
  return { rows, sent }
}

/** Text of the last tool result that the model was given. */
function lastResult({ messages }: GenerateOptions): string {
  const blocks = messages.flatMap(({ content }) => content)
  const result = blocks.findLast(({ type }) => type === 'tool-result') as unknown as {
    content: { type: string; text?: string }[]
  }
  return result.content.map(({ text = '' }) => text).join('\n')
}

/** What a provider's cache is keyed by. */
const prefixOf = ({ system, tools }: GenerateOptions): string => JSON.stringify({ system, tools })

describe('a task over a thousand tools', () => {
  it('is done natively by search and call, with two definitions in each request', async () => {
    const { rows, sent } = await thousand()
    const host = await suite.boot({ rows })
    const { requests, transcript } = await runTurn(host, {
      script: [
        { call: { name: 'mcp_search', args: { query: 'send an invoice to a customer' } } },
        (request) => {
          const [, name] = /^- (mcp__\w+)/m.exec(lastResult(request)) ?? []
          return {
            call: { name: 'mcp_call', args: { name, arguments: { customer: 'Ada', amount: 12.5 } } },
          }
        },
        (request) => ({ text: lastResult(request) }),
      ],
    })
    expect(sent).toEqual([['send_invoice', { customer: 'Ada', amount: 12.5 }]])
    expect(transcript).toContain('invoice 77 sent')
    expect(requests).toHaveLength(3)
    expect(new Set(requests.map(prefixOf)).size).toBe(1)
    const tools = requests[0]?.tools ?? []
    expect(tools.map(({ name }) => name)).toEqual(['mcp_call', 'mcp_search'])
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(2048)
  })

  it('is done in Code Mode by one program, with two functions in the SDK', async () => {
    const { rows, sent } = await thousand()
    const empty = await suite.boot({ mode: 'code' })
    const bare = (await runTurn(empty, { script: [] })).requests[0]
    const host = await suite.boot({ mode: 'code', rows })
    const code = [
      `const { tools: [best], total } = await tools.mcp_search({ query: 'send an invoice to a customer' })`,
      `const { structuredContent } = await tools.mcp_call({`,
      `  name: best.name, arguments: { customer: 'Ada', amount: 12.5 } })`,
      `try { await tools.mcp_call({ name: best.name, arguments: { customer: 'Ada' } }) }`,
      `catch (error) { return { id: structuredContent.id, many: total > 0, failed: error.message } }`,
    ].join('\n')
    const { requests, transcript } = await runTurn(host, {
      script: [
        { call: { name: 'run_code', args: { description: 'send it', code } } },
        (request) => ({ text: lastResult(request) }),
      ],
    })
    expect(sent).toEqual([['send_invoice', { customer: 'Ada', amount: 12.5 }]])
    expect(transcript).toContain('"id": 77')
    expect(transcript).toContain('arguments.amount')
    const [request] = requests
    expect(new Set(requests.map(prefixOf)).size).toBe(1)
    const system = JSON.stringify(request?.system)
    expect(system).toContain('mcp_call')
    expect(system).not.toContain('server6')
    expect(Buffer.byteLength(system) - Buffer.byteLength(JSON.stringify(bare?.system))).toBeLessThan(2048)
  })
})

describe('the prefix of a session', () => {
  it.each(['native', 'code', 'both'] as const satisfies readonly Mode[])(
    'is the same bytes over ten turns of discovery, re-sync, reconnect and calls: %s',
    async (mode) => {
      let tools = [INVOICE, ...many(300, 'billing')]
      const changing = await serve({ tools: () => tools })
      const crashing = stdioServer('other-tools-after-crash', { first: ['crash', 'a'], next: ['b', 'crash'] })
      const gate = Promise.withResolvers<void>()
      const late = await serve({
        async listTools() {
          await gate.promise
          return { tools: many(200, 'late') }
        },
      })
      const search = { tools: { exposure: 'search' } }
      const host = await suite.boot({
        mode,
        rows: [
          httpRow('changing', changing.url, search),
          stdioRow('crashing', crashing, { ...search, reconnect: { initialDelayMs: 50 } }),
          httpRow('late', late.url, { ...search, startup: { waitMs: 1 } }),
        ],
      })
      await streamOf(changing)
      const agent = await createAgent(host)
      const find = async (name: string): Promise<boolean> => {
        // As from within a program: in mode code nothing else may call it.
        const result = await host.ctx.tools.execute({
          callId: CallId('find'),
          name: 'mcp_search',
          arguments: { query: name },
          parent: Symbol('program') as never,
          signal: new AbortController().signal,
        })
        return JSON.stringify(result.content).includes(name)
      }
      const direct = (name: string, args: Record<string, unknown>) =>
        mode === 'code'
          ? {
              name: 'run_code',
              args: { description: 'do', code: `return await tools.${name}(${JSON.stringify(args)})` },
            }
          : { name, args }
      const say = direct('mcp_search', { query: 'invoice' })
      const invoice = direct('mcp_call', {
        name: 'mcp__changing__send_invoice',
        arguments: { customer: 'A', amount: 1 },
      })
      const steps: readonly [ReturnType<typeof direct> | undefined, (() => Promise<void>)?][] = [
        [undefined],
        [say],
        [invoice],
        [
          direct('mcp_call', { name: 'mcp__crashing__crash', arguments: {} }),
          () => until(host, () => host.logs.some(({ text }) => text.includes('reconnected'))),
        ],
        [direct('mcp_call', { name: 'mcp__crashing__b', arguments: {} })],
        [
          invoice,
          async () => {
            tools = [...many(400, 'billing'), INVOICE]
            const before = lists(changing)
            changing.listChanged()
            await until(host, () => lists(changing) > before)
          },
        ],
        [
          say,
          async () => {
            gate.resolve()
            for (let tries = 0; tries < 100 && !(await find('mcp__late__late_task_7')); tries++) {
              await new Promise((resolve) => setTimeout(resolve, 20))
            }
          },
        ],
        [direct('mcp_call', { name: 'mcp__late__late_task_7', arguments: {} })],
        [direct('mcp_call', { name: 'mcp__late__nothing', arguments: {} })],
        [undefined],
      ]
      const seen = new Set<string>()
      let count = 0
      for (const [call, after] of steps) {
        const { requests } = await runTurn(host, {
          agent,
          script: [...(call === undefined ? [] : [{ call }]), { text: 'done' }],
        })
        for (const request of requests) seen.add(prefixOf(request))
        count += requests.length
        await after?.()
      }
      expect(await find('mcp__late__late_task_7')).toBe(true)
      expect([count, seen.size]).toEqual([18, 1])
    },
  )
})

const until = (host: Host, predicate: () => boolean): Promise<void> => host.until(predicate)

describe('what comes of a call', () => {
  it('reaches the model with its images, and the log without their bytes', async () => {
    const host = await suite.boot({
      rows: [stdioRow('kit', stdioServer('content-kinds'), { tools: { exposure: 'search' } })],
    })
    const turn = await runTurn(host, {
      script: [{ call: { name: 'mcp_call', args: { name: 'mcp__kit__mixed', arguments: {} } } }],
    })
    const direct = await suite.boot({ rows: [stdioRow('kit', stdioServer('content-kinds'))] })
    const same = await runTurn(direct, { script: [{ call: { name: 'mcp__kit__mixed', args: {} } }] })
    const contentOf = ({ requests }: typeof turn): string =>
      JSON.stringify(requests[1]?.messages.at(-1)).replaceAll(
        /"(id|sha256|path|toolCallId|callId)":"[^"]*"/g,
        '',
      )
    expect(contentOf(turn)).toContain('image')
    expect(contentOf(turn)).toBe(contentOf(same))
    expect(JSON.stringify(turn.events)).not.toContain(PNG)
  })

  it('is asked for by the name of the tool', async () => {
    const server = await serve({ tools: [INVOICE] })
    const asked: string[] = []
    const host = await suite.boot({
      extra: ['approval'],
      rows: [httpRow('shop', server.url, { tools: { exposure: 'search', approval: 'always' } })],
    })
    const args = { name: 'mcp__shop__send_invoice', arguments: { customer: 'A', amount: 1 } }
    const { events, transcript } = await runTurn(host, { script: [{ call: { name: 'mcp_call', args } }] })
    for (const { type, data } of events) {
      if (String(type) === 'approval/asked') asked.push((data as unknown as { toolName: string }).toolName)
    }
    expect(asked).toEqual(['mcp__shop__send_invoice'])
    expect(transcript).toContain('requires approval')
  })
})
