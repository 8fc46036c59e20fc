/** Reading foreign files: encodings, faults, entries, and which client they are of. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { detectDialect, serversOf } from '../../src/cli/import/dialects.ts'
import { openEntry } from '../../src/cli/import/entry.ts'
import { readServers } from '../../src/cli/import/file-servers.ts'
import { placesOf } from '../../src/cli/import/places.ts'
import { projectOf } from '../../src/cli/import/project.ts'
import { codeOf, parseText, position, readText } from '../../src/cli/import/source.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dsh-source-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('a file as text', () => {
  const put = async (bytes: Uint8Array | string): Promise<string> => {
    const path = join(folder, 'x.json')
    await writeFile(path, bytes)
    return path
  }

  it('drops a byte order mark, or keeps it', async () => {
    const path = await put('\ufeff{"a": "ü"}\r\n')
    expect(await readText(path)).toBe('{"a": "ü"}\r\n')
    expect(await readText(path, 'keep')).toBe('\ufeff{"a": "ü"}\r\n')
  })

  it('reads what a Windows editor calls Unicode', async () => {
    expect(await readText(await put(Buffer.from('\ufeff{"a": 1}', 'utf16le')))).toBe('{"a": 1}')
  })

  it('refuses bytes that are no text, and files that are too large', async () => {
    await expect(readText(await put(new Uint8Array([0xc3, 0x28])))).rejects.toThrow('It is not UTF-8 text')
    const path = await put('{}')
    await truncate(path, 16 * 1024 * 1024 + 1)
    await expect(readText(path)).rejects.toThrow('larger than 16 MiB')
  })

  it.skipIf(process.platform === 'win32')('does not wait for a pipe', async () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    await expect(readText(path)).rejects.toThrow('no plain file')
  })

  it('is nothing where there is no file', async () => {
    expect(await readText(join(folder, 'gone'))).toBeUndefined()
    expect(await readText(join(await put(''), 'below'))).toBeUndefined()
    await expect(readText('a\0b')).rejects.toThrow('It cannot be read (ERR_INVALID_ARG_VALUE).')
    expect(codeOf(new Error('x'))).toBe('unknown error')
  })
})

describe('a text as a value', () => {
  it('takes comments, trailing commas and CRLF', () => {
    expect(parseText('x.json', '{\r\n  // one\r\n  "a": [1, 2,], /* two */\r\n}\r\n')).toEqual({ a: [1, 2] })
    expect(parseText('x.TOML', 'a = [1, 2]\r\n')).toEqual({ a: [1, 2] })
  })

  it('keeps odd keys as own properties, and the last of equal ones', () => {
    const value = parseText('x', '{"__proto__": {"x": 1}, "a": 1, "a": null}') as object
    expect(Object.keys(value)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value).toHaveProperty('a', null)
  })

  it.each([
    ['x.json', '', 'line 1, column 1: value expected'],
    ['x.json', '{\n  "token": "sk-secret-123" "b": 1\n}', 'line 2, column 28: comma expected'],
    ['x.json', '{"token": "sk-secret-123', 'line 1, column 11: unexpected end of string'],
    ['x.toml', 'a = 1\ntoken = sk-secret-123\n', 'line 2, column 9: invalid value'],
  ])('tells the fault of %s without a piece of it', (path, text, message) => {
    expect(() => parseText(path, text)).toThrow(message)
    try {
      parseText(path, text)
    } catch (error) {
      expect(String(error)).not.toContain('secret')
    }
  })

  it.each([
    ['x.json', '['.repeat(100_000)],
    ['x.json', `${'['.repeat(70)}${']'.repeat(70)}`],
  ])('refuses what is nested without end', (path, text) => {
    expect(() => parseText(path, text)).toThrow(/nested deeper/)
  })

  it('refuses TOML that is nested without end', () => {
    expect(() => parseText('x.toml', `a = ${'['.repeat(100)}${']'.repeat(100)}`)).toThrow(/nested/)
  })

  it('counts lines of every kind', () => {
    expect(position('a\rb\r\nc\nde', 8)).toBe('line 4, column 2')
  })
})

