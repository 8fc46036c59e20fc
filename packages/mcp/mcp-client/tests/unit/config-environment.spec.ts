/** The environment of a stdio child: what passes, what does not, and what the row can do about it. */
import { spawnSync } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { childEnvironment, isCredential, withheldLines } from '../../src/environment.ts'
import type { StdioTarget } from '../../src/types.ts'

const PLANTED = ['PLANTED_API_KEY', 'planted_token', 'PLANTED_PASSWORD', 'DSH_PLANTED', 'PLANTED_PLAIN']

function target(env: Record<string, string>, inheritEnv: readonly string[] = []): StdioTarget {
  return { kind: 'stdio', command: process.execPath, args: [], env, inheritEnv }
}

describe('childEnvironment', () => {
  afterEach(() => {
    for (const name of PLANTED) Reflect.deleteProperty(process.env, name)
  })

  it('gives a real child the scrubbed base and the row over it, and no credential of the host', () => {
    for (const name of PLANTED) process.env[name] = 'planted'
    const { variables: env, withheld } = childEnvironment(
      target({ OWN_TOKEN: 'mine', PLANTED_PASSWORD: 'row' }),
    )
    const print = ['-e', 'process.stdout.write(JSON.stringify(process.env))']
    const child = JSON.parse(spawnSync(process.execPath, print, { env }).stdout.toString()) as typeof env
    expect(child).toMatchObject({ OWN_TOKEN: 'mine', PLANTED_PASSWORD: 'row', PLANTED_PLAIN: 'planted' })
    expect(child['PATH']).toBe(process.env['PATH'])
    for (const name of ['PLANTED_API_KEY', 'planted_token', 'DSH_PLANTED'])
      expect(child).not.toHaveProperty(name)
    expect(withheld).toEqual(expect.arrayContaining(['DSH_PLANTED', 'PLANTED_API_KEY', 'planted_token']))
    expect(withheld).not.toContain('PLANTED_PASSWORD')
  })

  it('passes on what inheritEnv names, and nothing that only resembles it', () => {
    const ambient = { SSH_AUTH_SOCK: '/s', GH_TOKEN: 't', GH_TOKEN_2: 'u', DSH_HOME: '/h', GONE: undefined }
    const row = target({}, ['SSH_AUTH_SOCK', 'GH_TOKEN', 'DSH_HOME', 'MISSING', 'GONE'])
    expect(childEnvironment(row, { ambient, base: { SSH_AUTH_SOCK: '/s' }, platform: 'linux' })).toEqual({
      variables: { SSH_AUTH_SOCK: '/s', GH_TOKEN: 't', DSH_HOME: '/h' },
      withheld: ['GH_TOKEN_2'],
    })
  })

  it('keeps names that only look like credentials, though the host scrubs them', () => {
    const ambient = {
      KEYBOARD_LAYOUT: 'us',
      KEYTIMEOUT: '1',
      TOKENIZERS_PARALLELISM: 'false',
      XKB_KEYMAP: 'de',
      MONKEY: 'yes',
      TOKENIZERS_API_KEY: 'no',
      KEYBOARD_PASSWORD: 'no',
      MYKEYBOARDTOKEN: 'no',
      DSH_KEYBOARD: 'no',
      KEYBOARD_MODEL: 'https://me:secret@example.org/',
    }
    const { variables, withheld } = childEnvironment(target({}), { ambient, base: {} })
    expect(Object.keys(variables)).toEqual([
      'KEYBOARD_LAYOUT',
      'KEYTIMEOUT',
      'TOKENIZERS_PARALLELISM',
      'XKB_KEYMAP',
      'MONKEY',
    ])
    expect(withheld).toHaveLength(5)
  })

  it('takes names for the same in any case of letters on Windows only', () => {
    const base = { Path: 'a', Other: 'b' }
    const ambient = { ...base, Gh_Token: 't' }
    const row = target({ pAth: 'c' }, ['GH_TOKEN'])
    expect(childEnvironment(row, { ambient, base, platform: 'win32' }).variables).toEqual({
      Other: 'b',
      Gh_Token: 't',
      pAth: 'c',
    })
    expect(childEnvironment(row, { ambient, base, platform: 'linux' }).variables).toEqual({
      Path: 'a',
      Other: 'b',
      pAth: 'c',
    })
  })
})

describe('isCredential', () => {
  it.each([
    ['SENTRY_DSN', 'anything'],
    ['NPM_AUTH', 'anything'],
    ['npm_config__auth', 'anything'],
    ['SSH_AUTH_SOCK', '/tmp/agent.1'],
    ['GPG_AGENT_INFO', '/tmp/S.gpg:1:1'],
    ['MY_AGENT_SOCK', '/tmp/agent.1'],
    ['DATABASE_URL', 'postgres://db/app'],
    ['APP_DATABASE_URL', 'postgres://db/app'],
    ['AZURE_STORAGE_CONNECTION_STRING', 'x'],
    ['MYSQL_PWD', 'hunter2'],
    ['DB_PASS', 'hunter2'],
    ['GH_PAT', 'hunter2'],
    ['APP_CREDENTIALS', '{"user":"me"}'],
    ['HTTP_PROXY', 'http://me:pw@proxy:8080'],
    ['CACHE', 'redis://:pw@cache:6379/0'],
    ['REMOTES', 'https://a.example/,https://ghost@b.example/'],
    ['BUS', 'Endpoint=sb://x;SharedAccessKeyName=n;SharedAccessKey=abc'],
    ['CALLBACK', 'https://example.org/?access_token=abc'],
    ['GH', 'ghp_0123456789abcdefghij'],
    ['SESSION', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln'],
    ['CERT', '-----BEGIN RSA PRIVATE KEY-----\nMII'],
  ])('drops %s=%s', (name, value) => {
    expect(isCredential(name, value)).toBe(true)
  })

  it.each([
    ['PATH', '/usr/bin:/bin'],
    ['PWD', '/home/me'],
    ['OLDPWD', '/'],
    ['HOME', '/home/me'],
    ['GIT_AUTHOR_NAME', 'Me'],
    ['GIT_AUTHOR_EMAIL', 'me@example.org'],
    ['DISPLAY', ':0'],
    ['LANG', 'de_DE.UTF-8'],
    ['REDIS_URL', 'redis://cache:6379/0'],
    ['HTTP_PROXY', 'http://proxy:8080'],
    ['NO_PROXY', 'localhost,@example'],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/home/me/adc.json'],
    ['AWS_SHARED_CREDENTIALS_FILE', 'C:\\me\\aws'],
    ['XAUTHORITY', '/run/user/1/xauth'],
    ['COMPASS', 'north'],
    ['PATTERN', 'sk-y'],
    ['MAIL', 'a://b c@d'],
    ['LS_COLORS', 'x='.repeat(1_000)],
  ])('keeps %s=%s', (name, value) => {
    expect(isCredential(name, value)).toBe(false)
  })

  it('is linear in the value', () => {
    const started = performance.now()
    for (const text of [':', '://', '://a', 'pwd', '; pwd', 'gho_a ', '-----BEGIN '])
      isCredential('X', text.repeat(131_072 / text.length))
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('withheldLines', () => {
  it('names what was kept back, up to twenty, clean', () => {
    expect(withheldLines([])).toEqual([])
    expect(withheldLines(['A_KEY', 'B\u001b[31m'])[0]).toMatch(/: A_KEY, B$/)
    const many = Array.from({ length: 23 }, (_, at) => `K${at}`)
    expect(withheldLines(many)[0]).toMatch(/, K18, K19, 3 more$/)
  })
})
