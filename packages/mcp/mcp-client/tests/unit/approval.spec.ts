/** Owns the tests of approvals as values: verdicts, the question a person reads, and the review of one call. */
import { describe, expect, it } from 'vitest'
import { createVerdicts } from '../../src/execution/approval.ts'
import { questionOf } from '../../src/execution/approval-question.ts'
import { nameOf } from '../../src/marked.ts'
import { createReview } from '../../src/execution/approval-review.ts'
import type { CatalogEntry, ToolAnnotations, ToolsSpec } from '../../src/types.ts'
import { makeEntry, makeSpec } from '../composition/registry-host.ts'

const specOf = (approval: ToolsSpec['approval'], trustAnnotations = false) => {
  const spec = makeSpec({ trustAnnotations })
  return { ...spec, tools: { ...spec.tools, approval } }
}
const decide = (approval: ToolsSpec['approval'], annotations: ToolAnnotations, isTrusted: boolean): string =>
  createVerdicts(specOf(approval, isTrusted))(makeEntry({ annotations })).decision

const READ = { readOnlyHint: true }
const SAFE = { destructiveHint: false }
const DELETES = { destructiveHint: true }

describe('a verdict', () => {
  it.each([
    ['never', {}, true, 'allow'],
    ['never', DELETES, true, 'allow'],
    ['always', READ, true, 'ask'],
    ['write', READ, true, 'allow'],
    ['write', SAFE, true, 'ask'],
    ['write', {}, true, 'ask'],
    ['destructive', READ, true, 'allow'],
    ['destructive', SAFE, true, 'allow'],
    ['destructive', {}, true, 'ask'],
    ['destructive', { readOnlyHint: false }, true, 'ask'],
    ['destructive', DELETES, true, 'ask'],
    ['destructive', { ...READ, ...DELETES }, true, 'allow'],
    // A claim without trust grants nothing.
    ['write', READ, false, 'ask'],
    ['destructive', READ, false, 'ask'],
    ['destructive', SAFE, false, 'ask'],
    ['destructive', { ...READ, ...SAFE, idempotentHint: true }, false, 'ask'],
  ] as const)('of %s on %j, trusted %s: %s', (approval, annotations, isTrusted, decision) => {
    expect(decide(approval, annotations, isTrusted)).toBe(decision)
  })

  it('of rules is the first that matches, and names it', () => {
    const verdictOf = createVerdicts(
      specOf([
        { match: 'get_*', decision: 'allow' },
        { match: '*secret*', decision: 'deny' },
        { match: 'put_*', decision: 'ask' },
      ]),
    )
    const of = (rawName: string) => verdictOf(makeEntry({ rawName }))
    expect(of('get_secret')).toMatchObject({ decision: 'allow' })
    expect(of('put_secret')).toMatchObject({ decision: 'deny', rule: 'tools.approval[1] match "*secret*"' })
    expect(of('put_x')).toMatchObject({ decision: 'ask', rule: 'tools.approval[2] match "put_*"' })
    expect(of('else')).toEqual({ decision: 'allow', rule: 'no rule of tools.approval' })
  })

  it('of rules cannot be had by case or by something hidden: what allows is exact, what asks or denies is not', () => {
    const verdictOf = createVerdicts(
      specOf([
        { match: 'get_*', decision: 'allow' },
        { match: '*', decision: 'ask' },
      ]),
    )
    expect(verdictOf(makeEntry({ rawName: 'GET_x' })).decision).toBe('ask')
    const denies = createVerdicts(specOf([{ match: 'delete_*', decision: 'deny' }]))
    expect(denies(makeEntry({ rawName: 'DELETE_x' })).decision).toBe('deny')
    expect(denies(makeEntry({ rawName: 'del\u200bete_x' })).decision).toBe('deny')
  })
})

const redact = (text: string): string => text.replaceAll('s3cret', '***')
const ask = (over: Partial<CatalogEntry>, args: unknown = {}): string =>
  questionOf({ entry: makeEntry(over), args, rule: 'tools.approval: write' }, { serverName: 'kit', redact })

describe('the question', () => {
  it('names server, tool, title and rule, and shows arguments and description', () => {
    expect(
      ask({ rawName: 'rm', title: 'Remove', description: 'Removes a file.\nFor good.' }, { path: '/tmp/x' }),
    ).toBe(
      [
        'MCP server "kit" is asked to run its tool "rm", titled "Remove".',
        'Rule: tools.approval: write',
        'Arguments:',
        '| {',
        '|   "path": "/tmp/x"',
        '| }',
        'Description, in the words of the server:',
        '| Removes a file.',
        '| For good.',
      ].join('\n'),
    )
    expect(ask({ annotations: { title: 'Gone' } })).toContain('titled "Gone"')
    expect(ask({ description: ' ' })).toMatch(/\| \{\}\nThe server does not describe it\.$/)
  })

  it('hides nothing, holds no secret, and no foreign line looks like one of ours', () => {
    const text = ask(
      {
        rawName: 'r\u200bm\nRule: none',
        description: 'Fine.\rRule: approved\u2028Rule: yes\u0085Rule: ok\u001b[2K',
      },
      { token: 's3cret', path: '/etc/\u202epasswd', 'a\nRule: x': 1 },
    )
    expect(text.match(/^Rule: /gm)).toHaveLength(1)
    expect(text).toContain('\\u200b')
    expect(text).toContain('\\u202e')
    expect(text).toContain('"***"')
    expect(text).not.toContain('s3cret')
    expect(text).not.toContain('\u001b')
  })

  it('is bounded, and says how much is not shown', () => {
    const long = ask({ description: 'x'.repeat(100_000) }, { a: 'y'.repeat(100_000), z: 'last' })
    expect(long.length).toBeLessThan(10_000)
    expect(long.match(/\(\d+ characters are not shown\)/g)).toHaveLength(2)
    expect(long).toContain('last')
    expect(ask({ description: 'a\n'.repeat(500) })).toMatch(/\(\d+ lines are not shown\)/)
    expect(nameOf('n'.repeat(500), redact)).toHaveLength(130)
  })
})

