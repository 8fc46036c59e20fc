/** Redaction: what counts as a secret of a row, and how it is cut out. */
import { describe, expect, it } from 'vitest'
import { createRedactor, isCommon } from '../../src/redaction.ts'
import { secretsOf } from '../../src/secrets.ts'
import type { Target } from '../../src/types.ts'

const child = (env: Record<string, string>, args: string[] = []): Target => ({
  kind: 'stdio',
  command: 'x',
  args,
  env,
  inheritEnv: [],
})
const remote = (headers: Record<string, string>, url = 'https://h.example/mcp'): Target => ({
  kind: 'http',
  flavour: 'auto',
  url,
  headers,
})
const redact = (target: Target, text: string) => createRedactor(secretsOf(target))(text)

describe('createRedactor', () => {
  it('cuts every form of a secret', () => {
    const secret = 'p/s "é" w+\n1'
    const cut = createRedactor([secret])
    const forms = [
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      new URLSearchParams({ q: secret }).toString().slice(2),
      JSON.stringify(secret).slice(1, -1),
    ]
    for (const form of forms) expect(cut(`<${form}> <${form}>`)).toBe('<[redacted]> <[redacted]>')
    for (const encoding of ['base64', 'base64url'] as const) {
      for (const tail of ['', ':rest', 'x']) {
        const text = cut(Buffer.from(secret + tail).toString(encoding))
        expect(text.startsWith('[redacted]')).toBe(true)
      }
    }
  })

  it('cuts overlapping and nested secrets as one, in any order', () => {
    for (const secrets of [
      ['abcdef', 'defghi', 'cdef'],
      ['cdef', 'defghi', 'abcdef'],
    ]) {
      expect(createRedactor(secrets)('-abcdefghi-')).toBe('-[redacted]-')
      expect(createRedactor(secrets)('abcdef abcdef')).toBe('[redacted] [redacted]')
    }
  })

  it('leaves other text, short values and common words alone', () => {
    expect(createRedactor(['abc', 'true', 'Production', ''])('abc true Production')).toBe(
      'abc true Production',
    )
    expect([isCommon('abc'), isCommon('abcd'), isCommon('PROD')]).toEqual([true, false, true])
    expect(createRedactor(['\ud800lone'])('x \ud800lone')).toBe('x [redacted]')
  })

  it('is fast over a hostile text', () => {
    const cut = createRedactor(Array.from({ length: 20 }, (_, i) => `${'a'.repeat(200)}${i}`))
    const start = performance.now()
    cut('a'.repeat(1_000_000))
    expect(performance.now() - start).toBeLessThan(5000)
  })
})

