/** The real host, booted by the kit, without a row of the MCP client. */
import loader from '@deepseek-ai/cordis-plugin-loader/package.json' with { type: 'json' }
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  bootHost,
  expectNoLeftovers,
  leftovers,
  nativeTool,
  received,
  runTurn,
  stdioRow,
  stdioServer,
  waitFor,
} from '../src/index.ts'
import type { Host, HostOptions, Leftovers } from '../src/index.ts'

let before: Leftovers
const hosts: Host[] = []

beforeEach(() => {
  before = leftovers()
})
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.dispose()
  await expectNoLeftovers(before)
})

async function start(options: HostOptions): Promise<Host> {
  const host = await bootHost(options)
  hosts.push(host)
  return host
}

describe('bootHost', () => {
  it('runs a tool of the test', async () => {
    const host = await start({ plugins: [nativeTool('search', (args) => `found ${JSON.stringify(args)}`)] })
    expect(host.tools()).toEqual(['search'])
    const result = await host.call('search', { q: 1 })
    expect(result.isError === false && result.value).toBe('found {"q":1}')
    expect((await host.call('nothing')).isError).toBe(true)
  })

  it('plays a script and gives a stable transcript', async () => {
    const host = await start({ mode: 'both', plugins: [nativeTool('search')] })
    const turn = () =>
      runTurn(host, {
        script: [
          {
            calls: [
              { name: 'search', args: { q: 1 } },
              { name: 'nothing', args: {} },
            ],
          },
          { call: { name: 'run_code', args: { description: 'd', code: 'return await tools.search({})' } } },
          (request) => ({ text: `saw ${request.messages.length} messages` }),
        ],
        prompt: 'find it',
      })
    const first = await turn()
    expect(first.transcript).toMatchInlineSnapshot(`
      "user: find it
      request (initial) with tools: run_code, search
      model calls search {"q":1}
      model calls nothing {}
      tool: native search
      tool error: Error: unknown tool "nothing"
      model calls run_code {"description":"d","code":"return await tools.search({})"}
      tool: native search
      model: saw 6 messages
      end: {"kind":"completed"}"
    `)
    expect(first.requests).toHaveLength(3)
    expect((await turn()).transcript).toBe(first.transcript)
  })

  it('runs a row of the MCP client on a scripted server', async () => {
    const server = stdioServer('healthy', { era: 'dual', env: { PLANTED: 'yes' } })
    const host = await start({
      rows: [stdioRow('one', server, { failOnStartupError: true })],
    })
    await host.until(() => host.tools().includes('mcp__one__echo'))
    const { transcript } = await runTurn(host, {
      script: [{ call: { name: 'mcp__one__echo', args: { message: 'over the wire' } } }],
    })
    expect(transcript).toContain('tool: over the wire')
    const begun = await waitFor(server.journal, ({ kind }) => kind === 'start')
    expect(begun.env?.['PLANTED']).toBe('yes')
    await waitFor(server.journal, received('tools/call', 'echo'))
  })

  it('takes edits of cordis.yml', async () => {
    const host = await start({ hmr: true, plugins: [nativeTool('search')] })
    const off = await host.edit((yml) =>
      yml.replace('- id: native-search', '- disabled: true\n  id: native-search'),
    )
    expect(off).toBe('applied')
    await host.until(() => host.tools().length === 0)
    const bad = await host.edit((yml) => `${yml}- id: bad\n  name: no-such-package\n`)
    // The loader that the ranges of rc.8 resolve to today (the drift leg) logs what failed and goes on.
    expect(bad).toBe(loader.version === '1.0.2' ? 'refused' : 'applied')
    const on = await host.edit((yml) =>
      yml.replace('- disabled: true\n  id', '- id').replace(/- id: bad[^]*$/, ''),
    )
    expect(on).toBe('applied')
    await host.until(() => host.tools().includes('search'))
  })

  it('mounts every extra and keeps the log', async () => {
    const host = await start({
      extra: ['approval', 'commands', 'spill', 'credentials', 'userQuestions', 'timeoutPolicy'],
      plugins: [
        {
          id: 'talker',
          inject: ['commands', 'approval', 'credentials', 'userQuestions', 'spillStore'],
          apply: (ctx) => ctx.logger.warn('said %s', 'so'),
          after: true,
        },
      ],
    })
    expect(host.logs).toContainEqual({ type: 'warn', name: 'talker', text: 'said so' })
  })

  it('says why a wait failed', async () => {
    const host = await start({})
    await expect(host.until(() => false, 50)).rejects.toThrow('Did not happen within 50 ms')
  })

  it('rejects for a row that cannot load, and leaves nothing', async () => {
    await expect(bootHost({ rows: [{ id: 'x', name: 'no-such-package' }] })).rejects.toThrow(
      'no-such-package',
    )
  })
})
