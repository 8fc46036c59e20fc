/** Owns the tests of commands that print secrets, of the address that logins come back to, and of learned secrets. */
import { request } from 'node:http'
import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../../src/auth/command.ts'
import { createFailures, isVerdict } from '../../src/auth/failures.ts'
import { createHeaderSource, parseHeaders } from '../../src/auth/headers-command.ts'
import { isLoopback, openLoopback } from '../../src/auth/loopback.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { McpError } from '../../src/errors.ts'
import { createRedaction } from '../../src/redaction.ts'
import { loadSdk } from '../../src/sdk.ts'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeClock } from './fake-clock.ts'

const node = (code: string): string[] => [process.execPath, '-e', code]
const base = { serverName: 's', key: 'headersCommand', clock: SYSTEM_CLOCK }

describe('a command', () => {
  it('gives what it prints', async () => {
    expect(await runCommand({ ...base, argv: node('process.stdout.write("hello")') })).toBe('hello')
  })

  it.each([
    [
      node('console.log("s3cret-out"); console.error("s3cret-err"); process.exit(3)'),
      /ended with exit code 3/,
    ],
    [node('process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)'), /ended with signal SIGTERM/],
    [['no-such-program-here'], /cannot be started \(ENOENT\)/],
  ])('that fails is told without its output', async (argv, words) => {
    const error = await runCommand({ ...base, argv }).catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'MCP_AUTH_FAILED', message: expect.stringMatching(words) as string })
    expect(String(error)).not.toMatch(/s3cret/)
  })

  it('is ended after ten seconds, and its output has a cap', async () => {
    const clock = new FakeClock()
    const failure = runCommand({ ...base, clock, argv: node('setInterval(() => {}, 1000)') }).catch(String)
    await clock.advance(10_000)
    expect(await failure).toMatch(/did not end within 10 s/)
    const long = await runCommand({ ...base, argv: node('process.stdout.write("x".repeat(300000))') })
    expect(long).toHaveLength(64 * 1024)
  })
})

describe('headers by command', () => {
  const counter = join(mkdtempSync(join(tmpdir(), 'headers-')), 'count')
  const counting = node(
    `const fs = require('fs'); fs.appendFileSync(${JSON.stringify(counter)}, 'x');` +
      `console.log('Authorization: Bearer token-' + fs.readFileSync(${JSON.stringify(counter)}, 'utf8').length)`,
  )
  const open = (
    headersCommand: readonly string[],
    learned: string[] = [],
  ): ReturnType<typeof createHeaderSource> =>
    createHeaderSource({ ...base, headersCommand, learn: (secret) => void learned.push(secret) })

  it('are printed once, and once more for all who were refused', async () => {
    const learned: string[] = []
    const source = open(counting, learned)
    const [first, same] = await Promise.all([source.headers(), source.headers()])
    expect(first).toEqual({ authorization: 'Bearer token-1' })
    expect(same).toBe(first)
    expect(await Promise.all([source.again(first), source.again(first), source.again(first)])).toEqual([
      true,
      true,
      true,
    ])
    expect(await source.again(first)).toBe(true)
    expect(await source.headers()).toEqual({ authorization: 'Bearer token-2' })
    expect(learned).toContain('token-2')
  })

  it('that stay the same are not worth another try', async () => {
    const source = open(node('console.log(JSON.stringify({ "X-Key": "key-1234" }))'))
    expect(await source.again(await source.headers())).toBe(false)
  })

  it('that failed are asked for again by the next request', async () => {
    const source = open(node('process.exit(1)'))
    await expect(source.headers()).rejects.toThrow(/exit code 1/)
    await expect(source.headers()).rejects.toThrow(/exit code 1/)
    await expect(open(node('console.log("s3cret words")')).headers()).rejects.toThrow(
      /^headersCommand must print/,
    )
    expect(await open([]).headers()).toEqual({})
  })

  it('are JSON or lines, and nothing else', () => {
    expect(parseHeaders('A: 1\r\nB:2\n')).toEqual({ a: '1', b: '2' })
    for (const text of ['', '{', '{}', '{"a":1}', 'a b: c', 'no colon', '{"a":"\\u0000"}'])
      expect(parseHeaders(text)).toBeUndefined()
  })
})

