/**
 * Owns where the rows of a run come from: a cordis.yml, a profile, or flags; and what becomes of each: a frozen spec or
 * its own fault. A bad row costs one row.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { resolveConfig } from '../../config.ts'
import { nearest } from '../../distance.ts'
import { messageOf } from '../../errors.ts'
import type { McpError } from '../../errors.ts'
import { cleanLine } from '../../text.ts'
import type { ServerSpec } from '../../types.ts'
import { UsageError } from '../exit.ts'
import type { Io } from '../output.ts'
import { ExpressionError, createScope, evaluateAll } from './expressions.ts'
import type { Findings } from './expressions.ts'
import { rowOfFlags } from './flags.ts'
import type { RowFlags } from './flags.ts'
import { applyPatches, isEntry, isGroup, isOverlay } from './patches.ts'
import type { Entry } from './patches.ts'
import { profileEnvironment, readProfile } from './profile.ts'
import { readYaml } from './yaml.ts'

/** Where the rows are: at most one of the three. */
export interface SourceOptions extends RowFlags {
  readonly config?: string
  readonly profile?: string
}

export interface Row {
  /** Id of the entry, or its place in the file. Clean. */
  readonly id: string
  /** serverName, where it can be read; otherwise the id. Clean. */
  readonly name: string
  readonly disabled: boolean
  readonly findings: Findings
  readonly resolved:
    | { readonly ok: true; readonly spec: ServerSpec; readonly warnings: readonly string[] }
    /** Why the row is refused, with the path in it. No secret. */
    | { readonly ok: false; readonly fault: string; readonly path: string }
}

export interface RowSource {
  /** What people call it: a file, `profile NAME`, or `the command line`. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly notes: readonly string[]
  /** How long it took to read all of them, in milliseconds. */
  readonly readMs: number
}

const PACKAGE = '@deepseek-ai/dsh-mcp-client'
/** The plugin by its package name, or by a path to its entry file. */
const OURS = /(?:^|[\\/])(?:@deepseek-ai[\\/]dsh-mcp-client|mcp-client[\\/](?:lib|src)[\\/]index\.[jt]s)$/
const MAX_FILE_BYTES = 4 * 1024 * 1024
const MAX_INCLUDES = 8
const MAX_NAME_CHARS = 64
const MAX_FAULT_CHARS = 600

/**
 * Read the rows.
 * @throws UsageError when the source as a whole cannot be read
 */
export function loadRows(options: SourceOptions, io: Io): RowSource {
  const began = performance.now()
  const source = readSource(options, io)
  return { ...source, readMs: performance.now() - began }
}

type Source = Omit<RowSource, 'readMs'>

function readSource(options: SourceOptions, io: Io): Source {
  const { config, profile, command, url } = options
  const given = Object.entries({ config, profile, command, url }).filter(([, value]) => value !== undefined)
  if (given.length > 1) {
    throw new UsageError(`give one of ${given.map(([name]) => `--${name}`).join(' and ')}, not both`)
  }
  if (command !== undefined || url !== undefined) {
    const raw = rowOfFlags(options, io.env)
    const row = resolveRow({ id: 'command-line', disabled: false, raw, scope: undefined }, io)
    if (!row.resolved.ok) throw new UsageError(`the command line: ${row.resolved.fault}`)
    return { label: 'the command line', rows: [row], notes: [] }
  }
  return profile === undefined ? fromFile(config ?? 'cordis.yml', io) : fromProfile(profile, io)
}

function fromFile(config: string, io: Io): Source {
  const path = resolve(io.cwd, config)
  const notes: string[] = []
  const found = entriesOfFile(path, notes)
  const rows = rowsOf(found, { file: path, depth: 0, notes, io })
  const label = relative(io.cwd, path)
  return {
    label: label === '' || label.startsWith('..') ? path : label,
    rows: withoutDuplicates(rows),
    notes,
  }
}

function fromProfile(name: string, io: Io): Source {
  // As the host does it: what the files add is there for `!!js` and for the servers.
  Object.assign(process.env, profileEnvironment(io.cwd, io.env))
  const { entries, file, notes } = readProfile(name, io.env)
  const all = [...notes]
  const rows = rowsOf(entries, { file, depth: 0, notes: all, io: { ...io, env: process.env } })
  return { label: `profile ${name}`, rows: withoutDuplicates(rows), notes: all }
}

