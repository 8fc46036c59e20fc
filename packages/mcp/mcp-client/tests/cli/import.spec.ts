/** `dsh-mcp import` as a run: every screen, every dialect, what is written, and what never is. */
import { chmod, readFile, readdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostYaml } from './host-yaml.ts'
import { resolveConfig } from '../../src/config.ts'
import { FIXTURE_SECRETS, openDesk } from './import-run.ts'
import type { Desk } from './import-run.ts'

interface JsonRow {
  id: string
  disabled?: true
  config: Record<string, unknown> & { serverName: string }
}
interface JsonScreen {
  written: boolean
  backup?: string
  servers: { name: string; status: string; reason?: string; notes: string[]; row?: JsonRow }[]
  variables: { name: string; state: string }[]
  errors: { path: string; reason: string }[]
}

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(() => desk.remove())

const screen = (name: string): string => `fixtures/import/screens/${name}.txt`

/** Each dialect with its file and where that lies. */
const FILES = [
  ['claude-desktop', 'claude_desktop_config.json', 'home/.config/Claude/claude_desktop_config.json'],
  ['claude-code', 'claude-code.mcp.json', 'home/project/.mcp.json'],
  ['vscode', 'vscode-mcp.json', 'home/project/.vscode/mcp.json'],
  ['vscode-settings', 'vscode-settings.json', 'home/.config/Code/User/settings.json'],
  ['cursor', 'cursor-mcp.json', 'home/project/.cursor/mcp.json'],
  ['windsurf', 'windsurf-mcp_config.json', 'home/.codeium/windsurf/mcp_config.json'],
  ['codex', 'codex-config.toml', 'home/.codex/config.toml'],
  ['gemini', 'gemini-settings.json', 'home/project/.gemini/settings.json'],
  ['opencode', 'opencode.jsonc', 'home/project/opencode.jsonc'],
  ['opencode-v2', 'opencode-v2.json', 'home/.config/opencode/opencode.json'],
  ['odd-names', 'odd-names.json', 'home/project/.mcp.json'],
] as const

describe.each(FILES)('a file of %s', (name, fixture, path) => {
  beforeEach(async () => {
    await desk.place(path, fixture)
    if (name === 'vscode')
      await desk.write('home/project/.env', 'FOO_TOKEN=abc123def456\nPLAIN=1\nBAD-NAME=x\n')
  })

  it('is found in its known place and shown', async () => {
    const { code, out, err } = await desk.run({ to: '../host/cordis.yml' })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    await expect(out).toMatchFileSnapshot(screen(name))
  })

  it('becomes rows that resolve, and that the host reads as they were meant', async () => {
    const { out } = await desk.run({ json: true })
    const { servers, variables } = JSON.parse(out) as JsonScreen
    const env = Object.fromEntries(variables.map((variable) => [variable.name, 'http://value-1']))
    const rows = servers.flatMap(({ row }) => row ?? [])
    for (const { config } of rows) expect(resolveConfig(config, env).spec.serverName).toBe(config.serverName)
    await desk.run({ write: true })
    const text = await desk.read('home/project/cordis.yml')
    expect(hostYaml(text)).toEqual(rows)
  })

  it('is written once: a second import adds nothing', async () => {
    await desk.run({ write: true })
    const first = await desk.read('home/project/cordis.yml')
    const { code, out } = await desk.run({ write: true })
    expect(code).toBe(0)
    expect(out).toContain('Nothing to add to')
    expect(await desk.read('home/project/cordis.yml')).toBe(first)
    expect((await readdir(desk.cwd)).filter((file) => file.includes('.bak'))).toEqual([])
  })

  it('gives none of its credentials away', async () => {
    const texts = []
    for (const json of [false, true])
      texts.push(await desk.run({ json }), await desk.run({ json, write: true }))
    const all = JSON.stringify(texts) + (await desk.read('home/project/cordis.yml'))
    for (const secret of FIXTURE_SECRETS) expect(all).not.toContain(secret)
  })
})