describe('the address that a login comes back to', () => {
  const ask = (
    url: string,
    options: { method?: string; headers?: OutgoingHttpHeaders } = {},
  ): Promise<number> =>
    new Promise((resolve, reject) => {
      request(url, options, (reply) => {
        reply.resume().on('end', () => resolve(reply.statusCode ?? 0))
      })
        .on('error', reject)
        .end()
    })

  it('takes one path and one name', async () => {
    const seen: string[] = []
    const open = await openLoopback({
      port: 0,
      onAnswer: async (params) => {
        seen.push(String(params))
        if (params.get('code') === 'bad') throw new Error('s3cret')
      },
    })
    const url = new URL(open.redirectUrl)
    expect(url.hostname).toBe('127.0.0.1')
    expect(await ask(`${url.href}?code=good`)).toBe(200)
    expect(await ask(`${url.href}?code=bad`)).toBe(400)
    expect(await ask(`${url.origin}/other`)).toBe(404)
    expect(await ask(url.href, { method: 'POST' })).toBe(404)
    expect(await ask(url.href, { headers: { host: 'evil.example' } })).toBe(400)
    expect(seen).toEqual(['code=good', 'code=bad'])
    await expect(openLoopback({ port: Number(url.port), onAnswer: async () => {} })).rejects.toThrow(
      /EADDRINUSE/,
    )
    await open.close()
    await expect(ask(url.href)).rejects.toThrow(/ECONNREFUSED/)
  })

  it('is known by its whole name', () => {
    expect(['localhost', '127.0.0.1', '127.8.9.1', '[::1]'].every(isLoopback)).toBe(true)
    expect(['localhost.evil.example', '127.evil.example', '10.0.0.1', '::1'].some(isLoopback)).toBe(false)
  })
})

it('cuts out what it learned, the latest of it', () => {
  const { redact, learn } = createRedaction(['row-secret'])
  learn('token-one')
  learn('no')
  expect(redact('row-secret token-one token%2Done no')).toBe('[redacted] [redacted] token%2Done no')
  for (let n = 0; n < 64; n += 1) learn(`token-nr-${n}-`)
  expect(redact('token-one token-nr-63- token-nr-0-')).toBe('token-one [redacted] [redacted]')
})

describe('a failure', () => {
  it('is a verdict, or passes', async () => {
    const { OAuthError, OAuthErrorCode } = await loadSdk()
    const { told } = createFailures('s', (text) => text.replace('s3cret', '[redacted]'))
    const failureOf = async (error: unknown): Promise<unknown> => {
      try {
        return await told(async () => {
          throw error
        })
      } catch (thrown) {
        return thrown
      }
    }
    const codeOf = async (error: unknown): Promise<unknown> => {
      const failure = await failureOf(error)
      expect(failure).toBeInstanceOf(McpError)
      expect((failure as McpError).cause).toBeUndefined()
      return (failure as McpError).code
    }
    expect(await codeOf(new OAuthError(OAuthErrorCode.ServerError, 'x'))).toBe('MCP_HTTP_UNAVAILABLE')
    expect(await codeOf(new SyntaxError('no JSON'))).toBe('MCP_HTTP_UNAVAILABLE')
    expect(await codeOf(new Error('HTTP 503 trying to load x'))).toBe('MCP_HTTP_UNAVAILABLE')
    expect(await codeOf(new OAuthError(OAuthErrorCode.InvalidGrant, 'x'))).toBe('MCP_AUTH_FAILED')
    expect(await codeOf(new Error('HTTP 404 s3cret'))).toBe('MCP_AUTH_FAILED')
    await expect(told(() => Promise.reject(new Error('a s3cret')))).rejects.toThrow(
      'authorization failed: a [redacted]',
    )
    expect([isVerdict(new OAuthError(OAuthErrorCode.InvalidGrant, 'x')), isVerdict(new Error('x'))]).toEqual([
      true,
      false,
    ])
  })
})
