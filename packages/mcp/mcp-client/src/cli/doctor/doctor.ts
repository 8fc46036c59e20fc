/** Owns `dsh-mcp doctor`: examine the rows one after the other, and say what is wrong and what to do next. */
import { EXIT } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import type { Output } from '../output.ts'
import { selectRows } from '../rows/source.ts'
import type { RowSource } from '../rows/source.ts'
import { examine } from './examination.ts'
import type { Examination } from './examination.ts'
import { examinationLines } from './screen.ts'

export interface DoctorOptions {
  readonly timeout?: number
  readonly wire?: boolean
  readonly probe?: boolean
}

export async function runDoctor(
  source: RowSource,
  names: readonly string[],
  options: DoctorOptions,
  output: Output,
): Promise<ExitCode> {
  const rows = selectRows(source, names)
  const { io } = output
  for (const text of source.notes) output.note(`note: ${text}`)
  if (rows.length === 0) {
    output.json({ source: source.label, servers: [], notes: source.notes })
    output.line(`no enabled row of @deepseek-ai/dsh-mcp-client in ${source.label}`)
    return EXIT.usage
  }
  const all: Examination[] = []
  for (const row of rows) {
    if (io.signal.aborted) break
    const examination = await output.progress(`examining ${row.name}`, () =>
      examine(row, {
        timeoutMs: options.timeout,
        probe: options.probe === true,
        readMs: source.readMs,
        io,
        onStep: (text) => output.detail(`${row.name}: ${text}`),
      }),
    )
    if (all.length > 0) output.line()
    all.push(examination)
    for (const line of examinationLines(examination, { wire: options.wire === true }, output))
      output.line(line)
  }
  if (all.length > 1) for (const line of ['', ...summaryLines(all, output)]) output.line(line)
  output.json({
    source: source.label,
    servers: all.map((examination) => shapeOf(examination, options.wire === true)),
    notes: source.notes,
  })
  return all.every(isGood) ? EXIT.ok : EXIT.failed
}

function isGood({ diagnoses }: Examination): boolean {
  return diagnoses.every(({ severity }) => severity !== 'error')
}

function summaryLines(all: readonly Examination[], output: Output): string[] {
  return output.table(
    ['SERVER', 'VERDICT', 'TOOLS', 'BYTES'],
    all.map((examination) => {
      const { name, diagnoses, facts } = examination
      const [first] = diagnoses
      const verdict = isGood(examination)
        ? output.style('green', 'ok')
        : output.style('red', String(first?.kind))
      return [name, verdict, String(facts.catalog?.tools.length ?? '-'), String(facts.catalog?.bytes ?? '-')]
    }),
  )
}

/** The stable shape of one server in `--json`; docs/cli.md describes it. */
function shapeOf(examination: Examination, isWired: boolean): Record<string, unknown> {
  const { name, transport, target, steps, facts, session, diagnoses, wire } = examination
  const { exit, stderr, catalog, failure } = facts
  return {
    name,
    ok: isGood(examination),
    transport,
    target,
    steps: steps.map((step) => ({ ...step, durationMs: Math.round(step.durationMs) })),
    error: failure,
    exit,
    stderr: stderr === '' ? undefined : stderr,
    session:
      session === undefined
        ? undefined
        : {
            era: session.era,
            revision: session.revision,
            serverInfo: session.serverInfo,
            capabilities: Object.keys(session.capabilities),
          },
    catalog,
    diagnoses,
    wire: isWired ? wire.map((message) => ({ ...message, atMs: Math.round(message.atMs) })) : undefined,
  }
}
