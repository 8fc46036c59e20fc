/**
 * Owns the question whom a message was for that is too large to be read: which request it answers, judged by a small
 * window of its start and of its end, so that only that call fails. Pure, and linear in the windows.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { OWN_CODE } from '../errors.ts'
import type { McpErrorCode } from '../errors.ts'

/** A request id, as far as it is worth an answer. */
export type RequestId = string | number

const INTERNAL_ERROR = -32603
const STRING = '"(?:[^"\\\\]|\\\\.)*"'
const SCALAR = `${STRING}|-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null`

const OPENING = /^\uFEFF?\s*\{/
const MEMBER = new RegExp(`\\s*(${STRING})\\s*:\\s*`, 'y')
/** A value that is complete: what ends it is in the window too. */
const VALUE = new RegExp(`(${SCALAR})\\s*[,}]`, 'y')
/** `id` as the last or the last but one member of the outermost object; a nested one would end in two braces. */
const CLOSING = new RegExp(
  `,\\s*"id"\\s*:\\s*(${STRING}|-?\\d+)\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`,
)

export interface Opening {
  /** The message has a result or an error; a request or notification has neither. */
  readonly answers: boolean
  readonly id?: RequestId
}

/** What the start of a message tells. Reads top-level members up to the first nested or unfinished value. */
export function readOpening(head: string): Opening {
  let id: RequestId | undefined
  let answers = false
  MEMBER.lastIndex = OPENING.exec(head)?.[0].length ?? head.length
  for (let member = MEMBER.exec(head); member !== null; member = MEMBER.exec(head)) {
    const name = decode(member[1])
    if (name === 'method' || name === 'params') return { answers: false }
    if (name === 'result' || name === 'error') answers = true
    VALUE.lastIndex = MEMBER.lastIndex
    const value = VALUE.exec(head)
    if (value === null) break
    if (name === 'id') id = idOf(decode(value[1]))
    MEMBER.lastIndex = VALUE.lastIndex
  }
  return { answers, ...(id === undefined ? {} : { id }) }
}

/** The id at the end of a message whose opening said that it answers. */
export function idAtEnd(tail: string): RequestId | undefined {
  return idOf(decode(CLOSING.exec(tail)?.[1]))
}

/** The answer that stands in for one that is too large: its call fails, at once and alone. */
export function tooLargeAnswer(id: RequestId, limitBytes: number): JSONRPCMessage {
  const code: McpErrorCode = 'MCP_MESSAGE_TOO_LARGE'
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: INTERNAL_ERROR,
      message: `the server's answer is larger than ${limitBytes} bytes (limits.messageBytes) and was not read`,
      data: { [OWN_CODE]: code, limitBytes },
    },
  }
}

/** A JSON scalar that one of the patterns matched; undefined for what is no JSON after all. */
function decode(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '') as unknown
  } catch {
    return undefined // a raw control character or a bad escape in a string: no name and no id of ours
  }
}

function idOf(value: unknown): RequestId | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}
