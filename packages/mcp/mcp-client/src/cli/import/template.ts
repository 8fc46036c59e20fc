/**
 * Owns the reading of variables in foreign texts: each client has its own way to write them. What this client cannot
 * fill in, such as the answer to a prompt, becomes a wanted variable. Nothing is looked up or run here. Pure.
 */
import { basename } from 'node:path'
import type { Piece, Template } from './foreign-server.ts'
import { isGenericName, qualifiedName, variablePart } from './foreign-server.ts'

/**
 * How a client writes variables: `dollar` is `${NAME}` and `${NAME:-default}`, `editor` is `${env:NAME}` with other
 * prefixes, `bare` is also `$NAME`, `braces` is `{env:NAME}`, `none` knows no variables.
 */
export type Syntax = 'dollar' | 'editor' | 'bare' | 'braces' | 'none'

/** A prompt that an editor shows for a value. */
export interface Prompt {
  readonly isPassword: boolean
  readonly fallback?: string
}

/** What the texts of one server are read in. */
export interface Scope {
  readonly syntax: Syntax
  /** The client does not fill in `${NAME}` itself. */
  readonly isLenient: boolean
  /** Name of the client, for people. */
  readonly client: string
  /** Name of the server as the file has it. */
  readonly server: string
  /** Its legal name here: variables are called after it. */
  readonly serverName: string
  /** Folder of the project that the file belongs to, or the working directory. */
  readonly folder: string
  readonly isProject: boolean
  readonly home: string
  readonly separator: string
  readonly prompts: ReadonlyMap<string, Prompt>
  readonly note: (text: string) => void
}

const PATTERNS: Readonly<Record<Exclude<Syntax, 'none'>, RegExp>> = {
  dollar: /\$\{([^{}]*)\}/g,
  editor: /\$\{([^{}]*)\}/g,
  bare: /\$(?:\{([^{}]*)\}|([A-Za-z_]\w*))/g,
  braces: /\{((?:env|file):[^{}]+)\}/g,
}
const NAME = /^[A-Za-z_]\w*$/

/** Read one text. Literal parts stay as they are. */
export function readTemplate(text: string, scope: Scope): Template {
  if (scope.syntax === 'none') return text === '' ? [] : [text]
  if (scope.syntax !== 'braces' && /\$\{[^{}]*\$\{/.test(text)) {
    scope.note(
      'A variable inside the default of another cannot be written here: the value becomes one variable.',
    )
    return [wanted(scope, 'VALUE', `nested:${text}`, 'nested variables')]
  }
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(PATTERNS[scope.syntax])) {
    const piece = pieceOf((match[1] ?? match[2]) as string, scope)
    if (piece === undefined) continue
    push(pieces, text.slice(end, match.index))
    push(pieces, piece)
    end = match.index + match[0].length
  }
  push(pieces, text.slice(end))
  return pieces
}

/** Literal neighbours are one piece; an empty one is none. */
function push(pieces: Piece[], piece: Piece): void {
  const last = pieces.at(-1)
  if (piece === '') return
  if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece
  else pieces.push(piece)
}

/** What stands for the inside of one reference; undefined where it is none. */
function pieceOf(inside: string, scope: Scope): Piece | undefined {
  const [, prefix = '', rest = ''] = /^(\w+):(?!-)(.*)$/s.exec(inside) ?? []
  if (prefix === 'env' && scope.syntax !== 'dollar') return environmentPiece(rest, scope)
  if (prefix === 'file' && scope.syntax !== 'dollar') {
    scope.note(`The content of the file ${rest} is not read: put it into the variable.`)
    return wanted(scope, basename(rest), `file:${rest}`, `content of ${rest}`)
  }
  if (scope.syntax === 'editor') {
    const known = editorPiece(inside, prefix, rest, scope)
    if (known !== undefined) return known
  }
  return dollarPiece(inside, scope)
}

function environmentPiece(name: string, scope: Scope): Piece {
  if (NAME.test(name)) return { variable: name }
  // OpenCode and the editors take any text for a name; `${NAME}` of this client does not.
  scope.note(
    `The variable name ${JSON.stringify(name)} has characters that \${NAME} cannot carry: it is renamed.`,
  )
  return { wanted: [variablePart(name)], key: `env:${name}`, origin: `variable ${name}` }
}

function editorPiece(inside: string, prefix: string, rest: string, scope: Scope): Piece | undefined {
  switch (inside) {
    case 'workspaceFolder':
    case 'workspaceRoot':
    case 'cwd': {
      const what = scope.isProject
        ? 'the folder of the project'
        : 'the working directory, since the file is of no project'
      scope.note(`\${${inside}} is written out: ${what}.`)
      return scope.folder
    }
    case 'workspaceFolderBasename':
      return basename(scope.folder)
    case 'userHome':
      scope.note('${userHome} is written out.')
      return scope.home
    case 'pathSeparator':
    case '/':
      return scope.separator
  }
  if (prefix === '') return undefined
  if (prefix !== 'input') {
    scope.note(`\${${prefix}:…} is known to ${scope.client} alone: set the variable to what it stands for.`)
    return wanted(scope, rest, `${prefix}:${rest}`, `${prefix} ${rest}`)
  }
  const prompt = scope.prompts.get(rest)
  scope.note(
    `The prompt ${JSON.stringify(rest)} becomes a variable: nobody is asked at the start of the host.`,
  )
  return {
    wanted: [isGenericName(variablePart(rest)) ? qualifiedName(scope.serverName, rest) : variablePart(rest)],
    key: `input:${rest}`,
    origin: `prompt ${rest}`,
    ...(prompt?.fallback === undefined || prompt.isPassword ? {} : { fallback: prompt.fallback }),
  }
}

function dollarPiece(inside: string, scope: Scope): Piece | undefined {
  const [, variable, fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside) ?? []
  if (variable === undefined) return undefined
  if (scope.isLenient) {
    scope.note(
      `\${${variable}} is filled in from the environment here; ${scope.client} passes it on as written.`,
    )
  }
  return fallback === undefined ? { variable } : { variable, fallback }
}

function wanted(scope: Scope, part: string, key: string, origin: string): Piece {
  return { wanted: [qualifiedName(scope.serverName, part)], key: `${scope.server}\0${key}`, origin }
}
