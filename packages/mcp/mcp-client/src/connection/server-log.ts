/** Owns the reading of a server's log messages: severity, one clean line, and which of them are wanted. Pure. */
import { isJsonObject, jsonText } from '../json.ts'
import { safeLine } from '../text.ts'
import type { LogLevel, ServerSpec } from '../types.ts'

const MAX_CHARS = 1_000
const MAX_NAME_CHARS = 64
/** Read of `data` before it is cleaned: a megabyte is not cleaned for one line. */
const MAX_DATA_CHARS = 16_384

const SEVERITIES: readonly LogLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** One message as the operator reads it; undefined for one that is not wanted or says nothing. */
export function readLogMessage(
  params: unknown,
  { logLevel, redact }: Pick<ServerSpec, 'logLevel' | 'redact'>,
): LogLine | undefined {
  if (logLevel === 'off' || !isJsonObject(params)) return undefined
  const { level, logger, data } = params
  const severity = SEVERITIES.indexOf(level as LogLevel)
  // An unknown severity counts as information.
  const rank = severity < 0 ? 1 : severity
  if (rank < SEVERITIES.indexOf(logLevel)) return undefined
  const words = safeLine(wordsOf(data), redact, MAX_CHARS)
  if (words === '') return undefined
  const name = typeof logger === 'string' ? safeLine(logger, redact, MAX_NAME_CHARS) : ''
  return { level: hostLevel(rank), text: name === '' ? words : `${name}: ${words}` }
}

/** The host has no more than these. */
function hostLevel(rank: number): LogLine['level'] {
  if (rank === 0) return 'debug'
  if (rank < 3) return 'info'
  return rank === 3 ? 'warn' : 'error'
}

function wordsOf(data: unknown): string {
  if (typeof data === 'string') return data.slice(0, MAX_DATA_CHARS)
  return data === undefined ? '' : jsonText(data).slice(0, MAX_DATA_CHARS)
}
