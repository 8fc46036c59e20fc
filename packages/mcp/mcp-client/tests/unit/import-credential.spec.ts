/** What looks like a credential, and what becomes of it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conceal, searchable } from '../../src/cli/import/conceal.ts'
import { credentialSpans, isCredential } from '../../src/cli/import/credential.ts'
import {
  ImportFault,
  faultOf,
  literal,
  placeText,
  qualifiedName,
  variablePart,
} from '../../src/cli/import/foreign-server.ts'
import type { ForeignServer, ForeignTarget, Place, Template } from '../../src/cli/import/foreign-server.ts'
import { makeRow } from '../../src/cli/import/row.ts'
import { nameVariables } from '../../src/cli/import/variables.ts'

const parts = (text: string, place: Place): string[] =>
  credentialSpans(text, place).map(({ start, end }) => text.slice(start, end))

describe('values under a name', () => {
  it.each([
    ['API_KEY', 'abc'],
    ['USE_PASSWORD', 'false'],
    ['SPIN', '12'],
    ['GITHUB_TOKEN', 'true'],
    ['MAX_TOKENS', '4096'],
    ['SESSION_TIMEOUT', '3600'],
    ['TOKEN_FILE', '/run/secrets/token'],
    ['AUTH_TYPE', 'oauth2-device'],
    ['AUTH_URL', 'https://login.example.com/oauth/authorize'],
    ['LOG_LEVEL', 'information'],
    ['MODEL', 'text-embedding-3-small'],
    ['BASE_URL', 'https://api.example.com/v1/things'],
    ['NOTION_VERSION', '2022-06-28'],
    ['DIRS', '/Users/ada/Documents:/tmp'],
    ['EMAIL', 'ada@example.com'],
    ['IMAGE', 'mcp/github@sha256:0f3c1b2a4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8'],
    ['LETTERS', 'abcdefghijklmnopqrstuvwxyzabcdefgh'],
    ['FLAGS', '--max-old-space-size=4096 --enable-source-maps'],
  ])('%s is plain', (name, value) => {
    expect(isCredential(name, value)).toBe(false)
  })

  it.each([
    ['API_KEY', 'correct horse'],
    ['PASSWORD', 'abc'],
    ['SECRET', 'zz9'],
    ['DB_PASSWORD', 'a'],
    ['db-passwd', 'none'],
    ['CREDENTIALS', 'zz'],
    ['MYSQL_PWD', 'x'],
    ['PIN', '1234'],
    ['DB_PASSWORD', '12345678'],
    ['TOKEN', '1234'],
    ['AUTH_URL', 'https://user:pa55word@login.example.com/'],
    ['TOKEN_FILE', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
    ['DATABASE', 'postgres://app:pa55word@db/app'],
    ['EXTRA', 'sk-ant-api03-abcdefgh'],
    ['EXTRA', 'xoxb-123456789012-abcdef'],
    ['EXTRA', 'AKIAIOSFODNN7EXAMPLE'],
    ['HEADERS', '{"Authorization": "Bearer abcdef"}'],
    ['OPTIONS', 'host=x password=hunter22'],
    ['CERT', '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----'],
    ['TENANT', '4f1c7a52-90ab-4cde-8f01-23456789abcd'],
    ['EXTRA', 'a1b2c3d4e5f6a7b8'],
    ['EXTRA', 'QWxhZGRpbjpvcGVuU2VzYW1lQWxhZGRpbjpvcGVu'],
  ])('%s %s is a credential', (name, value) => {
    expect(isCredential(name, value)).toBe(true)
  })
})

describe('places', () => {
  const argument = (before = ''): Place => ({ kind: 'argument', index: 0, before })
  it.each<[string, Place, string[]]>([
    ['Bearer abcdef', { kind: 'header', name: 'Authorization' }, ['abcdef']],
    ['abc def', { kind: 'header', name: 'X-Api-Key' }, ['abc def']],
    ['acme', { kind: 'header', name: 'X-Tenant' }, []],
    ['--api-key=abcdef', argument(), ['abcdef']],
    ['API_KEY=abcdef', argument('-e'), ['abcdef']],
    ['Authorization: Bearer abcdef', argument('--header'), ['abcdef']],
    ['Authorization:Bearer abcdef', argument('-H'), ['abcdef']],
    ['abcdef', argument('--token'), ['abcdef']],
    ['-v', argument('--token'), []],
    ['abcdef', argument('--name'), []],
    ['--db=postgres://u:pa55word@h/d', argument(), ['postgres://u:pa55word@h/d']],
    ['postgres://u:pa55word@h/d', argument(), ['postgres://u:pa55word@h/d']],
    ['https://mcp.example.com/sse', argument(), []],
    ['/home/ada/a1b2c3d4e5f6a7b8c9', argument(), []],
    ['@scope/server-name@1.2.3', argument('-y'), []],
    ['github:ada/server#0123456789abcdef0123456789abcdef01234567', argument(), []],
    ['sk-abcdefgh12345678', argument(), ['sk-abcdefgh12345678']],
    ['C:\\keys\\a1b2c3d4e5f6a7b8', argument(), []],
    ['/opt/bin/server', { kind: 'command' }, []],
    ['sk-abcdefgh12345678', { kind: 'cwd' }, ['sk-abcdefgh12345678']],
    ['https://h/mcp?api_key=abcdef&tools=search', { kind: 'url' }, ['abcdef']],
    ['https://h/mcp?a%5Fkey=x1y2z3w4v5&b=abc', { kind: 'url' }, ['x1y2z3w4v5']],
    ['https://h/s/Zm9vYmFyMTIzNDU2/mcp', { kind: 'url' }, ['Zm9vYmFyMTIzNDU2']],
    ['https://h/mcp#token=abcdefgh', { kind: 'url' }, ['token=abcdefgh']],
    ['https://h:8080/mcp?debug=true#top', { kind: 'url' }, []],
  ])('%s', (text, place, expected) => {
    expect(parts(text, place)).toEqual(expected)
  })

  it('have words that repeat no odd name', () => {
    expect(placeText({ kind: 'env', name: 'A B' })).toBe('env')
    expect(placeText({ kind: 'header', name: 'A B' })).toBe('header')
    expect(placeText({ kind: 'url' })).toBe('url')
  })
})

describe('what is shared', () => {
  it('makes no piece of an empty text', () => {
    expect(literal('')).toEqual([])
  })

  it('lets a fault of our own go on', () => {
    expect(faultOf(new ImportFault('x')).message).toBe('x')
    expect(() => faultOf(new TypeError('ours'))).toThrow(TypeError)
  })
})

describe('variable names', () => {
  it.each([
    ['X-Api-Key', 'X_API_KEY'],
    ['apiKey', 'API_KEY'],
    ['1st', 'MCP_1ST'],
    ['日本', 'VALUE'],
  ])('%s', (text, name) => {
    expect(variablePart(text)).toBe(name)
  })

  it('do not say the server twice', () => {
    expect(qualifiedName('figma', 'figma-api-key')).toBe('FIGMA_API_KEY')
    expect(qualifiedName('jira', 'jira')).toBe('JIRA')
  })
})

function stdio(name: string, more: Partial<ForeignTarget & { kind: 'stdio' }> = {}): ForeignServer {
  const target = { kind: 'stdio', command: ['npx'], args: [], env: [], ...more } as const
  return { name, serverName: name, target, isDisabled: false, notes: [] }
}
function http(name: string, url: Template, headers: [string, Template][] = []): ForeignServer {
  const target = { kind: 'http', flavour: 'auto', url, headers } as const
  return { name, serverName: name, target, isDisabled: false, notes: [] }
}
function rowOf(...servers: ForeignServer[]): {
  configs: Record<string, unknown>[]
  names: string[]
  notes: string[]
} {
  const named = nameVariables(conceal(servers).servers, {})
  return {
    configs: named.servers.map((server) => makeRow(server).row.config),
    names: named.variables.map(({ name }) => name),
    notes: named.servers.flatMap(({ notes }) => notes),
  }
}

describe('conceal', () => {
  it('shares a variable where the value is the same, and parts them where it is not', () => {
    const env = (value: string) => ({ env: [['GITHUB_TOKEN', literal(value)]] as const })
    const { configs, names } = rowOf(
      stdio('a', env('secret-of-one')),
      stdio('b', env('secret-of-one')),
      stdio('c', env('secret-of-two')),
      stdio('c_GITHUB', { env: [['TOKEN', literal('secret-of-three')]] }),
    )
    expect(configs.map((config) => Object.values(config['env'] as object)[0] as string)).toEqual([
      '${GITHUB_TOKEN}',
      '${GITHUB_TOKEN}',
      '${C_GITHUB_TOKEN}',
      '${C_GITHUB_TOKEN_2}',
    ])
    expect(names).toEqual(['GITHUB_TOKEN', 'C_GITHUB_TOKEN', 'C_GITHUB_TOKEN_2'])
  })

  it('does not take the name of a variable that a file reads', () => {
    const { configs } = rowOf(
      stdio('a', { env: [['GITHUB_TOKEN', literal('secret-of-one')]] }),
      stdio('b', { env: [['GITHUB_TOKEN', [{ variable: 'GITHUB_TOKEN' }]]] }),
    )
    expect(configs[0]?.['env']).toEqual({ GITHUB_TOKEN: '${A_GITHUB_TOKEN}' })
  })

  it('finds a credential again wherever it stands', () => {
    const { configs } = rowOf(
      stdio('a', {
        args: [literal('mixed:my-secret-9:x my-secret-9')],
        env: [['A_TOKEN', literal('my-secret-9')]],
      }),
    )
    expect(configs[0]?.['args']).toEqual(['mixed:${A_TOKEN}:x ${A_TOKEN}'])
  })

  it('drops a default that is a credential or that cannot be written', () => {
    const { configs, notes } = rowOf(
      stdio('a', {
        env: [
          ['A_TOKEN', [{ variable: 'A', fallback: 'secret-of-one' }]],
          ['B', [{ variable: 'B', fallback: 'a{b' }]],
          ['C', [{ variable: 'C', fallback: 'plain' }]],
          ['D', [{ wanted: ['D'], key: 'd', origin: 'x', fallback: 'sk-abcdefgh12345678' }]],
          ['E', [{ variable: 'E_TOKEN', fallback: '' }]],
        ],
      }),
    )
    expect(configs[0]?.['env']).toEqual({
      A_TOKEN: '${A}',
      B: '${B}',
      C: '${C:-plain}',
      D: '${D}',
      E: '${E_TOKEN:-}',
    })
    expect(notes).toHaveLength(3)
  })

  it('makes one variable of a text that is part credential, part variable', () => {
    const { configs, notes } = rowOf(
      stdio('a', {
        env: [
          ['DB_PASSWORD', ['hunter22', { variable: 'X' }]],
          ['AUTHORIZATION', ['Bearer ', { variable: 'X' }]],
          ['BASE_AUTH_URL', ['https://example.com/', { variable: 'X' }]],
        ],
        args: [['sk-abcdefgh12345678', { variable: 'X' }]],
      }),
    )
    expect(configs[0]).toMatchObject({
      env: {
        DB_PASSWORD: '${DB_PASSWORD}',
        AUTHORIZATION: 'Bearer ${X}',
        BASE_AUTH_URL: 'https://example.com/${X}',
      },
      args: ['${A_VALUE}'],
    })
    expect(notes).toHaveLength(2)
  })

  it('judges the parts of a URL beside its variables', () => {
    const { configs } = rowOf(
      http('a', [{ variable: 'BASE' }, '/mcp?api_key=abcdef12&v=', { variable: 'V' }]),
    )
    expect(configs[0]?.['url']).toBe('${BASE}/mcp?api_key=${A_API_KEY}&v=${V}')
  })

  it('moves user info into a header', () => {
    const { configs, names } = rowOf(
      http('a', ['https://user:pa55word@h.example/mcp'], [['authorization', literal('Bearer other-secret')]]),
    )
    expect(configs[0]).toMatchObject({
      url: 'https://h.example/mcp',
      headers: { Authorization: 'Basic ${A_BASIC_AUTH}' },
    })
    expect(names).toEqual(['A_BASIC_AUTH'])
  })

  it('makes one variable of a $ before a reference, which would be an escape', () => {
    const { configs } = rowOf(stdio('a', { args: [['US$', { variable: 'PRICE' }], ['$'], ['$', 'x']] }))
    expect(configs[0]?.['args']).toEqual(['${A_VALUE}', '$', '$x'])
  })

  it('leaves common words out of what is searched for', () => {
    expect(searchable(['abc', 'true', 'secret-of-one'])).toEqual(['secret-of-one'])
  })
})

it('no credential survives, wherever it stands', () => {
  const secret = fc
    .stringMatching(/^[A-Za-z0-9]{12,40}$/)
    .filter((text) => /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text))
  const noise = fc.stringMatching(/^[a-z ]{0,8}$/)
  const wrap = fc.constantFrom<(value: string) => Partial<ForeignTarget & { kind: 'stdio' }>>(
    (value) => ({ env: [['SOME_TOKEN', literal(value)]] }),
    (value) => ({ env: [['AUTH_HEADER', literal(`Bearer ${value}`)]] }),
    (value) => ({ args: [literal('--api-key'), literal(value)] }),
    (value) => ({ args: [literal(`--password=${value}`)] }),
    (value) => ({ args: [literal(`postgres://app:${value}@db/app`)] }),
    (value) => ({ args: [literal('-e'), literal(`X_SECRET=${value}`)] }),
    (value) => ({ args: [literal('--header'), literal(`Authorization: Bearer ${value}`)] }),
  )
  fc.assert(
    fc.property(secret, noise, wrap, (value, text, place) => {
      const target = place(value)
      const other = stdio('other', {
        args: [literal(`${text}${value}${text}`)],
        env: [['NOTE', literal(value)]],
      })
      const shown = JSON.stringify(rowOf(stdio('one', target), other))
      expect(shown).not.toContain(value)
    }),
    { numRuns: 300 },
  )
})

describe('variables that the file reads already', () => {
  it.each([
    ['env:\n  GITHUB_TOKEN: "${GH_TOKEN}"', 'KIT_GH_TOKEN'],
    ['env:\n  GITHUB_TOKEN: ${GH_TOKEN:-none}', 'KIT_GH_TOKEN'],
    ['env:\n  GITHUB_TOKEN: !!js process.env.GH_TOKEN', 'KIT_GH_TOKEN'],
    ["env:\n  GITHUB_TOKEN: !!js process.env['GH_TOKEN']", 'KIT_GH_TOKEN'],
    ['# GH_TOKEN is not read here', 'GH_TOKEN'],
  ])('are not given to another value: %s', (text, expected) => {
    const servers = conceal([
      stdio('kit', { env: [['GH_TOKEN', literal('ghp_16C7e42F292c6912E7710c838347Ae178B4a')]] }),
    ])
    const { variables } = nameVariables(servers.servers, {}, text)
    expect(variables.map(({ name }) => name)).toEqual([expected])
  })
})
