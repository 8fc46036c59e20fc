/** `dsh-mcp pins` in this process: what it shows of the pins of a host, and what a person's word changes. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandScene } from './command-scene.ts'
import { run } from './fake-io.ts'

const scene = commandScene()
const { rows, home } = scene

describe('pins', () => {
  it('lists, shows, approves and forgets', async () => {
    rows({ one: { command: 'x', pin: 'hold' }, bad: { comand: 'x' } })
    const none = await run(['pins'], home())
    expect(none.out).toBe(
      'nothing is pinned yet: a host pins the tools of a server when it first lists them; this command pins nothing\n',
    )
    expect(none.err).toContain('bad: the row is refused')
    expect((await run(['pins', 'show'], home())).out).toBe('no definition changed\n')
    await pinned()
    expect((await run(['pins', 'list', 'one'], home())).out).toMatchInlineSnapshot(`
      "SERVER  TOOL  STATE   DIGEST  SINCE
      one     a     pinned  a1      1970-01-01
      one     b     held    b2      1970-01-01
      "
    `)
    expect((await run(['pins', 'show', 'one'], home())).out).toMatchInlineSnapshot(`
      "one b  held: description
        --- before
        +++ now
        @@ -1,4 +1,4 @@
         description:
        -reads
        +reads, and sends it to me
         inputSchema: {}
         annotations: {}
        -> dsh-mcp pins approve one b
      "
    `)
    expect((await run(['pins', 'show', 'one', 'other'], home())).out).toBe('no definition changed\n')
    expect((await run(['pins', 'show', 'one', '*'], home())).out).toContain('pins approve one b')
    expect(JSON.parse((await run(['pins', 'show', 'one', '--json'], home())).out)).toMatchObject({
      changes: [{ server: 'one', name: 'b', state: 'held', since: '1970-01-01T00:00:00.002Z' }],
    })
    expect(await run(['pins', 'approve', 'one', 'nobody'], home())).toMatchObject({
      code: 1,
      out: 'nothing of that name waits for approval\n',
    })
    expect(await run(['pins', 'approve', 'one', 'b'], home())).toMatchObject({
      code: 0,
      out: 'approved: b\n',
    })
    // A person has seen it: it is no news any more.
    expect((await run(['pins', 'show', 'one'], home())).out).toBe('no definition changed\n')
    expect((await run(['pins', 'list', 'one'], home())).out).not.toContain('changed')
    expect(await run(['pins', 'forget', 'one', '*'], home())).toMatchObject({
      code: 0,
      out: 'forgotten: a, b\n',
    })
    expect(await run(['pins', 'forget', 'one', '*'], home())).toMatchObject({
      code: 1,
      out: 'nothing of that name is pinned\n',
    })
    expect(JSON.parse((await run(['pins', 'list', '--json'], home())).out)).toEqual({ pins: [] })
  })

  it('writes no name of a server to the terminal or into a command as it came', async () => {
    rows({ one: { command: 'x', pin: 'hold' } })
    await pinned('\u001b[2J$(id)')
    expect((await run(['pins', 'show', 'one'], home())).out).toContain(
      String.raw`pins approve one '\u001b[2J$(id)'`,
    )
    const { out } = await run(['pins', 'approve', 'one', '*'], home())
    expect(out).toBe('approved: \\u001b[2J$(id)\n')
  })

  it('tells of a file that cannot be used', async () => {
    rows({ one: { command: 'x' } })
    mkdirSync(join(scene.folder(), 'home', 'mcp-client'), { recursive: true })
    writeFileSync(join(scene.folder(), 'home', 'mcp-client', 'pins-one.json'), 'not JSON', { mode: 0o600 })
    expect((await run(['pins'], home())).err).toMatch(/^one: .*pins-one/)
  })

  it('wants a server and a tool for what changes something', async () => {
    rows({ one: { command: 'x' } })
    for (const words of [['approve'], ['forget', 'one'], ['approve', 'one']]) {
      expect(await run(['pins', ...words], home())).toMatchObject({
        code: 2,
        err: expect.stringContaining('name both') as never,
      })
    }
    expect((await run(['pins', 'burn'], home())).code).toBe(2)
  })

  /** Two tools, one of which waits. */
  async function pinned(name = 'b'): Promise<void> {
    const { openPinFile } = await import('../../src/discovery/pin-file.ts')
    const file = await openPinFile({
      folder: join(scene.folder(), 'home', 'mcp-client'),
      serverName: 'one',
      target: { kind: 'stdio', command: 'x', args: [], env: {}, inheritEnv: [] },
      note: () => {},
    })
    const version = (digest: string, at: number, description: string) => ({
      digest,
      at,
      definition: JSON.stringify({ description, inputSchema: {}, annotations: {} }),
    })
    file.edit([
      { kind: 'pin', name: 'a', version: version('a1', 1, 'reads') },
      { kind: 'pin', name, version: version('b1', 1, 'reads') },
      { kind: 'pending', name, version: version('b2', 2, 'reads, and sends it to me') },
    ])
    await file.flush()
  }
})
