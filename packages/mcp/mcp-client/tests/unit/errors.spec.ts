/** Owns the tests of the one error class and of what each code means. */
import { HarnessError } from '@deepseek-ai/dsh-llm'
import { describe, expect, it } from 'vitest'
import { McpError, dispositionOf, isMcpError, messageOf } from '../../src/errors.ts'
import type { Disposition, McpErrorCode } from '../../src/errors.ts'

describe('McpError', () => {
  it('is an error of the harness with its facts', () => {
    const cause = new Error('why')
    const error = new McpError('it failed', {
      code: 'MCP_HTTP_UNAVAILABLE',
      server: 'demo',
      stage: 'connect',
      data: { status: 503 },
      cause,
    })
    expect(error).toBeInstanceOf(HarnessError)
    expect(error).toMatchObject({
      name: 'McpError',
      message: 'it failed',
      code: 'MCP_HTTP_UNAVAILABLE',
      server: 'demo',
      stage: 'connect',
      data: { status: 503 },
      disposition: 'retry',
    })
    expect(error.cause).toBe(cause)
    expect(isMcpError(error)).toBe(true)
  })

  it('has no cause and no data where none was given', () => {
    const error = new McpError('x', { code: 'MCP_ABORTED', server: 's', stage: 'execution' })
    expect(Object.hasOwn(error, 'cause')).toBe(false)
    expect(error.data).toEqual({})
  })

  it.each([new Error('x'), new HarnessError('x', 'MCP_ABORTED'), { code: 'MCP_ABORTED' }, 'x', undefined])(
    'is not %s',
    (value) => expect(isMcpError(value)).toBe(false),
  )
})

describe('dispositionOf', () => {
  it('is the table of the house', () => {
    const table: Record<Disposition, McpErrorCode[]> = {
      throw: ['MCP_CONFIG_INVALID', 'MCP_SERVER_NAME_TAKEN'],
      fatal: [
        'MCP_SPAWN_FAILED',
        'MCP_PROTOCOL_UNSUPPORTED',
        'MCP_FORBIDDEN',
        'MCP_HTTP_REJECTED',
        'MCP_CLOSE_TIMEOUT',
      ],
      retry: [
        'MCP_CONNECT_TIMEOUT',
        'MCP_CONNECTION_CLOSED',
        'MCP_HTTP_UNAVAILABLE',
        'MCP_SESSION_LOST',
        'MCP_LIST_INVALID',
        'MCP_LIST_FAILED',
      ],
      auth: ['MCP_AUTH_REQUIRED'],
      caller: [
        'MCP_NAME_CONFLICT',
        'MCP_NOT_CONNECTED',
        'MCP_CALL_TIMEOUT',
        'MCP_ABORTED',
        'MCP_REQUEST_REJECTED',
        'MCP_TOOL_FAILED',
        'MCP_RESULT_INVALID',
        'MCP_OUTCOME_UNKNOWN',
        'MCP_MESSAGE_TOO_LARGE',
        'MCP_UNSUPPORTED',
      ],
    }
    for (const [disposition, codes] of Object.entries(table)) {
      for (const code of codes) expect(`${code} ${dispositionOf(code)}`).toBe(`${code} ${disposition}`)
    }
  })
})

describe('messageOf', () => {
  it.each<[unknown, string]>([
    [new TypeError('bad'), 'bad'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{ toString: () => 'odd' }, 'odd'],
  ])('%s', (thrown, message) => expect(messageOf(thrown)).toBe(message))
})
