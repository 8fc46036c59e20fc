/** Variables in the texts of other clients. */
import { describe, expect, it } from 'vitest'
import { readTemplate } from '../../src/cli/import/template.ts'
import type { Prompt, Scope, Syntax } from '../../src/cli/import/template.ts'

function scopeOf(syntax: Syntax, more: Partial<Scope> = {}): { scope: Scope; notes: string[] } {
  const notes: string[] = []
  const scope: Scope = {
    syntax,
    isLenient: false,
    client: 'Client',
    server: 'My Server',
    serverName: 'my-server',
    folder: '/srv/app',
    isProject: true,
    home: '/home/ada',
    separator: '/',
    prompts: new Map<string, Prompt>(),
    note: (text) => notes.push(text),
    ...more,
  }
  return { scope, notes }
}

const read = (syntax: Syntax, text: string, more?: Partial<Scope>) =>
  readTemplate(text, scopeOf(syntax, more).scope)

describe('plain texts', () => {
  it.each(['dollar', 'editor', 'bare', 'braces', 'none'] as const)('stay as they are in %s', (syntax) => {
    expect(read(syntax, 'a $ {b} c$')).toEqual(['a $ {b} c$'])
    expect(read(syntax, '')).toEqual([])
  })

  it('stay whole where a client knows no variables', () => {
    expect(read('none', '${A} {env:B} $C')).toEqual(['${A} {env:B} $C'])
  })
})

describe('${NAME}', () => {
  it.each([
    ['${A}', [{ variable: 'A' }]],
    ['x${A}y${B:-b c}', ['x', { variable: 'A' }, 'y', { variable: 'B', fallback: 'b c' }]],
    ['${A:-}', [{ variable: 'A', fallback: '' }]],
    ['${A B} ${1} ${} ${env:X}', ['${A B} ${1} ${} ${env:X}']],
    ['${A}${B}', [{ variable: 'A' }, { variable: 'B' }]],
  ])('reads %s', (text, pieces) => {
    expect(read('dollar', text)).toEqual(pieces)
  })

  it('makes one variable of a default that holds another', () => {
    const { scope, notes } = scopeOf('dollar')
    expect(readTemplate('${A:-${B}}', scope)).toMatchObject([{ wanted: ['MY_SERVER_VALUE'] }])
    expect(notes).toHaveLength(1)
  })

  it('is told where the other client does not fill it in', () => {
    const { scope, notes } = scopeOf('editor', { isLenient: true })
    expect(readTemplate('${A:-b}', scope)).toEqual([{ variable: 'A', fallback: 'b' }])
    expect(notes).toEqual(['${A} is filled in from the environment here; Client passes it on as written.'])
  })
})

describe('an editor', () => {
  it.each([
    ['${env:A}', [{ variable: 'A' }]],
    ['${workspaceFolder}/x', ['/srv/app/x']],
    ['${workspaceRoot}${cwd}', ['/srv/app/srv/app']],
    ['${workspaceFolderBasename}', ['app']],
    ['${userHome}${/}x${pathSeparator}y', ['/home/ada/x/y']],
    ['a${userHome}${env:B}c', ['a/home/ada', { variable: 'B' }, 'c']],
  ])('reads %s', (text, pieces) => {
    expect(read('editor', text)).toEqual(pieces)
  })

  it('makes variables of prompts, with their default where it is no password', () => {
    const prompts = new Map<string, Prompt>([
      ['apiKey', { isPassword: true, fallback: 'never' }],
      ['region', { isPassword: false, fallback: 'eu' }],
    ])
    expect(read('editor', '${input:apiKey}', { prompts })).toEqual([
      { wanted: ['MY_SERVER_API_KEY'], key: 'input:apiKey', origin: 'prompt apiKey' },
    ])
    expect(read('editor', '${input:region}', { prompts })).toMatchObject([
      { wanted: ['REGION'], fallback: 'eu' },
    ])
    expect(read('editor', '${input:other}', { prompts })).toMatchObject([{ wanted: ['OTHER'] }])
  })

  it('makes variables of what only the editor knows', () => {
    const { scope, notes } = scopeOf('editor')
    expect(readTemplate('${command:ext.pick} ${config:a.b} ${file:/k/token.txt}', scope)).toMatchObject([
      { wanted: ['MY_SERVER_EXT_PICK'] },
      ' ',
      { wanted: ['MY_SERVER_A_B'] },
      ' ',
      { wanted: ['MY_SERVER_TOKEN_TXT'] },
    ])
    expect(notes).toHaveLength(3)
  })

  it('renames variables that ${NAME} cannot carry', () => {
    expect(read('editor', '${env:ProgramFiles(x86)}')).toEqual([
      { wanted: ['PROGRAM_FILES_X86'], key: 'env:ProgramFiles(x86)', origin: 'variable ProgramFiles(x86)' },
    ])
  })

  it('says which folder is meant where the file is of no project', () => {
    const { scope, notes } = scopeOf('editor', { isProject: false })
    readTemplate('${workspaceFolder}', scope)
    expect(notes[0]).toContain('the working directory')
  })
})

describe('other clients', () => {
  it.each([
    ['$A-$B_1x', [{ variable: 'A' }, '-', { variable: 'B_1x' }]],
    ['${A} $5 $', [{ variable: 'A' }, ' $5 $']],
    ['${A:-b}', [{ variable: 'A', fallback: 'b' }]],
  ])('Gemini CLI: %s', (text, pieces) => {
    expect(read('bare', text)).toEqual(pieces)
  })

  it('OpenCode', () => {
    expect(read('braces', 'x {env:A}{file:~/.keys/my-server} ${A} {other:A}')).toMatchObject([
      'x ',
      { variable: 'A' },
      { wanted: ['MY_SERVER'], key: 'My Server\0file:~/.keys/my-server' },
      ' ${A} {other:A}',
    ])
  })
})
