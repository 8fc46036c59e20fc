/** Owns the tests of elicitation against a host of plain functions: rounds, decisions, addresses, and who cannot be asked. */
import { describe, expect, it } from 'vitest'
import { elicit as elicitWith } from '../../src/inbound/elicitation.ts'
import type { JsonObject } from '../../src/types.ts'
import { settled } from './fake-clock.ts'
import { openScene, questionError } from './inbound-scene.ts'
import type { SceneOptions } from './inbound-scene.ts'

const FORM = {
  message: 'Who?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer', minimum: 1 },
      note: { type: 'string' },
    },
    required: ['name', 'age'],
  },
}

const elicit = (options: SceneOptions, params: JsonObject = FORM) => {
  const scene = openScene(options)
  return { scene, result: scene.send('elicitation/create', params) }
}

const YES = { form: 'Answer' }

describe('a form', () => {
  it('is asked for after a consent, and answered with typed values', async () => {
    const { scene, result } = elicit({ says: [YES, { 'field-1': '=Ada', 'field-2': '=36' }] })
    expect(await result).toEqual({ action: 'accept', content: { name: 'Ada', age: 36 } })
    expect(scene.asked.map(({ questions }) => questions.map(({ id }) => id))).toEqual([
      ['form'],
      ['field-1', 'field-2', 'field-3'],
    ])
    expect(scene.asked[0]?.agent).toBe(scene.agent)
    expect(scene.lines).toEqual(['info: elicitation: answered by the person'])
    expect(scene.held()).toBe(0)
    expect(scene.clock.pending()).toEqual([])
  })

  it('is asked for again where it has faults, and only there', async () => {
    const says = [
      YES,
      { 'field-1': '=Ada', 'field-2': '=0', 'field-3': '=hi' },
      { 'field-2': '=-1' },
      { 'field-2': '=7' },
    ]
    const { scene, result } = elicit({ says })
    const content = '{"name":"Ada","age":7,"note":"hi"}'
    expect(JSON.stringify(await result)).toBe(`{"action":"accept","content":${content}}`)
    expect(scene.asked[2]?.questions).toMatchObject([
      { id: 'field-2', detail: expect.stringContaining('it must be a whole number, at least 1') },
    ])
  })

  it('is given up after three rounds', async () => {
    const { scene, result } = elicit({ says: [YES, {}, {}, {}, { 'field-1': '=late' }] })
    expect(await result).toEqual({ action: 'cancel' })
    expect(scene.asked).toHaveLength(4)
    expect(scene.lines).toEqual(['info: elicitation: closed without an answer'])
  })

  it('keeps the names of the server whatever they are, in its order', async () => {
    const properties = JSON.parse(
      '{"b":{"type":"string"},"__proto__":{"type":"string"},"a":{"type":"string"}}',
    )
    const { result } = elicit(
      { says: [YES, { 'field-1': '=1', 'field-2': '=2', 'field-3': '=3' }] },
      { message: '', requestedSchema: { type: 'object', properties } },
    )
    expect(JSON.stringify(await result)).toBe(
      '{"action":"accept","content":{"b":"1","__proto__":"2","a":"3"}}',
    )
  })

  it('of no fields is the consent alone', async () => {
    const params = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
    const { scene, result } = elicit({ says: [YES] }, params)
    expect(await result).toEqual({ action: 'accept', content: {} })
    expect(scene.asked).toHaveLength(1)
  })

  it.each<[string, SceneOptions['says'], object]>([
    ['declined by choice', [{ form: 'Decline' }], { action: 'decline' }],
    ['declined in words', [{ form: '= decline ' }], { action: 'decline' }],
    ['cancelled by a skipped consent', [{}], { action: 'cancel' }],
    ['cancelled by other words', [{ form: '=who are you?' }], { action: 'cancel' }],
    ['cancelled by closing', [questionError('ASK_CANCELLED')], { action: 'cancel' }],
    ['cancelled by closing the form', [YES, questionError('ASK_ABORTED')], { action: 'cancel' }],
  ])('is %s', async (_, says, outcome) => {
    const { scene, result } = elicit({ says: says ?? [] })
    expect(await result).toEqual(outcome)
    expect(scene.held()).toBe(0)
    expect(scene.lines).toEqual([expect.stringMatching(/^info: elicitation: /)])
  })

  it('that is none is an error for the server', async () => {
    const { scene, result } = elicit({}, { mode: 'form', message: 'x' })
    await expect(result).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('requestedSchema'),
    })
    await expect(scene.send('elicitation/create', { mode: 'voice' })).rejects.toThrow(
      'mode must be form or url',
    )
    expect([scene.asked, scene.lines]).toEqual([[], []])
  })
})

describe('where nobody can be asked', () => {
  it.each<[string, SceneOptions]>([
    ['the host has no question service', { host: { questions: () => undefined } }],
    ['no answer (NO_PROVIDER)', { says: [questionError('NO_PROVIDER')] }],
    ['no answer (DELEGATED_CALLER)', { says: [questionError('DELEGATED_CALLER')] }],
    ['no answer (CALLER_NOT_LIVE)', { says: [questionError('CALLER_NOT_LIVE')] }],
  ])('since %s, it declines at once', async (reason, options) => {
    const { scene, result } = elicit(options)
    expect(await result).toEqual({ action: 'decline' })
    expect(scene.lines).toEqual([`debug: elicitation: declined, nobody can be asked: ${reason}`])
    expect([scene.held(), scene.clock.pending()]).toEqual([0, []])
  })

  it('since nobody is calling, it declines at once', async () => {
    const scene = openScene()
    for (const caller of [undefined, { ...scene.caller, agent: undefined }])
      expect(await scene.send('elicitation/create', FORM, { caller })).toEqual({ action: 'decline' })
    expect(scene.lines[0]).toBe('debug: elicitation: declined, nobody can be asked: no agent is calling')
  })

  it('it fails to ask for another reason, and the operator hears of it', async () => {
    const odd = elicit({ host: { questions: () => ({ ask: () => Promise.reject('gone') }) } })
    expect(await odd.result).toEqual({ action: 'cancel' })
    expect(odd.scene.lines[0]).toBe('warn: a question could not be asked: gone')
    const { scene, result } = elicit({ says: [new Error('broken s3cret')] })
    expect(await result).toEqual({ action: 'cancel' })
    expect(scene.lines[0]).toBe('warn: a question could not be asked: broken ***')
  })
})