describe('an entry', () => {
  const open = (value: unknown, notes: string[] = []) => openEntry(value, (text) => notes.push(text))

  it('takes numbers and booleans where a text belongs', () => {
    const entry = open({ a: 1, b: [true, 'x'], c: { d: 2 } })
    expect([entry.text('a'), entry.list('b'), entry.map('c')]).toEqual(['1', ['true', 'x'], [['d', '2']]])
  })

  it('leaves out what has no value, and says so', () => {
    const notes: string[] = []
    expect(open({ a: { b: null, c: 'd' }, e: null }, notes).map('a')).toEqual([['c', 'd']])
    expect(notes).toEqual(['a, entry 1, has no value and is left out.'])
    expect(open({ a: null }).text('a')).toBeUndefined()
  })

  it.each([
    [() => open([]), 'The entry is a list'],
    [() => open({ a: {} }).text('a'), 'a must be a text, not a mapping.'],
    [() => open({ a: 'x' }).list('a'), 'a must be a list, not a string.'],
    [() => open({ a: [[]] }).list('a'), 'a[0] must be a text, not a list.'],
    [() => open({ a: [] }).map('a'), 'a must be a mapping of names to values, not a list.'],
    [() => open({ a: 'true' }).flag('a'), 'a must be true or false, not a string.'],
    [() => open({ a: 0 }).positive('a'), 'a must be a number above zero.'],
    [() => open({ a: '5' }).positive('a'), 'a must be a number above zero.'],
  ])('refuses a wrong type', (read, message) => {
    expect(read).toThrow(message)
  })

  it('knows what nobody asked for', () => {
    const entry = open({ a: 1, b: 2, c: null })
    entry.raw('a')
    expect(entry.rest()).toEqual(['b'])
  })
})

describe('whose file it is', () => {
  const servers = (entry: object) => ({ mcpServers: { a: entry } })
  it.each([
    ['/x/claude_desktop_config.json', servers({ command: 'x' }), 'claude-desktop'],
    ['C:\\Users\\ada\\.cursor\\mcp.json', servers({ command: 'x' }), 'cursor'],
    ['/p/.vscode/mcp.json', servers({ command: 'x' }), 'vscode'],
    ['/p/.vscode/mcp.json', {}, 'vscode'],
    ['/x/y.json', { mcp_servers: {} }, 'codex'],
    ['/x/y.json', { servers: {} }, 'vscode'],
    ['/x/y.json', { mcp: { servers: {} } }, 'vscode'],
    ['/x/y.json', { mcp: { servers: { a: { command: ['x'] } } } }, 'opencode'],
    ['/x/y.json', { mcp: { a: { type: 'remote' } } }, 'opencode'],
    ['/x/y.json', servers({ serverUrl: 'x' }), 'windsurf'],
    ['/x/y.json', servers({ httpUrl: 'x' }), 'gemini'],
    ['/x/y.json', servers({ url: 'x' }), 'claude-code'],
    ['/x/y.json', 7, 'claude-code'],
  ])('%s', (path, value, name) => {
    expect(detectDialect(path, value).name).toBe(name)
  })

  it('takes a bare mapping of servers for a file', () => {
    const dialect = detectDialect('x.json', {})
    expect(serversOf({ a: { command: 'x' } }, dialect)).toEqual({ a: { command: 'x' } })
    expect(serversOf({ a: { b: 1 } }, dialect)).toBeUndefined()
    expect(serversOf({}, dialect)).toBeUndefined()
    expect(serversOf([], dialect)).toBeUndefined()
  })
})

describe('projects', () => {
  it.each([
    ['/p/.vscode/mcp.json', '/p'],
    ['/p/.mcp.json', '/p'],
    ['/p/opencode.jsonc', '/p'],
    ['/home/ada/.cursor/mcp.json', undefined],
    ['/home/ada/.config/opencode/opencode.json', undefined],
    ['/home/ada/.config/.mcp.json', undefined],
    ['/x/claude_desktop_config.json', undefined],
  ])('%s', (path, project) => {
    expect(projectOf(path, '/home/ada')).toBe(project)
  })
})

