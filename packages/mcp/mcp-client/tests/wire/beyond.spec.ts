/** Owns the tests of the rest beyond tools in a real host, from the source: log messages, moving roots, nobody to ask. */
import { RpcError, httpRow, startHttpServer, text } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, Params } from '@dsh-mcp/testkit'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { openOperatorHost } from './operator-host.ts'
import type { OperatorHost } from './operator-host.ts'
import { openWireHost } from './wire-host.ts'

let close: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of close) await end()
  close = []
})

async function start(behaviour: Behaviour): Promise<HttpServer> {
  const server = await startHttpServer(behaviour)
  close.push(() => server.close())
  return server
}

async function open(url: string, config: Params): Promise<OperatorHost> {
  const host = await openOperatorHost()
  close.unshift(() => host.close())
  await host.row({ ...httpRow('kit', url).config, ...config })
  return host
}

describe('log messages of a server', () => {
  it('stand in the log of the host, with its name', async () => {
    const server = await start({
      capabilities: { tools: {}, logging: {} },
      methods: { 'logging/setLevel': () => ({}) },
    })
    const host = await open(server.url, {})
    await host.until(() => server.openResponses.size > 0)
    server.notify('notifications/message', { level: 'error', logger: 'db', data: 'full' })
    await host.until(() => host.logs.includes('error: mcp-client(kit): server: db: full'))
  })
})

describe('roots: workspace', () => {
  it('tells the server before the call of an agent that works elsewhere', async () => {
    const asked: unknown[] = []
    const server = await start({
      async callTool(_params, peer) {
        asked.push((await peer.request('roots/list')).result)
        return text('done')
      },
    })
    const host = await open(server.url, { roots: 'workspace' })
    const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'mcp-roots-')))
    close.push(async () => folders.forEach((folder) => rmSync(folder, { recursive: true })))
    const agents = []
    for (const cwd of folders) agents.push(await host.agent({ cwd }))
    const told = (): number =>
      server.requests.filter(
        ({ message }) =>
          (message as { method?: string } | undefined)?.method === 'notifications/roots/list_changed',
      ).length
    for (const agent of [agents[0], agents[0], agents[1]])
      await host.call('mcp__kit__echo', { message: 'x' }, undefined, agent)
    expect(told()).toBe(1)
    expect(asked.map((result) => (result as { roots: { uri: string }[] }).roots[0]?.uri)).toEqual(
      [folders[0], folders[0], folders[1]].map((folder) => pathToFileURL(String(folder)).href),
    )
  })
})

describe('where nobody could answer', () => {
  it('a call that wants a page opened first fails with the reason, and is not sent again', async () => {
    let calls = 0
    const server = await start({
      callTool() {
        calls += 1
        const elicitations = [
          { mode: 'url', message: 'Open it', url: 'https://a.example/x', elicitationId: 'one' },
        ]
        throw new RpcError(-32042, 'Open a page first', { elicitations })
      },
    })
    const host = await openWireHost(httpRow('kit', server.url))
    close.unshift(() => host.close())
    const result = await host.call('echo', { args: { message: 'x' } })
    expect(JSON.stringify(result.content)).toMatch(/Open a page first.*nobody here could be asked/)
    expect(calls).toBe(1)
  })
})
