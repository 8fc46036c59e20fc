/**
 * Owns one run of `dsh-mcp import`: find the files, make the plan, show it, and write it where that was asked for.
 * Nothing of a foreign file is executed, and no credential of it is printed or written.
 */
import { dirname, resolve } from 'node:path'
import { FILE_HEADERS_ONLY, createTwoFilesPatch } from 'diff'
import { createRedactor } from '../../redaction.ts'
import { cleanText } from '../../text.ts'
import { visibleJson, visibleSafe, visibleText } from '../../visible.ts'
import { searchable } from './conceal.ts'
import { isCredential } from './credential.ts'
import { ImportFault, faultOf } from './foreign-server.ts'
import { UsageFault, candidates, readFile } from './locate.ts'
import type { FileReading } from './locate.ts'
import { makePlan } from './plan.ts'
import { jsonReport, textReport } from './screen.ts'
import { readText } from './source.ts'
import { readTarget, withRows } from './target.ts'
import type { Target } from './target.ts'
import { writeTarget } from './writer.ts'

export interface ImportOptions {
  /** A client, or the path of a file. Absent: the known places of all clients. */
  readonly from?: string
  /** Path of a file whose client `from` names. */
  readonly file?: string
  /** The file that rows go to: `./cordis.yml`. */
  readonly to?: string
  /** Write the rows; without it nothing is changed. */
  readonly write: boolean
  readonly json: boolean
  /** Names of the servers to take. */
  readonly only?: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  readonly platform: NodeJS.Platform
}

/** Where a run prints. Texts end with a line break. */
export interface Output {
  out(text: string): void
  err(text: string): void
}

const DONE = 0
const FAILED = 1
const USAGE = 2

/**
 * Run one import. Resolves with the exit code: 0 done, 1 when nothing can be taken or a file cannot be read or written,
 * 2 for a wrong command line. Does not reject for any content of a file.
 */
export async function runImport(options: ImportOptions, output: Output): Promise<number> {
  try {
    return await run(options, output)
  } catch (error) {
    if (error instanceof UsageFault) {
      output.err(`${cleanText(error.message)}\n`)
      return USAGE
    }
    output.err(`${cleanText(faultOf(error).message)}\n`)
    return FAILED
  }
}

async function run(options: ImportOptions, output: Output): Promise<number> {
  const path = resolve(options.cwd, options.to ?? 'cordis.yml')
  const files = await readFiles(options, dirname(path))
  for (const file of files)
    if (file.kind === 'fault') output.err(visibleText(`${file.path}: ${file.reason}\n`))
  if (files.length === 0) {
    output.err('No file of a known client with MCP servers is here. Name one: dsh-mcp import FILE\n')
    return FAILED
  }
  const target = await located(path, async () => readTarget(path, await readText(path, 'keep')))
  const plan = makePlan(files, target, options.only, options.env)
  const isFaulty = files.some(({ kind }) => kind === 'fault')
  const isEmpty = plan.outcomes.every(({ status }) => status === 'failed')
  const text =
    plan.rows.length === 0 ? undefined : await located(path, async () => withRows(target, plan.rows))
  const writes = options.write && text !== undefined
  const backup = writes ? await located(path, () => writeTarget(path, text, target.text)) : undefined
  if (plan.outcomes.length > 0 || options.json) {
    const report = {
      files,
      plan,
      target: { path, kind: target.kind, exists: target.text !== undefined },
      diff: text === undefined ? '' : diffOf(path, target.text, text),
      text: text ?? '',
      written: writes,
      ...(backup === undefined ? {} : { backup }),
    }
    const redact = createRedactor(searchable([...plan.secrets, ...secretsOfTarget(target)]))
    output.out(
      options.json ? visibleJson(redact(jsonReport(report))) : visibleSafe(textReport(report), redact),
    )
  }
  return isFaulty || isEmpty ? FAILED : DONE
}

async function readFiles(options: ImportOptions, targetFolder: string): Promise<FileReading[]> {
  const { cwd, home, platform } = options
  const found: FileReading[] = []
  for (const candidate of candidates(options.from, options.file, options)) {
    const file = await readFile(candidate, { cwd, home, platform, targetFolder })
    if (file !== undefined) found.push(file)
  }
  return found
}

/** A fault of the target with its path in front. */
async function located<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new ImportFault(`${path}: ${faultOf(error).message}`)
  }
}

function diffOf(path: string, before: string | undefined, after: string): string {
  const from = before === undefined ? '/dev/null' : path
  return createTwoFilesPatch(from, path, before ?? '', after, undefined, undefined, {
    headerOptions: FILE_HEADERS_ONLY,
  })
}

/** The last lines of the file are in the diff: what looks like a credential there is not shown either. */
function secretsOfTarget(target: Target): string[] {
  return target.strings
    .filter(([key, value]) => !/^[^$]*\$\{/.test(value) && isCredential(key, value))
    .map(([, value]) => value)
}