describe('which files are read', () => {
  it('takes those of all known clients, and the first of servers that share a name', async () => {
    for (const [name, fixture, path] of FILES) if (name !== 'odd-names') await desk.place(path, fixture)
    const { code, out } = await desk.run({ json: true })
    const { servers } = JSON.parse(out) as JsonScreen
    expect(code).toBe(0)
    const names = servers.flatMap(({ row }) => row?.config.serverName ?? [])
    expect(new Set(names).size).toBe(names.length)
    expect(servers.filter(({ status }) => status === 'skipped').map(({ reason }) => reason)).toContain(
      'The name github is taken by the server of Claude Desktop. To take this one: --from vscode --only github',
    )
  })

  it('says so when there is none', async () => {
    const { code, out, err } = await desk.run()
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatchInlineSnapshot(`
      "No file of a known client with MCP servers is here. Name one: dsh-mcp import FILE
      "
    `)
  })

  it('passes over settings without servers, and empty files', async () => {
    await desk.write('home/project/.vscode/settings.json', '{ "editor.fontSize": 12 }')
    await desk.write('home/.cursor/mcp.json', ' \n')
    expect((await desk.run()).code).toBe(1)
    await desk.place('home/project/.mcp.json', 'odd-names.json')
    expect((await desk.run()).code).toBe(0)
  })

  it('goes on with the others when one cannot be read, and tells the place of the fault', async () => {
    await desk.write(
      'home/.cursor/mcp.json',
      '{\n  "mcpServers": {\n    "a": { "command": "x" "args": [] }\n  }\n}',
    )
    await desk.write('home/.codex/config.toml', 'a = 1\ntoken = "sk-very-secret-1234567890\n')
    await desk.place('home/project/.mcp.json', 'odd-names.json')
    const { code, out, err } = await desk.run()
    expect(code).toBe(1)
    expect(out).toContain('+ My-Server as mcp-My-Server')
    expect(err).toMatchInlineSnapshot(`
      "<tmp>/home/.cursor/mcp.json: It is no valid JSON at line 3, column 27: comma expected.
      <tmp>/home/.codex/config.toml: It is no valid TOML at line 2, column 35: control characters are not allowed in strings.
      "
    `)
    const json = JSON.parse((await desk.run({ json: true })).out) as JsonScreen
    expect(json.errors).toHaveLength(2)
  })

  it('reads a named file by what it holds, or as the named client', async () => {
    const path = await desk.place('home/somewhere.json', 'windsurf-mcp_config.json')
    expect((await desk.run({ from: path })).out).toContain('Windsurf: <tmp>')
    expect((await desk.run({ from: '../somewhere.json' })).out).toContain('Windsurf: <tmp>')
    expect((await desk.run({ from: 'claude-code', file: path })).out).toContain('Claude Code: <tmp>')
    expect((await desk.run({ file: path })).out).toContain('Windsurf: <tmp>')
  })

  it.each([
    [{ from: 'netscape' }, 2],
    [{ from: 'a/b.json', file: 'c.json' }, 2],
    [{ from: 'cursor', only: ['nobody'] }, 2],
    [{ from: './gone.json' }, 1],
    [{ from: 'opencode' }, 1],
  ])('refuses %o with %i', async (options, code) => {
    await desk.place('home/.cursor/mcp.json', 'cursor-mcp.json')
    const result = await desk.run(options)
    expect(result).toMatchObject({ code, out: '' })
    expect(result.err).toMatchSnapshot()
  })

  it('tells a named file without servers', async () => {
    const path = await desk.write('home/x.json', '{}')
    expect(await desk.run({ from: path })).toEqual({
      code: 1,
      out: '',
      err: '<tmp>/home/x.json: It has no MCP servers.\n',
    })
    expect((await desk.run({ from: path, json: true })).out).toContain('It has no MCP servers.')
  })

  it('ends with 1 when no server can be taken', async () => {
    const path = await desk.write('home/x.json', '{ "mcpServers": { "a": {} } }')
    const { code, out } = await desk.run({ from: path })
    expect(code).toBe(1)
    expect(out).toContain('! a: It has no command and no URL.')
  })

  it('takes only the servers that are named, under the names they have in a whole import', async () => {
    await desk.place('home/project/.mcp.json', 'odd-names.json')
    const { out } = await desk.run({ only: ['My Server', 'server-2'], json: true })
    const { servers, variables } = JSON.parse(out) as JsonScreen
    expect(servers.map(({ row }) => row?.id)).toEqual(['mcp-My-Server-2', 'mcp-server-2'])
    expect(variables.map(({ name }) => name)).toEqual(['SERVER_2_API_KEY'])
  })

  it('reads the servers that Claude Code keeps for this project', async () => {
    const projects = {
      [desk.cwd]: { mcpServers: { here: { command: 'a' } } },
      '/elsewhere': { mcpServers: { there: { command: 'b' } } },
    }
    await desk.write('home/.claude.json', JSON.stringify({ projects, mcpServers: { all: { command: 'c' } } }))
    const { servers } = JSON.parse((await desk.run({ json: true })).out) as JsonScreen
    expect(servers.map(({ name }) => name)).toEqual(['all', 'here'])
  })
})

