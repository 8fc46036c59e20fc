/** Owns the tests of reading a server's log messages. */
import { describe, expect, it } from 'vitest'
import { readLogMessage } from '../../src/connection/server-log.ts'
import type { LogLevel } from '../../src/types.ts'

const spec = (logLevel: LogLevel | 'off') => ({
  logLevel,
  redact: (text: string) => text.replaceAll('s3cret', '[redacted]'),
})

describe('readLogMessage', () => {
  it.each([
    ['debug', 'debug'],
    ['info', 'info'],
    ['notice', 'info'],
    ['warning', 'warn'],
    ['error', 'error'],
    ['critical', 'error'],
    ['alert', 'error'],
    ['emergency', 'error'],
    ['shouting', 'info'],
  ])('reads %s as %s', (level, expected) => {
    expect(readLogMessage({ level, data: 'words' }, spec('debug'))).toEqual({
      level: expected,
      text: 'words',
    })
  })

  it.each(['debug', 'info', 'notice', 'odd'])('leaves %s out where warnings are wanted', (level) => {
    expect(readLogMessage({ level, data: 'words' }, spec('warning'))).toBeUndefined()
  })

  it.each([undefined, null, 7, 'text', []])('makes nothing of %j', (params) => {
    expect(readLogMessage(params, spec('debug'))).toBeUndefined()
  })

  it('makes nothing of a message that says nothing, nor where none is wanted', () => {
    expect(readLogMessage({ level: 'error' }, spec('debug'))).toBeUndefined()
    expect(readLogMessage({ level: 'error', data: '\u200b' }, spec('debug'))).toBeUndefined()
    expect(readLogMessage({ level: 'error', data: 'x' }, spec('off'))).toBeUndefined()
  })

  it('is one short line, without secrets and escapes', () => {
    const data = { text: `a\nb s3cret \u001b[31mred ${'x'.repeat(20_000)}` }
    const line = readLogMessage({ level: 'error', logger: 'db\ns3cret', data }, spec('debug'))
    expect(line?.text).toMatch(/^db \[redacted\]: \{"text":"a\\nb \[redacted\] .*…$/)
    expect(line?.text).not.toContain('\u001b')
    expect(line?.text.length).toBeLessThan(1_100)
    expect(readLogMessage({ level: 'error', data: 'x'.repeat(20_000) }, spec('debug'))?.text).toHaveLength(
      1_000,
    )
  })

  it('tells of what is nested deeper than can be written', () => {
    const data: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    expect(readLogMessage({ level: 'error', data }, spec('debug'))).toEqual({
      level: 'error',
      text: '(nested too deeply to be shown)',
    })
  })
})
