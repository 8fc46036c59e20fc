/** What annotations change where they are trusted, and the words of progress. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { McpError } from '../../src/errors.ts'
import type { McpErrorCode } from '../../src/errors.ts'
import { isRepeatable, policyOf } from '../../src/execution/policy.ts'
import { createProgressRecord, formatProgress } from '../../src/execution/progress.ts'
import type { ToolAnnotations } from '../../src/types.ts'

const READ: ToolAnnotations = { readOnlyHint: true }
const ALL: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
}
const CAUTIOUS = { kind: 'other', isConcurrencySafe: false, mayRepeat: false }

describe('policyOf', () => {
  it.each<[ToolAnnotations]>([[{}], [READ], [ALL]])('believes nothing without trust: %j', (annotations) => {
    expect(policyOf({ rawName: 'search', annotations }, false)).toEqual(CAUTIOUS)
  })

  it.each<[string, ToolAnnotations, object]>([
    ['x', {}, CAUTIOUS],
    ['x', { title: 'X', openWorldHint: true }, CAUTIOUS],
    ['get_thing', READ, { kind: 'read', isConcurrencySafe: true, mayRepeat: true }],
    [
      'get_thing',
      { ...READ, openWorldHint: false },
      { kind: 'read', isConcurrencySafe: true, mayRepeat: true },
    ],
    ['get_thing', ALL, { kind: 'fetch', isConcurrencySafe: true, mayRepeat: true }],
    ['searchCode', ALL, { kind: 'search', isConcurrencySafe: true, mayRepeat: true }],
    ['notes.find', READ, { kind: 'search', isConcurrencySafe: true, mayRepeat: true }],
    ['research', READ, { kind: 'read', isConcurrencySafe: true, mayRepeat: true }],
    ['write', { readOnlyHint: false }, { ...CAUTIOUS, kind: 'execute' }],
    ['write', { idempotentHint: true }, { ...CAUTIOUS, mayRepeat: true }],
    ['write', { idempotentHint: false, readOnlyHint: false }, { ...CAUTIOUS, kind: 'execute' }],
    ['write', { destructiveHint: false }, { ...CAUTIOUS, kind: 'edit' }],
    ['write', { destructiveHint: true }, { ...CAUTIOUS, kind: 'edit' }],
    ['deleteFile', { destructiveHint: true }, { ...CAUTIOUS, kind: 'delete' }],
    ['delete_file', { destructiveHint: false }, { ...CAUTIOUS, kind: 'edit' }],
  ])('%s with %j', (rawName, annotations, expected) => {
    expect(policyOf({ rawName, annotations }, true)).toEqual(expected)
  })
})

describe('isRepeatable', () => {
  const failure = (code: McpErrorCode, data: Record<string, unknown> = {}): McpError =>
    new McpError('x', { code, server: 'demo', stage: 'execution', data })
  const trusted = policyOf({ rawName: 'x', annotations: READ }, true)

  it.each<[McpErrorCode, Record<string, unknown>, boolean]>([
    ['MCP_CONNECTION_CLOSED', {}, true],
    ['MCP_OUTCOME_UNKNOWN', {}, true],
    ['MCP_HTTP_UNAVAILABLE', { status: 503 }, true],
    ['MCP_HTTP_UNAVAILABLE', { cause: 'ECONNRESET' }, true],
    ['MCP_HTTP_UNAVAILABLE', { status: 429 }, false],
    ['MCP_HTTP_UNAVAILABLE', { cause: 'ECONNREFUSED' }, false],
    ['MCP_CALL_TIMEOUT', {}, false],
    ['MCP_ABORTED', {}, false],
    ['MCP_REQUEST_REJECTED', {}, false],
    ['MCP_TOOL_FAILED', {}, false],
    ['MCP_RESULT_INVALID', {}, false],
    ['MCP_MESSAGE_TOO_LARGE', {}, false],
    ['MCP_NOT_CONNECTED', {}, false],
    ['MCP_AUTH_REQUIRED', {}, false],
  ])('%s %j: %s, and never for a tool that may not', (code, data, expected) => {
    expect(isRepeatable(trusted, failure(code, data))).toBe(expected)
    expect(isRepeatable(policyOf({ rawName: 'x', annotations: READ }, false), failure(code, data))).toBe(
      false,
    )
  })
})

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([
    [{ progress: 3 }, '3'],
    [{ progress: 3, total: 10 }, '3 of 10'],
    [{ progress: 0.5, message: ' half\n\u001b[31mway\u202e ' }, '0.5: half way'],
    [{ progress: 1, total: 2, message: '\u200b' }, '1 of 2'],
    [{ progress: 1, message: 'x'.repeat(500) }, `1: ${'x'.repeat(199)}…`],
  ])('%j', (progress, words) => {
    expect(formatProgress(progress)).toBe(words)
  })

  it('is said once a second at most, and the last of it is known', () => {
    const say = vi.fn<(text: string) => void>()
    const record = createProgressRecord(say)
    expect(record.last()).toBeUndefined()
    for (let at = 0; at < 30; at += 1) {
      record.take({ progress: at })
      vi.advanceTimersByTime(100)
    }
    expect(say.mock.calls).toEqual([['0'], ['10'], ['20']])
    expect(record.last()).toBe('29')
  })
})