const EXISTING = `# My host.
- id: llm   # the model
  name: '@deepseek-ai/dsh-llm'
  disabled: !!js '!process.env.KEY'

- id: mcp-github
  name: '@deepseek-ai/dsh-mcp-client'
  config:
    serverName: github
    command: npx
    env: { GITHUB_TOKEN: ghp_AnOldTokenThatIsStillInTheFile1234 }
# the end
`

describe('a file with hidden characters', () => {
  it('is shown as it would be written, and its path as well', async () => {
    const servers = {
      one: { command: 'npx', args: ['-y', 'x\u202e', '\u{e0041}'] },
      two: { command: 'npx', args: ['-y', 'plain'] },
    }
    await desk.write('home/project/.mcp.json', JSON.stringify({ mcpServers: servers }))
    const { out } = await desk.run({})
    expect(out).toContain(String.raw`args: ['-y', 'x\u202e', '\u{e0041}']`)
    expect(out.match(/It holds hidden characters/g)).toHaveLength(1)
    const json = (await desk.run({ json: true })).out
    expect(json).toMatch(/^[\n -~]*$/)
    expect((JSON.parse(json) as JsonScreen).servers[0]?.row?.config['args']).toEqual(servers.one.args)
    const { err } = await desk.run({ from: 'gone\u001b[31m.json' })
    expect(err).toContain(String.raw`gone\u001b[31m.json: There is no such file.`)
  })
})