it('a fault of our own is told as one', async () => {
  const dialogue = { run: () => Promise.reject(new Error('a fault')) }
  const asking = { signal: new AbortController().signal, caller: undefined }
  const asker = { serverName: 'kit', redact: (text: string) => text }
  await expect(elicitWith(FORM, asking, { asker, dialogue, say: () => undefined })).rejects.toThrow('a fault')
})

describe('a person who is waited for', () => {
  it('holds the silence of the call, for half an hour at most', async () => {
    const { scene, result } = elicit({ says: [YES] })
    await settled()
    expect(scene.held()).toBe(1)
    expect(scene.asked).toHaveLength(2)
    await scene.clock.advance(30 * 60_000 - 1)
    expect(scene.held()).toBe(1)
    await scene.clock.advance(1)
    expect(await result).toEqual({ action: 'cancel' })
    expect(scene.asked[1]?.signal?.aborted).toBe(true)
    expect(scene.held()).toBe(0)
  })

  it('is let go when the server or the caller is', async () => {
    const scene = openScene()
    const controller = new AbortController()
    const result = scene.send('elicitation/create', FORM, { signal: controller.signal })
    await settled()
    controller.abort()
    expect(await result).toEqual({ action: 'cancel' })
    expect(await scene.send('elicitation/create', FORM, { signal: controller.signal })).toEqual({
      action: 'cancel',
    })
    expect(scene.asked).toHaveLength(1)
  })

  it('has four requests of a server before them at most', async () => {
    const scene = openScene()
    const controller = new AbortController()
    const open = [1, 2, 3, 4].map(() => scene.send('elicitation/create', FORM, { signal: controller.signal }))
    expect(await scene.send('elicitation/create', FORM)).toEqual({ action: 'decline' })
    expect(scene.lines[0]).toContain('4 requests of this server wait already')
    controller.abort()
    await Promise.all(open)
    void scene.send('elicitation/create', FORM)
    expect(scene.asked).toHaveLength(5)
  })
})

describe('an address', () => {
  const at = (url: unknown, message = 'Log in.') => ({
    mode: 'url',
    url: url as string,
    message,
    elicitationId: '1',
  })

  it('is shown with its host, and nothing else happens to it', async () => {
    const { scene, result } = elicit(
      { says: [{ address: 'I have done it' }] },
      at('https://bücher.example/a b?x=<y>&token=s3cret#z', 'Log in s3cret.'),
    )
    expect(await result).toEqual({ action: 'accept' })
    expect(scene.asked[0]?.questions).toEqual([
      {
        id: 'address',
        header: 'MCP server kit',
        question: 'MCP server "kit" asks you to open a page at xn--bcher-kva.example. Do you want to?',
        detail: [
          'In the words of the server:',
          '',
          '```',
          'Log in ***.',
          '```',
          '',
          'Host: `xn--bcher-kva.example`',
          '',
          'The name of this host is written in other letters than it seems to be in a browser. Be careful.',
          '',
          'Open this address yourself: <https://xn--bcher-kva.example/a%20b?x=%3Cy%3E&token=s3cret#z>',
          '',
          'Nothing was opened for you. Open it only if you expected it, then say so here.',
        ].join('\n'),
        options: [
          { label: 'I have done it', description: 'The server is told that you opened it' },
          { label: 'Decline', description: 'The server is told that you do not' },
        ],
      },
    ])
  })

  it('is shown without words where the server has none, and without a warning', async () => {
    const { scene, result } = elicit(
      { says: [{ address: 'Decline' }] },
      { mode: 'url', url: 'http://localhost:80/x' },
    )
    expect(await result).toEqual({ action: 'decline' })
    expect(scene.asked[0]?.questions[0]?.detail).toMatch(/^Host: `localhost`\n\nOpen this/)
  })

  it.each(['http://127.0.0.1:9/x', 'http://[::1]/x', 'https://a.example'])('may be %s', async (url) => {
    const { result } = elicit({ says: [{}] }, at(url))
    expect(await result).toEqual({ action: 'cancel' })
  })

  it.each<[unknown, RegExp]>([
    [undefined, /a full address/],
    ['/login', /a full address/],
    [`https://a.example/${'x'.repeat(4096)}`, /a full address/],
    ['http://a.example', /must be https/],
    ['http://127.0.0.1.evil.example', /must be https/],
    ['javascript:alert(1)', /must be https/],
    ['file:///etc/passwd', /must be https/],
    ['https://a`b.example', /a plain host name/],
    ['https://user@a.example', /user information/],
    ['https://:pw@a.example', /user information/],
  ])('must not be %s', async (url, words) => {
    const { scene, result } = elicit({}, at(url))
    await expect(result).rejects.toThrow(words)
    await expect(result).rejects.toMatchObject({ code: -32602 })
    expect(scene.asked).toEqual([])
  })
})
