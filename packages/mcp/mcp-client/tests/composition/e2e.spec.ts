/** Owns the contract's end-to-end list over stdio: the reference servers, images, names, rows as people write them. */
import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import {
  createAgent,
  httpRow,
  nativeTool,
  received,
  startHttpServer,
  stdioRow,
  stdioServer,
  temporaryFolder,
  tool,
  waitFor,
} from '@dsh-mcp/testkit'
import { hostSuite, rawNames } from './host-suite.ts'
import { everythingRow, filesystemRow } from './reference-servers.ts'

const suite = hostSuite()
const RAW = 'raw image data remains available to programmatic callers'

/** The contract's name of a tool whose raw name has other characters or is too long. */
function hashed(serverName: string, rawName: string): string {
  const plain = `mcp__${serverName}__${rawName}`.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const hash = createHash('sha256').update(`${serverName}\0${rawName}`).digest('hex')
  return `${plain.slice(0, 51)}_${hash.slice(0, 12)}`
}

describe('the reference servers', () => {
  it('are found under their names, called, and gone with the host', async () => {
    const folder = temporaryFolder('files')
    const host = await suite.boot({ rows: [everythingRow(), filesystemRow(folder)] })
    // Its 13, one more for a client with roots, and the two of ours for its resources.
    expect(host.tools().filter((name) => name.startsWith('mcp__everything__'))).toHaveLength(16)
    expect(host.tools().filter((name) => name.startsWith('mcp__filesystem__'))).toHaveLength(14)

    expect(await host.call('mcp__everything__get-sum', { a: 2, b: 3 })).toEqual({
      isError: false,
      content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }],
      value: { content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }] },
    })
    const weather = await host.call('mcp__everything__get-structured-content', { location: 'Chicago' })
    expect(weather).toMatchObject({
      value: {
        structuredContent: {
          temperature: expect.any(Number) as number,
          conditions: expect.any(String) as string,
        },
      },
    })

    const path = join(folder, 'note.txt')
    await host.call('mcp__filesystem__write_file', { path, content: 'über Bord' })
    expect(readFileSync(path, 'utf8')).toBe('über Bord')
    const read = await host.call('mcp__filesystem__read_text_file', { path })
    expect(read).toMatchObject({
      content: [{ type: 'text', text: 'über Bord' }],
      value: { structuredContent: { content: 'über Bord' } },
    })
    const denied = await host.call('mcp__filesystem__read_text_file', { path: '/etc/hostname' })
    expect(denied).toMatchObject({
      isError: true,
      error: {
        info: { code: 'MCP_TOOL_FAILED' },
        message: expect.stringContaining('Access denied') as string,
      },
    })

    const { ctx } = host
    const registry = ctx.tools
    await host.dispose()
    expect(registry.schemas()).toEqual([])
  })

  it('give an image that is stored, with its base64 only in the value', async () => {
    const host = await suite.boot({ rows: [everythingRow()] })
    const agent = await createAgent(host, 'vision')
    const result = await host.call('mcp__everything__get-tiny-image', {}, { agent })
    if (result.isError) throw new Error(result.error.message)
    const [before, image, after] = result.content
    expect([before, after]).toEqual([
      { type: 'text', text: "Here's the image you requested:" },
      { type: 'text', text: 'The image above is the MCP logo.' },
    ])
    const { content } = result.value as { readonly content: JsonValue[] }
    const { data: base64 } = content[1] as { readonly data: string }
    expect(JSON.stringify(result.content)).not.toContain(base64.slice(0, 40))
    if (image?.type !== 'image') throw new Error('no image')
    const stored = await host.ctx.attachments.readImage(image.attachment)
    expect(Buffer.from(stored.data).toString('base64')).toBe(base64)
    expect(stored.ref.mediaType).toBe('image/png')
  })

  it.each([
    ['no agent calls', undefined, true, 'the current model route could not be resolved'],
    ['the model has no image input', 'text', true, 'model "text" does not declare image input'],
    ['there is no store', 'vision', false, 'no attachment store is mounted'],
  ] as const)('say why there is no image where %s', async (_what, model, attachments, reason) => {
    const host = await suite.boot({ attachments, rows: [everythingRow()] })
    const agent = model === undefined ? {} : { agent: await createAgent(host, model) }
    const result = await host.call('mcp__everything__get-tiny-image', {}, agent)
    expect(result.content).toEqual([
      {
        type: 'text',
        text: [
          "Here's the image you requested:",
          `[image unavailable: image/png; ${reason}; ${RAW}]`,
          'The image above is the MCP logo.',
        ].join('\n'),
      },
    ])
    expect(result).toMatchObject({
      isError: false,
      value: { content: [{}, { type: 'image', mimeType: 'image/png' }, {}] },
    })
  })
})