describe('known places', () => {
  const machine = { env: {}, cwd: '/p', home: '/h', platform: 'linux' } as const
  it('follow the system', () => {
    expect(placesOf('claude-desktop', machine)).toEqual(['/h/.config/Claude/claude_desktop_config.json'])
    expect(placesOf('claude-desktop', { ...machine, platform: 'darwin' })).toEqual([
      '/h/Library/Application Support/Claude/claude_desktop_config.json',
    ])
    const windows = { env: {}, cwd: 'C:\\p', home: 'C:\\h', platform: 'win32' } as const
    expect(placesOf('claude-desktop', windows)).toEqual([
      'C:\\h\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    ])
    expect(placesOf('vscode', { ...windows, env: { APPDATA: 'D:\\r' } })).toContain(
      'D:\\r\\Code\\User\\mcp.json',
    )
  })

  it('follow the variables of the clients', () => {
    const env = { XDG_CONFIG_HOME: '/x', CODEX_HOME: '/c' }
    expect(placesOf('opencode', { ...machine, env })).toContain('/x/opencode/opencode.jsonc')
    expect(placesOf('codex', { ...machine, env })).toEqual(['/p/.codex/config.toml', '/c/config.toml'])
  })
})

describe('servers of a file', () => {
  const read = async (path: string, value: unknown, more = {}) => {
    const around = { cwd: '/w', home: '/h', platform: 'linux', targetFolder: '/w', ...more } as const
    const [first] = await readServers(path, value, detectDialect(path, value), around)
    return first
  }
  const one = (entry: object) => ({ mcpServers: { a: entry } })

  it.each([
    [{ command: 'x', cwd: 'sub' }, ['/p/sub']],
    [{ command: 'x', cwd: '/abs' }, ['/abs']],
    [{ command: 'x', cwd: 'C:\\abs' }, ['C:\\abs']],
    [{ command: 'x', cwd: '${DIR}' }, [{ variable: 'DIR' }]],
    [{ command: 'x' }, ['/p']],
  ])('start in the folder of their project: %o', async (entry, cwd) => {
    expect(await read('/p/.mcp.json', one(entry))).toMatchObject({ server: { target: { cwd } } })
  })

  it('are left where the rows go to the project itself', async () => {
    const found = await read('/p/.mcp.json', one({ command: 'x', cwd: 'sub' }), { targetFolder: '/p' })
    expect(found).toMatchObject({ server: { target: { cwd: ['sub'] } } })
  })

  it.each([
    [
      { command: 'x', url: 'http://h' },
      { kind: 'stdio' },
      'It has a command and a URL: the command is taken.',
    ],
    [{ command: 'x', url: 'http://h', type: 'sse' }, { kind: 'http', flavour: 'sse' }, undefined],
    [{ command: 'x', type: 'http' }, { kind: 'stdio' }, undefined],
    [{ url: 'http://h', type: 'streamableHttp' }, { kind: 'http', flavour: 'streamable-http' }, undefined],
    [
      { url: 'http://h', env: { A: 'b' } },
      { kind: 'http', flavour: 'auto' },
      'env is left out: a server at a URL has no environment of ours.',
    ],
    [
      { command: 'x', enabled: false, fancy: 1, 'odd key': 1, sandbox: {}, description: 'd' },
      { kind: 'stdio' },
      'The key fancy is not known here and is left out.',
    ],
  ])('%o', async (entry, target, note) => {
    const found = await read('/x/y.json', one(entry))
    expect(found).toMatchObject({ server: { target } })
    if (note !== undefined)
      expect(found).toMatchObject({ server: { notes: expect.arrayContaining([note]) as string[] } })
  })

  it('have the variables of an envFile by name, beside their own', async () => {
    await writeFile(join(folder, 'vars.env'), 'A=1\nB=two\n')
    const path = join(folder, 'mcp_config.json')
    const found = await read(path, one({ command: 'x', env: { A: 'own' }, envFile: 'vars.env' }))
    expect(found).toMatchObject({
      server: {
        target: {
          env: [
            ['A', ['own']],
            ['B', [{ variable: 'B' }]],
          ],
        },
      },
    })
    for (const envFile of ['${env:X}', '${workspaceFolder}${env:X}', 'gone.env', '.']) {
      const found = await read(path, one({ command: 'x', envFile }))
      expect(JSON.stringify(found)).toContain('environment of the host')
    }
  })

  it('have an envFile only where they are started', async () => {
    await writeFile(join(folder, 'vars.env'), 'A=1\n')
    const found = await read(join(folder, 'mcp_config.json'), one({ url: 'http://h', envFile: 'vars.env' }))
    expect(found).toMatchObject({ server: { target: { kind: 'http' } } })
  })

  it('of VS Code have prompts beside the list or above it', async () => {
    const inputs = [{ id: 'a', default: 'x' }, { id: 1 }, 'no']
    const entry = { command: '${input:a}' }
    expect(await read('/x/mcp.json', { inputs, servers: { s: entry } })).toMatchObject({
      server: { target: { command: [{ fallback: 'x' }] } },
    })
    expect(await read('/x/mcp.json', { mcp: { inputs: {}, servers: { s: entry } } })).toMatchObject({
      server: { target: { command: [{ wanted: ['A'] }] } },
    })
  })

  it('of Gemini CLI are switched by name', async () => {
    const value = { mcp: { allowed: ['b'] }, mcpServers: { a: { httpUrl: 'http://h' } } }
    expect(await read('/x/y.json', value)).toMatchObject({ server: { isDisabled: true } })
  })

  it.each([
    [{ command: 'x', env_vars: 'A' }, 'env_vars must be a list of names.'],
    [{ command: 'x', env_vars: ['a b'] }, 'env_vars[0] must be the name of a variable.'],
    [{ url: 'http://h', bearer_token_env_var: 'a b' }, 'bearer_token_env_var must be the name of a variable'],
  ])('of Codex: %o is refused', async (entry, reason) => {
    const found = await read('config.toml', { mcp_servers: { a: entry } })
    expect(found).toMatchObject({ kind: 'fault', reason: expect.stringContaining(reason) as string })
  })

  it('of Codex have a token in the file, or variables under an own name', async () => {
    expect(
      await read('c.toml', { mcp_servers: { a: { url: 'http://h', bearer_token: 'abc' } } }),
    ).toMatchObject({
      server: { target: { headers: [['Authorization', ['Bearer abc']]] } },
    })
    const entry = { command: 'x', env: { A_KEY: 'v' }, env_vars: ['A_KEY', 'DSH_X', 'LANG'] }
    expect(await read('c.toml', { mcp_servers: { a: entry } })).toMatchObject({
      server: {
        target: {
          env: [['A_KEY', ['v']]],
          inherit: ['DSH_X'],
        },
      },
    })
  })

  it('of OpenCode need a command that is not empty', async () => {
    const found = await read('opencode.json', { mcp: { a: { type: 'local', command: [] } } })
    expect(found).toMatchObject({ kind: 'fault', reason: 'Its command is an empty list.' })
  })

  it('of OpenCode may have one limit alone', async () => {
    const entry = { type: 'remote', url: 'http://h', timeout: { startup: 5 } }
    const found = await read('opencode.json', { mcp: { servers: { a: entry } } })
    expect(found).toMatchObject({ server: { startupTimeoutMs: 5 } })
    expect(found).not.toHaveProperty('server.callTimeoutMs')
  })

  it('are not read where they are too many', async () => {
    const entries = Array.from({ length: 1001 }, (_, index) => [`s${index}`, { command: 'x' }])
    await expect(read('/x/y.json', { mcpServers: Object.fromEntries(entries) })).rejects.toThrow(
      'more than 1000',
    )
  })

  it('are none where there is no mapping', async () => {
    expect(await read('/x/y.json', 7)).toBeUndefined()
  })

  it('of Windows have its separator', async () => {
    const value = one({ command: 'x', args: ['a${/}b'] })
    expect(await read('/x/.cursor/mcp.json', value, { platform: 'win32' })).toMatchObject({
      server: { target: { args: [['a\\b']] } },
    })
  })
})
