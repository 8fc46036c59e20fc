/**
 * Owns the tests of what a row knows of its fiber: under the real loader, which drives a fiber in its own way, and
 * under a bare context. The row's own time is ours.
 */
import { Context } from '@deepseek-ai/cordis'
import type { Fiber } from '@deepseek-ai/cordis'
import { Loader } from '@deepseek-ai/cordis-plugin-loader'
import { afterEach, describe, expect, it } from 'vitest'
import { watchRow } from '../../src/row.ts'
import type { Row } from '../../src/row.ts'
import { FakeClock, settled } from './fake-clock.ts'

interface RowConfig {
  readonly v: number
  readonly nested?: { readonly list: readonly number[] }
}

interface Applied {
  readonly config: RowConfig
  readonly row: Row
  /** `apply` returns. */
  finish(): void
  fail(error: unknown): void
}

const contexts: Context[] = []
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((ctx) => ctx.fiber.dispose()))
})

interface Setup {
  /** `apply` returns at once. */
  readonly prompt?: boolean
  /** A value of `v` that the schema of the row refuses. */
  readonly refused?: number
  /** Without a loader: `ctx.plugin()` as a test or another plugin calls it. */
  readonly bare?: boolean
}

async function setup({ prompt = false, refused, bare = false }: Setup = {}) {
  const ctx = new Context()
  contexts.push(ctx)
  const clock = new FakeClock()
  const applied: Applied[] = []
  const seen = { disposals: 0, disposers: 0, healthy: true, prompt }
  const plugin = {
    name: 'probe',
    Config: {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: RowConfig) =>
          value.v === refused ? { issues: [{ message: `v must not be ${refused}` }] } : { value },
      },
    },
    async apply(child: Context, config: RowConfig): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      child.effect(() => () => void (seen.disposers += 1), 'probe')
      const row = watchRow(child, {
        clock,
        onDisposed: () => void (seen.disposals += 1),
        isHealthy: () => seen.healthy,
      })
      applied.push({ config, row, finish: resolve, fail: reject })
      if (seen.prompt) resolve()
      await promise
      row.settle()
    },
  }
  /** Cordis takes several turns to restart a fiber. */
  const calm = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await settled()
  }
  let fiber: Fiber
  if (bare) {
    fiber = ctx.plugin(plugin as never, { v: 1 } as never) as unknown as Fiber
  } else {
    await ctx.plugin(Loader)
    ctx.loader.builtins['row'] = plugin as never
    // Settles with the row's start, or its disposal; nobody waits for it here.
    ctx.loader.create({ name: 'cordis:row', config: { v: 1 } }).catch(() => {})
    await calm()
    const [entry] = [...ctx.loader.entries()]
    fiber = entry?.fiber as Fiber
  }
  await calm()
  const last = (): Applied => applied.at(-1) as Applied
  return {
    ctx,
    clock,
    applied,
    seen,
    fiber,
    last,
    calm,
    /** The cordis of the drift leg does not wait for the restart. */
    edit: async (config: RowConfig): Promise<void> => {
      await fiber.update(config, true)
      if (seen.prompt) await calm()
    },
    errors: (): string[] =>
      ctx.logger.buffer.filter(({ type }) => type === 'error').map(({ args }) => String(args)),
    hasEnded: (row: Row): Promise<boolean> =>
      Promise.race([row.ended.then(() => true), settled().then(() => false)]),
  }
}

type Hooks = Readonly<Record<string, Iterable<unknown> | undefined>>

/** Listeners of the events a row watches, wherever cordis keeps them. */
function listeners({ ctx, fiber }: Awaited<ReturnType<typeof setup>>): number {
  const [global, local] = [ctx.events, fiber].map(
    (owner) => (owner as unknown as { _hooks: Hooks })['_hooks'],
  )
  const lists = [
    global?.['internal/plugin'],
    global?.['internal/status'],
    global?.['internal/update'],
    local?.['internal/update'],
  ]
  return lists.flatMap((list) => [...(list ?? [])]).length
}