describe('names', () => {
  it('let two servers and the host each have a search', async () => {
    const a = stdioServer('healthy', { tools: ['search'] })
    const web = await startHttpServer({
      tools: [tool('search')],
      calls: { search: () => ({ content: [{ type: 'text', text: 'from the web' }] }) },
    })
    suite.after(() => web.close())
    const host = await suite.boot({
      plugins: [nativeTool('search', () => 'from the host')],
      rows: [stdioRow('github', a), httpRow('web', web.url)],
    })
    expect(host.tools().toSorted()).toEqual(['mcp__github__search', 'mcp__web__search', 'search'])
    const texts = await Promise.all(
      ['search', 'mcp__github__search', 'mcp__web__search'].map((name) =>
        host.call(name, { message: 'from github' }),
      ),
    )
    expect(texts.map(({ content }) => content)).toEqual(
      ['from the host', 'from github', 'from the web'].map((text) => [{ type: 'text', text }]),
    )
    expect(rawNames(await a.journal())).toEqual(['search'])
  })

  it('are fit for the model and raw on the wire', async () => {
    const raw = ['notes.search', 'notes/search', 'notes_search', 'größe', 'x'.repeat(128), 'ok-1_A']
    const server = stdioServer('healthy', { tools: raw })
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    const publicNames = [
      hashed('one', 'notes.search'),
      hashed('one', 'notes/search'),
      'mcp__one__notes_search',
      hashed('one', 'größe'),
      hashed('one', 'x'.repeat(128)),
      'mcp__one__ok-1_A',
    ]
    expect(host.tools().toSorted()).toEqual(publicNames.toSorted())
    for (const name of host.tools()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    for (const name of publicNames) expect((await host.call(name)).isError).toBe(false)
    const journal = await server.journal()
    expect(rawNames(journal)).toEqual(raw)
    expect(JSON.stringify(journal.filter(({ kind }) => kind === 'received'))).not.toContain('mcp__')
  })

  it('stay as they are when the list changes', async () => {
    const server = stdioServer('settable-list')
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    const set = (...names: string[]) => host.call('mcp__one__set', { names })
    const publicNames = new Map([
      ['a', 'mcp__one__a'],
      ['a.b', hashed('one', 'a.b')],
      ['b', 'mcp__one__b'],
    ])
    const names = (...raw: string[]): string[] =>
      ['mcp__one__set', ...raw.map((name) => publicNames.get(name) ?? '')].toSorted()
    const lists = [['a', 'a.b', 'b'], ['b', 'a'], ['a.b', 'b', 'a'], ['a.b'], ['a', 'a.b', 'b']]
    const kept = host.ctx.tools.get('mcp__one__set')
    for (const list of lists) {
      await set(...list)
      await host.until(() => host.tools().toSorted().join() === names(...list).join())
    }
    expect(host.ctx.tools.get('mcp__one__set')).toBe(kept)
    await host.call(hashed('one', 'a.b'))
    expect(rawNames(await server.journal()).at(-1)).toBe('a.b')
  })

  it('do not change what is registered when a list comes in another order', async () => {
    const server = stdioServer('settable-list')
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    await host.call('mcp__one__set', { names: ['a', 'b', 'c'] })
    await host.until(() => host.tools().length === 4)
    const before = host.tools()
    const listed = async () => (await server.journal()).filter(received('tools/list')).length
    let changes = 0
    host.ctx.on('tools/change', () => void (changes += 1))
    const reads = await listed()
    await host.call('mcp__one__set', { names: ['c', 'a', 'b'] })
    await waitFor(
      async () => [await listed()],
      (now) => now > reads,
    )
    // One that is seen to change comes after it.
    await host.call('mcp__one__set', { names: ['c', 'a', 'b', 'd'] })
    await host.until(() => host.tools().length === 5)
    expect(changes).toBe(1)
    expect(host.tools()).toEqual([...before, 'mcp__one__d'])
  })
})

describe('rows as the contract writes them', () => {
  it('run unchanged', async () => {
    const github = stdioServer('healthy', { tools: ['create_issue', 'search_code'] })
    const web = await startHttpServer({ tools: [tool('search')] })
    suite.after(() => web.close())
    // `npx` of the row is the first on the path: it notes how it was called and starts the scripted server.
    const bin = temporaryFolder('bin')
    const quoted = [github.command, ...github.args]
      .map((part) => `'${part.replaceAll("'", `'\\''`)}'`)
      .join(' ')
    writeFileSync(join(bin, 'npx'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${bin}/called'\nexec ${quoted}\n`)
    chmodSync(join(bin, 'npx'), 0o755)
    const previous = { ...process.env }
    suite.after(() => {
      for (const name of ['PATH', 'GITHUB_TOKEN', 'MCP_TOKEN']) {
        if (previous[name] === undefined) delete process.env[name]
        else process.env[name] = previous[name]
      }
    })
    Object.assign(process.env, {
      PATH: `${bin}:${previous['PATH']}`,
      GITHUB_TOKEN: 'gh-1',
      MCP_TOKEN: 'web-1',
    })
    // In the contract the header stands without its quotes; YAML has no plain scalar that begins with a backtick.
    const yml = `
- id: mcp-github
  name: '@deepseek-ai/dsh-mcp-client'
  config:
    serverName: github
    transport: stdio
    command: npx
    args: ['-y', '@modelcontextprotocol/server-github']
    env:
      GITHUB_TOKEN: !!js process.env.GITHUB_TOKEN

- id: mcp-web
  name: '@deepseek-ai/dsh-mcp-client'
  config:
    serverName: web
    transport: streamable-http
    url: http://localhost:3000/mcp
    headers:
      Authorization: !!js '\`Bearer \${process.env.MCP_TOKEN}\`'
`
    const host = await suite.boot({ yml: yml.replace('localhost:3000', `localhost:${web.port}`) })
    expect(host.tools().toSorted()).toEqual([
      'mcp__github__create_issue',
      'mcp__github__search_code',
      'mcp__web__search',
    ])
    expect(readFileSync(join(bin, 'called'), 'utf8')).toBe('-y\n@modelcontextprotocol/server-github\n')
    const begun = await waitFor(github.journal, ({ kind }) => kind === 'start')
    expect(begun.env?.['GITHUB_TOKEN']).toBe('gh-1')
    expect(begun.env?.['MCP_TOKEN']).toBeUndefined()
    expect(web.requests.length).toBeGreaterThan(0)
    for (const { headers } of web.requests) expect(headers.authorization).toBe('Bearer web-1')
    for (const name of host.tools()) expect((await host.call(name)).isError).toBe(false)
  })
})