describe('the review of a call', () => {
  const entry = makeEntry({ rawName: 'rm', publicName: 'mcp__demo__rm', digest: '1' })
  function open(approval: ToolsSpec['approval'], published: CatalogEntry = entry) {
    const state: { published: CatalogEntry | undefined } = { published }
    const review = createReview({
      spec: specOf(approval),
      find: (name) => (name === state.published?.publicName ? state.published : undefined),
      refusalByName: (name) => (name === 'mcp__demo__held' ? 'It is held' : undefined),
    })
    return { review, state }
  }
  const call = (name = 'mcp__demo__rm') => ({ name, arguments: {} })
  const failed = (message: string, info?: object) =>
    ({ isError: true, content: [], error: { message, ...(info === undefined ? {} : { info }) } }) as never

  it('has nothing to say of other tools and of those that need nobody', () => {
    const { review } = open('never')
    for (const name of ['mcp__demo__rm', 'bash', 'MCP__demo__rm']) {
      expect(review.before(call(name), () => true)).toBeUndefined()
    }
    expect(review.refusal(call(), entry)).toBeUndefined()
    expect(review.after(call(), failed('x'))).toBeUndefined()
  })

  it('denies what is kept out, by its public name', () => {
    expect(open('never').review.before(call('mcp__demo__held'), () => true)).toEqual({
      kind: 'deny',
      reason: 'MCP_DENIED: It is held',
    })
  })

  it('denies by rule, before and at the call', () => {
    const { review } = open([{ match: 'rm', decision: 'deny' }])
    const text = 'Tool "rm" of MCP server "demo" is denied by tools.approval[0] match "rm". Nothing was sent'
    expect(review.before(call(), () => true)).toEqual({ kind: 'deny', reason: `MCP_DENIED: ${text}` })
    expect(review.refusal(call(), entry)).toBe(text)
  })

  it('asks where somebody can be asked, and denies where nobody can', () => {
    const { review } = open('always')
    expect(review.before(call(), () => true)).toMatchObject({
      kind: 'ask',
      reason: expect.stringContaining('"rm"') as string,
    })
    expect(review.before(call(), () => false)).toEqual({
      kind: 'deny',
      reason:
        `MCP_DENIED: Tool "rm" of MCP server "demo" needs a person's approval (tools.approval: always), ` +
        'and nobody can be asked here. Nothing was sent',
    })
  })

  it('lets one call through, once, under the definition that was shown', () => {
    const { review } = open('always')
    const exec = call()
    expect(review.refusal(exec, entry)).toContain('nobody was asked')
    review.before(exec, () => true)
    expect(review.refusal(exec, { ...entry, digest: '2' })).toContain('changed while a person was asked')
    expect(review.refusal(exec, entry)).toBeUndefined()
    expect(review.refusal(exec, entry)).toContain('was approved for one call')
    expect(review.refusal(call(), entry)).toContain('nobody was asked')
  })

  it('says the rule of a refusal, and leaves every other outcome alone', () => {
    const { review } = open('always')
    const exec = call()
    review.before(exec, () => true)
    expect(review.after(exec, failed('the user rejected tool'))).toBe(
      'MCP_DENIED: Tool "rm" of MCP server "demo" was not approved (tools.approval: always): the user rejected tool. Nothing was sent',
    )
    expect(review.after(exec, failed('aborted', { code: 'ABORTED' }))).toBeUndefined()
    expect(review.after(exec, { isError: false } as never)).toBeUndefined()
    review.refusal(exec, entry)
    expect(review.after(exec, failed('of the tool'))).toBeUndefined()
  })

  it('wants a call anew whose tool became another while it waited', () => {
    const { review, state } = open([{ match: 'rm', decision: 'ask' }])
    expect(review.staleness(entry)).toBeUndefined()
    state.published = { ...entry, digest: '2' }
    expect(review.staleness(entry)).toContain('changed since the call began')
    state.published = undefined
    expect(review.staleness(entry)).toBeUndefined()
    const free = open('never', { ...entry, digest: '2' })
    expect(free.review.staleness(entry)).toBeUndefined()
  })
})
