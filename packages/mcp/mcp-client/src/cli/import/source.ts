/**
 * Owns the reading of one foreign file: bounded, as text of any of the usual encodings, JSON with comments and trailing
 * commas, or TOML. A fault of syntax is told by line and column, never by a piece of the file, which holds secrets.
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Node, ParseError } from 'jsonc-parser'
import { TomlError, parse as parseToml } from 'smol-toml'
import { ImportFault } from './foreign-server.ts'

/** Claude Code keeps its history beside its servers, in one file. */
const MAX_BYTES = 16 * 1024 * 1024
/** Without waiting for the writer of a pipe. Windows has no such flag: no bit of it. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK
/** Deeper than any configuration; a recursive parser ends at some thousand. */
const MAX_DEPTH = 64

/**
 * Read a file as text. Undefined where there is none. A byte order mark is kept where the text is written back. Throws
 * ImportFault.
 */
export async function readText(path: string, mark: 'drop' | 'keep' = 'drop'): Promise<string | undefined> {
  let bytes: Buffer | undefined
  try {
    bytes = await readBounded(path)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ImportFault(`It cannot be read (${code}).`)
  }
  if (bytes === undefined)
    throw new ImportFault(`It is larger than ${MAX_BYTES / 1024 / 1024} MiB, or no plain file.`)
  return decode(bytes, mark === 'keep')
}

/** Parse a text by the ending of its file: `.toml` is TOML, all else JSON. Throws ImportFault. */
export function parseText(path: string, text: string): unknown {
  return /\.toml$/i.test(path) ? tomlValue(text) : jsonValue(text)
}

/** The code of a file system error, such as `EACCES`. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unknown error'
}

async function readBounded(path: string): Promise<Buffer | undefined> {
  const handle = await open(path, READ_FLAGS)
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

function decode(bytes: Buffer, ignoreBOM: boolean): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM }).decode(bytes)
  } catch {
    throw new ImportFault('It is not UTF-8 text; save it as UTF-8.')
  }
}

function jsonValue(text: string): unknown {
  const errors: ParseError[] = []
  const tree = treeOf(text, errors)
  const [first] = errors
  if (first !== undefined) {
    const what = words(printParseErrorCode(first.error))
    throw new ImportFault(`It is no valid JSON at ${position(text, first.offset)}: ${what}.`)
  }
  /* v8 ignore next -- without an error there is a tree */
  if (tree === undefined) return undefined
  return valueOf(tree, 0)
}

function treeOf(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true })
  } catch {
    throw tooDeep() // the parser has no other way to fail than the end of the stack
  }
}

/** Own properties only, also for a key such as `__proto__`; the last of equal keys counts. */
function valueOf(node: Node, depth: number): unknown {
  if (depth > MAX_DEPTH) throw tooDeep()
  const children = node.children ?? []
  if (node.type === 'array') return children.map((child) => valueOf(child, depth + 1))
  if (node.type !== 'object') return node.value as unknown
  const result: Record<string, unknown> = {}
  for (const { children: [key, value] = [] } of children) {
    /* v8 ignore next -- a tree without errors has both parts of each property */
    if (key === undefined || value === undefined) continue
    const found = valueOf(value, depth + 1)
    Object.defineProperty(result, String(key.value), {
      value: found,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return result
}

function tomlValue(text: string): unknown {
  try {
    return parseToml(text, { maxDepth: MAX_DEPTH })
  } catch (error) {
    /* v8 ignore next -- the parser throws nothing else: its depth is bounded */
    if (!(error instanceof TomlError)) throw error
    // The message goes on with the lines of the file: only its first line is ours to show.
    const what = String(error.message.split('\n')[0]).replace(/^Invalid TOML document: /, '')
    throw new ImportFault(`It is no valid TOML at line ${error.line}, column ${error.column}: ${what}.`)
  }
}

function tooDeep(): ImportFault {
  return new ImportFault(`It is nested deeper than ${MAX_DEPTH} levels.`)
}

/** Line and column of an offset, both from 1. */
export function position(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return `line ${lines.length}, column ${(lines.at(-1) as string).length + 1}`
}

/** `CloseBraceExpected` becomes `close brace expected`. */
function words(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
}
