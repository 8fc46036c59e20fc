/** Owns the tests of how `/mcp` reads its line. */
import { describe, expect, it } from 'vitest'
import { parseLine } from '../../src/commands-line.ts'

const NAMES = ['files', 'GitHub', 'tools']
const server = (serverName: string, verb: string, ...rest: string[]): object => ({
  kind: 'server',
  serverName,
  verb,
  rest,
})

describe('a line of /mcp', () => {
  it.each([
    ['', { kind: 'overview' }],
    ['  \n ', { kind: 'overview' }],
    ['list', { kind: 'overview' }],
    ['status', { kind: 'overview' }],
    ['help', { kind: 'help' }],
    ['--help', { kind: 'help' }],
    ['files', server('files', 'show')],
    ['FILES', server('files', 'show')],
    ['github', server('GitHub', 'show')],
    ['status files', server('files', 'show')],
    ['files restart', server('files', 'restart')],
    ['restart files', server('files', 'restart')],
    ['reconnect files', server('files', 'restart')],
    ['files Tools', server('files', 'tools')],
    ['files approve read', server('files', 'approve', 'read')],
    ['approve files read', server('files', 'approve', 'read')],
    ['files auth', server('files', 'login')],
    ['tools', server('tools', 'show')],
    ['tools tools', server('tools', 'tools')],
    ['tools restart', server('tools', 'restart')],
  ])('%j', (line, request) => expect(parseLine(line, NAMES)).toEqual(request))

  it.each([
    ['fils', 'No MCP server is called "fils". Did you mean "files"? There are: files, GitHub, tools.'],
    [
      'restart fils',
      'No MCP server is called "fils". Did you mean "files"? There are: files, GitHub, tools.',
    ],
    ['nothing-like-it', 'No MCP server is called "nothing-like-it". There are: files, GitHub, tools.'],
    ['restart', 'Which server? /mcp SERVER restart. There are: files, GitHub, tools.'],
    [
      'resart files',
      '"resart" is nothing that /mcp can do with a server. Did you mean "restart"? /mcp help lists what it can.',
    ],
    [
      'files constructor',
      '"constructor" is nothing that /mcp can do with a server. /mcp help lists what it can.',
    ],
    [
      `${'x'.repeat(99)}\u001b[31m`,
      `No MCP server is called "${'x'.repeat(63)}…". There are: files, GitHub, tools.`,
    ],
  ])('%j is answered with what is near', (line, text) => {
    expect(parseLine(line, NAMES)).toEqual({ kind: 'refused', text })
  })

  it('needs no name where there is one server', () => {
    expect(parseLine('restart', ['files'])).toEqual(server('files', 'restart'))
    expect(parseLine('tools', ['files'])).toEqual(server('files', 'tools'))
  })

  it('says so where there is none', () => {
    const text = 'No MCP server is called "files". No MCP server is configured.'
    expect(parseLine('files', [])).toEqual({ kind: 'refused', text })
    expect(parseLine('restart', [])).toMatchObject({ kind: 'refused' })
  })

  it('does not choose between names that differ in case alone', () => {
    expect(parseLine('FILES', ['files', 'Files'])).toMatchObject({ kind: 'refused' })
    expect(parseLine('Files', ['files', 'Files'])).toEqual(server('Files', 'show'))
  })
})