describe('secretsOf', () => {
  it.each([
    ['bearer part', remote({ Authorization: 'Bearer abc-123-xyz' }), 'got abc-123-xyz', 'got [redacted]'],
    ['whole header', remote({ 'X-Api-Key': 'wordlike' }), 'key wordlike', 'key [redacted]'],
    ['basic pair', remote({ Authorization: 'Basic dXNlcjpodW50ZXI4OA==' }), 'user:hunter88', '[redacted]'],
    [
      'basic password',
      remote({ Authorization: 'basic dXNlcjpodW50ZXI4OA==' }),
      'pw hunter88',
      'pw [redacted]',
    ],
    [
      'basic base64',
      remote({ Authorization: 'Basic dXNlcjpodW50ZXI4OA==' }),
      'dXNlcjpodW50ZXI4OA==',
      '[redacted]',
    ],
    ['other header', remote({ 'X-Custom': 'Some longer value 1' }), 'Some longer value 1', '[redacted]'],
    ['harmless header', remote({ Accept: 'text/event-stream' }), 'text/event-stream', 'text/event-stream'],
    ['query', remote({}, 'https://h/m?sig=deadbeefcafe&v=1'), 'sig=deadbeefcafe&v=1', 'sig=[redacted]&v=1'],
    ['query name', remote({}, 'https://h/m?api_key=wordy'), 'wordy', '[redacted]'],
    [
      'path token',
      remote({}, 'https://h/s/ab12cd34ef56ab78cd/mcp'),
      '/s/ab12cd34ef56ab78cd/mcp',
      '/s/[redacted]/mcp',
    ],
    [
      'path uuid',
      remote({}, 'https://h/123e4567-e89b-12d3-a456-426614174000'),
      'h/123e4567-e89b-12d3-a456-426614174000',
      'h/[redacted]',
    ],
    ['env value', child({ FOO: 'planted-secret-value' }), 'planted-secret-value', '[redacted]'],
    ['credential word', child({ DB_PASSWORD: 'sunflower' }), 'sunflower', '[redacted]'],
    [
      'database url',
      child({ STORE: 'postgres://joe:pa%20ss@db/x' }),
      'pa ss pa%20ss',
      '[redacted] [redacted]',
    ],
    ['bad encoding', child({ STORE: 'redis://:pa%zzss@db' }), 'pa%zzss', '[redacted]'],
    ['user as token', child({ STORE: 'https://ghp12345@db/' }), 'ghp12345', '[redacted]'],
    [
      'one line of a key',
      child({ PEM: '-----BEGIN-----\nMIIabc123\n-----END-----' }),
      'a MIIabc123',
      'a [redacted]',
    ],
    [
      'words',
      child({ MODE: 'us-east-1', LANG: 'en_US.UTF-8' }),
      'us-east-1 en_US.UTF-8',
      'us-east-1 en_US.UTF-8',
    ],
    ['number', child({ PORT: '8080', BIG: '123456789' }), '8080 123456789', '8080 [redacted]'],
    ['mixed word', child({ ID: 'x9F2' }), 'x9F2', '[redacted]'],
    [
      'paths',
      child({ P: '/usr/bin:/opt/bin', Q: 'C:\\Tools', R: '~/x' }),
      '/usr/bin:/opt/bin C:\\Tools ~/x',
      '/usr/bin:/opt/bin C:\\Tools ~/x',
    ],
    ['key like a path', child({ P: '/9j4AAQSkZJRgABAQAAAQ' }), '/9j4AAQSkZJRgABAQAAAQ', '[redacted]'],
    ['origin', child({ API: 'http://localhost:3000/' }), 'http://localhost:3000/', 'http://localhost:3000/'],
    ['hook url', child({ API: 'https://h.example/T00/B0' }), 'https://h.example/T00/B0', '[redacted]'],
    ['not a url', child({ API: 'http://[' }), 'http://[', '[redacted]'],
    [
      'flag and value',
      child({}, ['--api-key', 'abcd1234', '-v']),
      '--api-key abcd1234 -v',
      '--api-key [redacted] -v',
    ],
    ['flag before flag', child({}, ['--token', '--verbose']), '--verbose', '--verbose'],
    ['flag=value', child({}, ['--token=abcd1234']), '--token=abcd1234', '--token=[redacted]'],
    ['docker -e', child({}, ['-e', 'GH_TOKEN=abcd1234']), 'abcd1234', '[redacted]'],
    ['header argument', child({}, ['--header', 'Authorization: Bearer abcd1234']), 'abcd1234', '[redacted]'],
    ['url argument', child({}, ['https://h/m?k=abcd1234efgh']), 'abcd1234efgh', '[redacted]'],
    [
      'plain argument',
      child({}, ['-y', '@scope/server', 'dir=abcdefghijkl']),
      '@scope/server abcdefghijkl',
      '@scope/server abcdefghijkl',
    ],
  ])('%s', (_name, target, text, result) => {
    expect(redact(target, text)).toBe(result)
  })
})

describe('a URL behind a flag', () => {
  it.each([
    '--db=postgres://me:p4ssw0rd@h.example/x',
    '--url=http://me:p4ssw0rd@h.example/',
    'DB=mysql://me:p4ssw0rd@h/',
  ])('has no user info in what leaves: %s', (arg) => {
    expect(redact(child({}, [arg]), `cannot open ${arg}`)).not.toContain('p4ssw0rd')
  })
})