describe('a row that hangs in its start', () => {
  it('sees its disposal at once', async () => {
    const t = await setup()
    expect(await t.hasEnded(t.last().row)).toBe(false)
    const disposal = t.fiber.dispose()
    expect(t.seen.disposals).toBe(1)
    expect(await t.hasEnded(t.last().row)).toBe(true)
    expect(t.seen.disposers).toBe(0)
    expect(t.clock.pending()).toEqual([])
    t.last().finish()
    await disposal
    expect(t.seen).toMatchObject({ disposals: 1, disposers: 1 })
    expect(t.last().row.isEdited()).toBe(false)
  })

  it('sees the end of what holds it at once, and once', async () => {
    const t = await setup()
    const disposal = t.fiber.parent.fiber.dispose()
    expect(t.seen.disposals).toBe(1)
    expect(await t.hasEnded(t.last().row)).toBe(true)
    t.last().finish()
    await disposal
    expect(t.seen).toMatchObject({ disposals: 1, disposers: 1 })
  })

  it('ends its wait for an edit, which is applied after it', async () => {
    const t = await setup()
    await t.edit({ v: 2 })
    expect(t.last().row.isEdited()).toBe(true)
    await t.clock.advance(100)
    expect(await t.hasEnded(t.last().row)).toBe(true)
    expect(t.clock.pending()).toEqual([])
    t.last().finish()
    await t.calm()
    expect(t.applied.map(({ config }) => config)).toEqual([{ v: 1 }, { v: 2 }])
    expect(t.seen.disposers).toBe(1)
    t.last().finish()
    await t.calm()
    expect(t.applied).toHaveLength(2)
    expect(t.last().row.isEdited()).toBe(false)
    expect(t.errors()).toEqual([])
  })

  it('takes the last of several edits', async () => {
    const t = await setup()
    await t.edit({ v: 2 })
    await t.edit({ v: 3 })
    t.last().finish()
    await t.calm()
    expect(t.applied.map(({ config }) => config.v)).toEqual([1, 3])
    t.last().finish()
  })

  it('is not started again for an edit that changes nothing', async () => {
    const t = await setup()
    await t.edit({ v: 1 })
    await t.clock.advance(100)
    t.last().finish()
    await t.calm()
    expect(t.applied).toHaveLength(1)
  })

  it('says what is wrong with an edit nobody waits for any more', async () => {
    const t = await setup({ refused: 2 })
    await t.edit({ v: 2 })
    t.last().finish()
    await t.calm()
    expect(t.applied).toHaveLength(1)
    expect(t.errors()).toEqual([expect.stringContaining('v must not be 2')])
  })

  it('is disposed rather than edited where both come', async () => {
    const t = await setup()
    await t.edit({ v: 2 })
    const disposal = t.fiber.dispose()
    t.last().finish()
    await disposal
    await t.calm()
    expect(t.applied).toHaveLength(1)
    expect(t.errors()).toEqual([])
  })

  it('looks for edits only while it starts', async () => {
    const t = await setup()
    expect(t.clock.pending()).toEqual([100])
    await t.clock.advance(1_000)
    expect(t.clock.pending()).toEqual([100])
    t.last().finish()
    await t.calm()
    expect(t.clock.pending()).toEqual([])
    t.last().row.settle()
  })

  it('is disposed between its start and the edit that waits', async () => {
    const t = await setup()
    await t.edit({ v: 2 })
    // The first listener of the change to active: before the row's own turn.
    t.ctx.on('internal/status', (changed) => {
      if (changed.ctx === t.fiber.ctx && changed.uid !== null && changed.state === 2) void t.fiber.dispose()
    })
    t.last().finish()
    await t.calm()
    expect(t.applied).toHaveLength(1)
    expect(t.errors()).toEqual([])
  })
})

describe('a row that runs', () => {
  it('is not restarted by an update without a change, and is by one with', async () => {
    const t = await setup({ prompt: true })
    await t.edit({ v: 1 })
    expect(t.applied).toHaveLength(1)
    await t.edit({ v: 1, nested: { list: [1, 2] } })
    expect(t.applied).toHaveLength(2)
    await t.edit({ nested: { list: [1, 2] }, v: 1 })
    expect(t.applied).toHaveLength(2)
    await t.edit({ v: 1, nested: { list: [2, 1] } })
    expect(t.applied).toHaveLength(3)
  })

  it('goes there and back: what counts is the config of now, not that of its birth', async () => {
    const t = await setup({ prompt: true })
    for (const v of [2, 1, 1, 3, 1]) await t.edit({ v })
    expect(t.applied.map(({ config }) => config.v)).toEqual([1, 2, 1, 3, 1])
  })

  it('loses no edit while it starts again', async () => {
    const t = await setup({ prompt: true })
    t.seen.prompt = false
    void t.edit({ v: 2 })
    await t.calm()
    expect(t.clock.pending()).toEqual([100])
    void t.edit({ v: 3 })
    expect(t.last().row.isEdited()).toBe(true)
    await t.clock.advance(100)
    expect(await t.hasEnded(t.last().row)).toBe(true)
    t.last().finish()
    await t.calm()
    t.last().finish()
    await t.calm()
    expect(t.applied.map(({ config }) => config.v)).toEqual([1, 2, 3])
    expect(t.clock.pending()).toEqual([])
  })

  it('does all that without a loader, too', async () => {
    const t = await setup({ prompt: true, bare: true })
    for (const v of [1, 2, 2, 1]) await t.edit({ v })
    expect(t.applied.map(({ config }) => config.v)).toEqual([1, 2, 1])
    await t.fiber.dispose()
    expect(t.seen).toMatchObject({ disposals: 1, disposers: 3 })
  })

  it('is restarted by any update when it no longer works', async () => {
    const t = await setup({ prompt: true })
    t.seen.healthy = false
    await t.edit({ v: 1 })
    expect(t.applied).toHaveLength(2)
  })

  it('hears of other rows and does nothing', async () => {
    const t = await setup({ prompt: true })
    const other = t.ctx.plugin({ name: 'other', apply: async () => {} } as never, { v: 1 } as never)
    await t.calm()
    await other.dispose()
    expect(t.seen.disposals).toBe(0)
    expect(t.applied).toHaveLength(1)
  })

  it('leaves no listener and no timer, however often it is restarted', async () => {
    const t = await setup({ prompt: true })
    const running = listeners(t)
    for (let v = 2; v < 6; v++) await t.edit({ v })
    expect(t.applied).toHaveLength(5)
    expect(listeners(t)).toBe(running)
    await t.fiber.dispose()
    expect(listeners(t)).toBe(running - 3)
    expect(t.clock.pending()).toEqual([])
    expect(t.seen).toMatchObject({ disposals: 1, disposers: 5 })
  })
})
