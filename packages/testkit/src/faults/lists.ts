/**
 * Owns the rows of tools/list and of its change notifications.
 */
import assert from 'node:assert/strict'
import { RpcError, text, tool } from '../behaviour.ts'
import { failed, hasNoTools, hasTools, succeeded, told, untilTold, untilTool } from './checks.ts'
import { named } from './named.ts'
import type { FaultRow } from './row.ts'

const listsRead = async ({ received }: Parameters<FaultRow['check']>[0]): Promise<number> =>
  (await received()).filter(({ method }) => method === 'tools/list').length

export const lists: readonly FaultRow[] = [
  {
    id: 'endless-pages',
    title: 'fresh cursors for ever, 50 new tools a page',
    right: 'stops at a page or tool cap, says so',
    server: () => named('endless-pages'),
    config: { limits: { pages: 10 } },
    async check(scene) {
      assert.equal(scene.tools().length, 500)
      told(scene, /cut after 10 pages/)
      assert.equal(await listsRead(scene), 10)
    },
  },
  {
    id: 'many-tools',
    title: '60 000 tools in pages of 10 000 (about 7 MB)',
    right: 'a cap with a clear message; event loop alive; dispose works',
    transports: ['stdio'],
    eras: ['legacy'],
    server: () => ({
      tools: Array.from({ length: 60_000 }, (_, index) => tool(`t${index}`)),
      pageSize: 10_000,
    }),
    config: {
      startup: { waitMs: 30_000, timeoutMs: 30_000 },
      limits: { tools: 1_000 },
      tools: { exposure: 'direct' },
    },
    async check(scene) {
      assert.equal(scene.tools().length, 1_000)
      told(scene, /cut at 1000 tools/)
    },
  },
  {
    id: 'repeated-cursor',
    title: 'the same cursor on each page',
    right: 'ends with what was found and a warning',
    server: () => named('repeated-cursor'),
    async check(scene) {
      assert.ok(scene.tools().length >= 1 && scene.tools().length <= 2, scene.tools().join(', '))
      told(scene, /repeats a cursor/)
    },
  },
  {
    id: 'number-cursor',
    title: 'nextCursor is a number',
    right: 'taken as the end; never a loop',
    server: () => named('number-cursor'),
    async check(scene) {
      hasTools(scene, ['a'])
      told(scene, /nextCursor that is no string/)
    },
  },
  {
    id: 'empty-cursor',
    title: 'nextCursor is the empty string',
    right: 'a cursor like any other',
    server: () => ({
      listTools: ({ cursor }) =>
        cursor === '' ? { tools: [tool('second')] } : { tools: [tool('first')], nextCursor: '' },
    }),
    async check(scene) {
      hasTools(scene, ['first', 'second'])
    },
  },
  {
    id: 'duplicate-names',
    title: 'two different tools of the same name',
    right: 'a clear refusal; the connection stays up, nothing is started again',
    server: () => named('duplicate-names'),
    async check(scene) {
      hasNoTools(scene)
      told(scene, /twin/)
      told(scene, /keep-first/)
    },
  },
  {
    id: 'duplicate-names-kept',
    title: 'two different tools of the same name, and the row says keep-first',
    right: 'the first of them, never both',
    server: () => named('duplicate-names'),
    config: { tools: { duplicates: 'keep-first' } },
    async check(scene) {
      hasTools(scene, ['twin', 'single'])
    },
  },
  {
    id: 'list-storm',
    title: '3 000 list_changed at once; the list changes meanwhile',
    right: 'coalesced; the final list wins; no duplicates',
    server: () => named('list-storm'),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      succeeded(await scene.call('storm'), /said 3000 times/)
      await untilTool(scene, 'final')
      hasTools(scene, ['storm', 'final'])
      const lists = await listsRead(scene)
      assert.ok(lists <= 6, `${lists} lists for one storm`)
    },
  },
  {
    id: 'vanishing-tool',
    title: 'a tool vanishes without any notification',
    right: 'the error of the server reaches the model; the list is read again',
    server: () => named('vanishing-tool'),
    async check(scene) {
      failed(await scene.call('gone'), /Unknown tool: gone/)
      await scene.until(async () => (await listsRead(scene)) >= 2)
      succeeded(await scene.call('here', { message: 'yes' }), /yes/)
    },
  },
  {
    id: 'list-fails-later',
    title: 'list_changed, then tools/list answers an error',
    right: 'last good list kept; operator told',
    server: () => named('list-fails-later'),
    async check(scene) {
      await scene.call('break')
      await untilTold(scene, /re-sync failed.*The list is out of order/)
      hasTools(scene, ['break', 'echo'])
      succeeded(await scene.call('echo', { message: 'kept' }), /kept/)
    },
  },
  {
    id: 'odd-names',
    title: 'names: empty, 300 chars, spaces, path, __proto__, newline, ANSI, other prefix, non-ASCII',
    right: 'each registered name legal for the model, distinct, inside this namespace',
    server: () => named('odd-names'),
    async check(scene) {
      const names = scene.tools()
      assert.ok(names.length >= 10, names.join(', '))
      assert.equal(new Set(names).size, names.length)
      for (const name of names) assert.match(name, /^mcp__fault__[A-Za-z0-9_-]{1,52}$/)
      succeeded(await scene.call('good', { message: 'called' }), /called/)
      succeeded(await scene.call('__proto__', { message: 'called' }), /called/)
    },
  },
  {
    id: 'empty-and-back',
    title: 'list_changed to an empty list and back',
    right: 'zero, then two again',
    server: () => {
      let names: readonly string[] = ['toggle', 'other']
      return {
        tools: () => names.map((name) => tool(name)),
        calls: {
          toggle(_args, peer) {
            names = []
            peer.listChanged()
            setTimeout(() => {
              names = ['toggle', 'other']
              peer.listChanged()
            }, 600)
            return text('toggled')
          },
        },
      }
    },
    async check(scene) {
      succeeded(await scene.call('toggle'), /toggled/)
      await scene.until(() => scene.tools().length === 0)
      await untilTool(scene, 'other')
      hasTools(scene, ['toggle', 'other'])
    },
  },
  {
    id: 'malformed-tools',
    title:
      'no inputSchema, a null description, a number for a tool, a schema that is no object, and good ones',
    right: 'one bad item costs at most one item',
    server: () => ({
      listTools: () => ({
        tools: [
          { name: 'bare' },
          { name: 'null-description', description: null, inputSchema: { type: 'object' } },
          7,
          null,
          { inputSchema: { type: 'object' } },
          tool('odd-output', { outputSchema: { type: 'nonsense', properties: 7 } }),
          tool('good'),
        ],
      }),
    }),
    async check(scene) {
      hasTools(scene, ['bare', 'null-description', 'odd-output', 'good'])
      told(scene, /left out/)
    },
  },
  {
    id: 'no-tools-array',
    title: 'tools/list answers without a tools array',
    right: 'no tools, said clearly; the connection is not torn down',
    server: () => ({ listTools: () => ({ items: [] }) }),
    async check(scene) {
      hasNoTools(scene)
      told(scene, /no tools array/)
    },
  },
  {
    id: 'list-refused',
    title: 'tools/list is refused although tools were announced',
    right: 'the message of the server is shown',
    server: () => ({
      listTools() {
        throw new RpcError(-32603, 'The shelf is empty')
      },
    }),
    config: { reconnect: { enabled: false } },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /The shelf is empty/)
    },
  },
  {
    id: 'recursive-schema',
    title: 'schemas that refer to themselves, refer to another origin, and are 3 000 levels deep',
    right: 'bounded; nothing fetched; other tools live',
    server: () => {
      let deep: Record<string, unknown> = { type: 'string' }
      for (let level = 0; level < 1_500; level++) deep = { type: 'object', properties: { a: deep } }
      const self = {
        type: 'object',
        properties: { next: { $ref: '#/$defs/node' } },
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      }
      const elsewhere = { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:9/schema.json' } } }
      return {
        tools: [
          tool('self', { inputSchema: self }),
          tool('elsewhere', { inputSchema: elsewhere }),
          tool('deep', { inputSchema: deep }),
          tool('good'),
        ],
      }
    },
    async check(scene) {
      assert.ok(scene.tools().includes('mcp__fault__good'), scene.tools().join(', '))
      succeeded(await scene.call('good', { message: 'lives' }), /lives/)
    },
  },
]
