/** Owns the tests of what a connection declares, of roots, and of what is refused because it was not declared. */
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { InboundMethod, SamplingSpec } from '../../src/types.ts'
import { agentAt, openScene } from './inbound-scene.ts'

const sampling = (mode: SamplingSpec['mode']) => ({ mode, maxTokens: 100, maxRequests: 2 })

describe('capabilities', () => {
  it('are of what the row allows and the host can answer', () => {
    const both = openScene({ spec: { sampling: sampling('ask'), roots: 'workspace' } })
    expect(both.inbound.capabilities()).toEqual({
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true },
      sampling: {},
    })
    expect(openScene().inbound.capabilities()).toEqual({ elicitation: { form: {}, url: {} }, roots: {} })
  })

  it('are none where the row wants none', () => {
    const scene = openScene({ spec: { elicitation: false, roots: 'off' } })
    expect(scene.inbound.capabilities()).toEqual({})
  })

  it('are none where the host has nothing to answer with', () => {
    const nothing = () => undefined
    const host = { questions: nothing, approval: nothing, llm: nothing, hasAgents: () => false }
    const spec = { sampling: sampling('allow'), roots: 'workspace' } as const
    const scene = openScene({ spec, host })
    expect(scene.inbound.capabilities()).toEqual({})
    expect(scene.inbound.rootsMoveTo(agentAt('/a'))).toBe(false)
    expect(
      openScene({ spec: { sampling: sampling('ask') }, host: { approval: nothing } }).inbound.capabilities()
        .sampling,
    ).toBeUndefined()
    expect(openScene({ spec, host: { approval: nothing } }).inbound.capabilities().sampling).toEqual({})
  })

  it.each<[InboundMethod, string]>([
    ['elicitation/create', 'Elicitation is not offered'],
    ['roots/list', 'Roots are not offered'],
    ['sampling/createMessage', 'Sampling is not offered'],
  ])('that are not declared are not answered: %s', async (method, message) => {
    const scene = openScene({ spec: { elicitation: false, roots: 'off' } })
    await expect(scene.send(method)).rejects.toMatchObject({ code: -32601, message })
  })
})

describe('roots', () => {
  const root = (path: string, name?: string) => ({
    roots: [{ uri: pathToFileURL(path).href, ...(name === undefined ? {} : { name }) }],
  })

  it('are the workspace of the agent that calls', async () => {
    const scene = openScene({ cwd: '/home/ada/my project#1' })
    expect(await scene.send('roots/list')).toEqual({
      roots: [{ uri: 'file:///home/ada/my%20project%231', name: 'my project#1' }],
    })
    expect(await openScene({ cwd: '/' }).send('roots/list')).toEqual(root('/'))
  })

  it('are none outside a call, and for an agent without a workspace', async () => {
    const scene = openScene()
    expect(await scene.send('roots/list', {}, { caller: undefined })).toEqual({ roots: [] })
    expect(await scene.send('roots/list')).toEqual({ roots: [] })
    expect(await openScene({ cwd: 'here' }).send('roots/list')).toEqual({ roots: [] })
    expect(scene.inbound.rootsMoveTo(agentAt('/b'))).toBe(false)
  })

  it('are with workspace those of the agent that called last, and before that of the host', async () => {
    const { inbound, send } = openScene({ spec: { roots: 'workspace' }, cwd: '/a' })
    const outside = () => send('roots/list', {}, { caller: undefined })
    expect(inbound.rootsMoveTo(agentAt('/b'))).toBe(false) // the server was told nothing yet
    expect(await outside()).toEqual(root('/b', 'b'))
    expect(inbound.rootsMoveTo(agentAt('/b'))).toBe(false)
    expect(inbound.rootsMoveTo(agentAt('/c'))).toBe(true)
    expect(await outside()).toEqual(root('/c', 'c'))
    expect(inbound.rootsMoveTo(undefined)).toBe(true)
    expect(await outside()).toEqual(root('/host', 'host'))
    expect(await send('roots/list')).toEqual(root('/a', 'a'))
    expect(inbound.rootsMoveTo(undefined)).toBe(true)
    expect(await openScene({ spec: { roots: 'workspace' } }).send('roots/list')).toEqual(
      root('/host', 'host'),
    )
  })
})