describe('the file that rows go to', () => {
  beforeEach(() => desk.place('home/.config/Claude/claude_desktop_config.json', 'claude_desktop_config.json'))

  it('keeps every byte of what it had, and its mode, with a backup beside it', async () => {
    const path = await desk.write('home/project/cordis.yml', EXISTING)
    await chmod(path, 0o666)
    const { code, out } = await desk.run({ write: true })
    expect(code).toBe(0)
    await expect(out).toMatchFileSnapshot(screen('written'))
    const text = await desk.read('home/project/cordis.yml')
    expect(text.startsWith(`${EXISTING}\n- id: mcp-filesystem\n`)).toBe(true)
    expect((await stat(path)).mode & 0o777).toBe(0o666)
    expect(await desk.read('home/project/cordis.yml.bak')).toBe(EXISTING)
    expect((await stat(`${path}.bak`)).mode & 0o777).toBe(0o666)
  })

  it('shows the end of what was there without its credentials', async () => {
    await desk.write('home/project/cordis.yml', EXISTING)
    const { out } = await desk.run({ only: ['fetch'] })
    expect(out).not.toContain('ghp_AnOldToken')
    await expect(out).toMatchFileSnapshot(screen('diff'))
  })

  it('keeps ids apart, whatever they belong to', async () => {
    await desk.write('home/project/cordis.yml', '- id: mcp-fetch\n  name: other\n')
    const { out } = await desk.run({ only: ['fetch'] })
    expect(out).toContain('= fetch: The id mcp-fetch is in the file already.')
  })

  it('costs one server where its row would be refused', async () => {
    const path = await desk.write(
      'home/x.json',
      '{ "mcpServers": { "a": { "url": "unix:///x" }, "b": { "url": "http://h" } } }',
    )
    const { code, out } = await desk.run({ from: path })
    expect(code).toBe(0)
    expect(out).toContain('! a: The row would be refused: url must be an absolute URL')
    expect(out).toContain('+ b as mcp-b')
  })

  it('lets a fault of our own go on', async () => {
    const platform = { toString: null } as unknown as NodeJS.Platform
    await expect(desk.run({ cwd: 7 as unknown as string, platform })).rejects.toThrow(TypeError)
  })

  it('numbers backups and never replaces one', async () => {
    await desk.write('home/project/cordis.yml', EXISTING)
    await desk.write('home/project/cordis.yml.bak', 'mine')
    await desk.run({ write: true, only: ['fetch'] })
    const { out } = await desk.run({ write: true, only: ['notion'], json: true })
    expect((JSON.parse(out) as JsonScreen).backup).toBe('<tmp>/home/project/cordis.yml.bak.2')
    expect(await desk.read('home/project/cordis.yml.bak')).toBe('mine')
    expect(await desk.read('home/project/cordis.yml.bak.1')).toBe(EXISTING)
  })

  it('writes through a link', async () => {
    await desk.write('home/real.yml', EXISTING)
    await symlink(join(desk.home, 'real.yml'), join(desk.cwd, 'cordis.yml'))
    await desk.run({ write: true, only: ['fetch'] })
    expect(await desk.read('home/real.yml')).toContain('mcp-fetch')
    expect(await readFile(join(desk.cwd, 'cordis.yml'), 'utf8')).toContain('mcp-fetch')
  })

  it('is not written when it does not parse', async () => {
    const broken = '- id: a\n  name: "b\n'
    await desk.write('home/project/cordis.yml', broken)
    const { code, out, err } = await desk.run({ write: true })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatchInlineSnapshot(`
      "<tmp>/home/project/cordis.yml: It is no valid YAML at line 3, column 1 (missing char).
      "
    `)
    expect(await desk.read('home/project/cordis.yml')).toBe(broken)
  })

  it('takes rows below an insert of a layer of patches', async () => {
    await desk.write('home/project/cordis.patch.yml', '# Mine.\n[]\n')
    await desk.run({ to: 'cordis.patch.yml', write: true, only: ['fetch'] })
    await desk.run({ to: 'cordis.patch.yml', write: true, only: ['everything'] })
    expect(await desk.read('home/project/cordis.patch.yml')).toMatchInlineSnapshot(`
      "# Mine.
      - insert:
          - id: mcp-fetch
            name: '@deepseek-ai/dsh-mcp-client'
            config:
              serverName: fetch
              transport: stdio
              command: uvx
              args: [mcp-server-fetch, '--user-agent', ModelContextProtocol/1.0]

          - id: mcp-everything
            name: '@deepseek-ai/dsh-mcp-client'
            config:
              serverName: everything
              transport: stdio
              command: npx
              args: ['-y', '@modelcontextprotocol/server-everything']
      "
    `)
  })

  it('says which variables are set, and which to another value than the file has', async () => {
    const env = { GITHUB_PERSONAL_ACCESS_TOKEN: 'other', OPENAPI_MCP_HEADERS: '', WINSOME_HOME: '/w' }
    const { out } = await desk.run({ env, json: true })
    const states = Object.fromEntries(
      (JSON.parse(out) as JsonScreen).variables.map(({ name, state }) => [name, state]),
    )
    expect(states).toMatchObject({
      GITHUB_PERSONAL_ACCESS_TOKEN: 'differs',
      OPENAPI_MCP_HEADERS: 'differs',
      WINSOME_HOME: 'set',
      FIGMA_API_KEY: 'unset',
    })
    const text = await desk.run({ env })
    expect(text.out).toContain('set to another value')
  })
})