function entriesOfFile(path: string, notes: string[]): Entry[] {
  let text: string
  try {
    const { size } = statSync(path)
    if (size > MAX_FILE_BYTES) throw new Error(`larger than ${MAX_FILE_BYTES} bytes`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : messageOf(error)
    throw new UsageError(
      `cannot read ${path}: ${reason}. Name the file with --config, a profile with --profile, or one server with ` +
        '--command or --url.',
    )
  }
  const list = readYaml(text, path)
  if (!Array.isArray(list))
    throw new UsageError(`${path}: must be a list of rows, each beginning with "- id:"`)
  const entries = list.filter(isEntry)
  if (!isOverlay(entries)) {
    refuseSharedIds(entries, path)
    return entries
  }
  return applyPatches([], entries, (warning) => notes.push(warning))
}

/** The host does not start at all with such a file. */
function refuseSharedIds(entries: readonly Entry[], path: string, seen = new Set<unknown>()): void {
  for (const entry of entries) {
    const { id } = entry
    if (id !== undefined && seen.has(id)) {
      const name = cleanLine(String(id), MAX_NAME_CHARS)
      throw new UsageError(
        `${path}: two rows have the id ${JSON.stringify(name)}; the host does not start with that`,
      )
    }
    seen.add(id)
    if (isGroup(entry)) refuseSharedIds(entry.config.filter(isEntry), path, seen)
  }
}

interface Walk {
  readonly file: string
  readonly depth: number
  readonly notes: string[]
  readonly io: Io
  readonly disabled?: boolean
}

function rowsOf(entries: readonly Entry[], walk: Walk): Row[] {
  const scope = createScope(pathToFileURL(`${dirname(walk.file)}/`).href)
  return entries.flatMap((entry, index) => {
    const id = cleanLine(String(entry['id'] ?? `row ${index + 1}`), MAX_NAME_CHARS)
    const disabled = walk.disabled === true || isDisabled(entry, scope)
    if (isGroup(entry)) return rowsOf(entry.config.filter(isEntry), { ...walk, disabled })
    if (entry['name'] === 'cordis:include') return rowsOfInclude(entry, { ...walk, disabled })
    if (typeof entry['name'] !== 'string') return []
    if (!OURS.test(entry['name'])) {
      if (nearest(entry['name'], [PACKAGE]) !== undefined)
        walk.notes.push(
          `row ${id}: there is no plugin ${JSON.stringify(entry['name'])}; did you mean ${PACKAGE}?`,
        )
      return []
    }
    return [resolveRow({ id, disabled, raw: entry['config'], scope }, walk.io)]
  })
}

function isDisabled(entry: Entry, scope: object): boolean {
  try {
    return Boolean(evaluateAll(entry['disabled'], 'disabled', scope, { unset: [], undefinedWords: [] }))
  } catch {
    // The expression needs a service of a running host: the row is looked at all the same.
    return false
  }
}

function rowsOfInclude(entry: Entry, walk: Walk): Row[] {
  const { path, patches } = (entry['config'] ?? {}) as { path?: unknown; patches?: unknown }
  if (typeof path !== 'string' || walk.depth >= MAX_INCLUDES) return []
  const file = path.startsWith('file:')
    ? fileURLToPath(path)
    : isAbsolute(path)
      ? path
      : resolve(dirname(walk.file), path)
  try {
    const layer = Array.isArray(patches) ? patches.filter(isEntry) : []
    const entries = applyPatches(entriesOfFile(file, walk.notes), layer, (text) => walk.notes.push(text))
    return rowsOf(entries, { ...walk, file, depth: walk.depth + 1 })
  } catch (error) {
    walk.notes.push(messageOf(error))
    return []
  }
}

interface RawRow {
  readonly id: string
  readonly disabled: boolean
  readonly raw: unknown
  /** Absent for flags, which hold no expression. */
  readonly scope: object | undefined
}

function resolveRow({ id, disabled, raw, scope }: RawRow, { env }: Io): Row {
  const findings: Findings = { unset: [], undefinedWords: [] }
  const named = isEntry(raw) ? raw['serverName'] : undefined
  const name = typeof named === 'string' ? cleanLine(named, MAX_NAME_CHARS) : id
  try {
    const config = scope === undefined ? raw : evaluateAll(raw, '', scope, findings)
    const { spec, warnings } = resolveConfig(config, env)
    return { id, name: spec.serverName, disabled, findings, resolved: { ok: true, spec, warnings } }
  } catch (error) {
    // Nothing else is thrown by the resolve step.
    const path = error instanceof ExpressionError ? error.path : String((error as McpError).data['path'])
    const fault = cleanLine(messageOf(error).replace(/^mcp-client\([^)]*\): /, ''), MAX_FAULT_CHARS)
    return { id, name, disabled, findings, resolved: { ok: false, fault, path } }
  }
}

/** A serverName is one server's: the host refuses the later row. */
function withoutDuplicates(rows: readonly Row[]): Row[] {
  const seen = new Set<string>()
  return rows.map((row) => {
    if (row.disabled || !row.resolved.ok) return row
    if (!seen.has(row.name)) {
      seen.add(row.name)
      return row
    }
    const fault = `serverName "${row.name}" is already in use by another row; pick a unique serverName`
    return { ...row, resolved: { ok: false, fault, path: 'serverName' } }
  })
}

/**
 * The rows with these names or ids; all that are not disabled where none is named.
 * @throws UsageError for a name that no row has, with the nearest ones
 */
export function selectRows(source: RowSource, names: readonly string[]): Row[] {
  if (names.length === 0) return source.rows.filter(({ disabled }) => !disabled)
  return names.map((wanted) => {
    const row = source.rows.find(({ name, id }) => name === wanted || id === wanted)
    if (row !== undefined) return row
    const known = source.rows.map(({ name }) => name).join(', ')
    throw new UsageError(
      `no server ${JSON.stringify(cleanLine(wanted, MAX_NAME_CHARS))} in ${source.label}` +
        (known === '' ? `: it has no row of ${PACKAGE}` : `; it has ${known}`),
    )
  })
}
