/**
 * Owns the example that newcomers run first: as a child process, with the built package, exit code and words included.
 */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const MAIN = fileURLToPath(new URL('../../../../../examples/quickstart/main.ts', import.meta.url))
const LIMIT_MS = 45_000
const FLAGS = ['--expose-internals', '--disable-warning=ExperimentalWarning']
/** Set on a developer's machine, perhaps: a test decides for itself. */
const UNSET = { DEEPSEEK_API_KEY: undefined, FORCE_COLOR: undefined, NODE_OPTIONS: undefined }

interface Outcome {
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

function runExample(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const options = {
    env: { ...process.env, ...UNSET, ...env },
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  } as const
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...FLAGS, MAIN, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? child.signalCode), stdout, stderr })
    })
    child.stdin?.end()
  })
}

interface Wire {
  readonly messages: readonly { readonly role: string; readonly content?: string | null }[]
  readonly tools: readonly { readonly function: { readonly name: string } }[]
}

/** A stand-in for the DeepSeek API: the first answer is a tool call, the next one repeats what the tool said. */
async function openModelApi(): Promise<{ url: string; requests: Wire[]; close(): Promise<void> }> {
  const requests: Wire[] = []
  const server = createServer((request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wire = (await json(request)) as Wire
    requests.push(wire)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const choice of choicesFor(wire)) {
      response.write(`data: ${JSON.stringify({ id: 'x', model: 'x', choices: [choice] })}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function choicesFor({ messages }: Wire): readonly object[] {
  const last = messages.at(-1)
  if (last?.role === 'tool') {
    return [
      { index: 0, delta: { content: `Found: ${last.content}` }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ]
  }
  const call = { name: 'mcp__notes__search', arguments: '{"query":"key"}' }
  const delta = { tool_calls: [{ index: 0, id: 'call-1', type: 'function', function: call }] }
  return [
    { index: 0, delta, finish_reason: null },
    { index: 0, delta: {}, finish_reason: 'tool_calls' },
  ]
}

const STEPS: readonly (readonly [heading: string, ...evidence: RegExp[]])[] = [
  [
    'The host boots, its MCP servers connect',
    /everything +16 tools, .* of definitions, stdio/,
    /notes +2 tools, .*streamable-http/,
  ],
  ['A call: text in, text out', /result +Hello from the model/],
  ['A structured result', /program +\{ temperature: \d+/],
  ['Images of two servers', /attachment +image\/png, 20x20, .*sha256:/, /session log +.*none of the/],
  [
    'A tool name that the model may not use',
    /mcp__notes__notes_search_[0-9a-f]{12}/,
    /on the wire +notes\.search/,
  ],
  ['Three tools called search', /result +The spare key/, /result +Bicycle key/, /result +keyboard\.txt/],
  ['A refusal', /error +.*Access denied/],
  ['A server crashes', /error +\S/, /healed +after \d/],
  [
    'A turn of the agent loop',
    /model +calls run_code/,
    /in code +mcp__desk__search/,
    /forwarded +.*image\/png/,
  ],
  ['The host is disposed', /MCP tools +34, then 0/],
]

describe('the quickstart', () => {
  it(
    'shows the main job without a key, every step held, and ends with 0',
    async () => {
      const { code, stdout, stderr } = await runExample([])
      const sections = stdout.split(/^(?= *(?:ok|FAIL) +\d+ )/m).slice(1)
      const failed = sections.filter((section) => section.startsWith('FAIL'))
      expect(failed).toEqual([])
      for (const [index, [heading, ...evidence]] of STEPS.entries()) {
        expect(sections[index]).toMatch(new RegExp(`^ +ok +${index + 1} +${heading}`))
        for (const pattern of evidence) expect(sections[index]).toMatch(pattern)
      }
      expect(stdout).toMatch(/^10 of 10 steps held, in /m)
      expect(stdout).not.toMatch(/[A-Za-z0-9+/]{200}/)
      expect(stdout).not.toContain('\u001B')
      // Servers talk on standard error; a person who runs the example must not have to read it.
      expect(stderr).toBe('')
      expect(code).toBe(0)
    },
    LIMIT_MS,
  )

  it(
    'chats through the real loop with the adapter of the DeepSeek API',
    async () => {
      const api = await openModelApi()
      try {
        const env = { DEEPSEEK_API_KEY: 'sk-of-a-test', DEEPSEEK_BASE_URL: api.url }
        const { code, stdout, stderr } = await runExample(['--chat', 'Where is my key?'], env)
        expect(stdout).toMatch(/model +calls mcp__notes__search \{ query: 'key' \}/)
        expect(stdout).toMatch(/^Found: The spare key is with Ana$/m)
        expect(api.requests).toHaveLength(2)
        expect(api.requests[0]?.tools.map((tool) => tool.function.name)).toContain('mcp__everything__echo')
        expect(stderr).toBe('')
        expect(code).toBe(0)
      } finally {
        await api.close()
      }
    },
    LIMIT_MS,
  )

  it('says what a chat needs when there is no key', async () => {
    const { code, stdout } = await runExample(['--chat'])
    expect(stdout).toContain('DEEPSEEK_API_KEY=... npm start -- --chat')
    expect(code).toBe(1)
  })
})
