/** Owns docs/performance.md: the part between its two marks is written here, the words around it stay. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Options } from './options.ts'
import { plot } from './plot.ts'
import { REASONS } from './reasons.ts'
import type { Row } from './runner.ts'
import { shown } from './statistics.ts'
import { ratio } from './table.ts'
import { valueOf, verdictsOf, wordsOf } from './verdict.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const PAGE = fileURLToPath(new URL('performance.md', DOCS))
const PLOT = fileURLToPath(new URL('performance.svg', DOCS))
const PEERS = new URL('../package.json', import.meta.url)
const START = '<!-- bench:start -->'
const END = '<!-- bench:end -->'
const FIRST_WORDS = `# How fast it is

\`npm run bench -- --publish\` measures and writes the numbers below. [bench/README.md](../bench/README.md) says what each contender and each workload is.

Read the ratios, not the times. A ratio compares two medians of one run on one machine:

- **of raw**: against JSON-RPC by hand over a pipe or keep-alive HTTP, with JSON.parse and JSON.stringify and nothing else. No client can be below 1 for long.
- **of the floor**: against that raw client behind the same registry and attachment store of the host. It checks nothing and survives nothing; it is the least that any plugin pays there.
- CPU is that of the client's process; memory is its peak resident size, or its size at rest where the table says so.
`

/** Write the page and its plot. */
export function publish(rows: readonly Row[], options: Options, minutes: number): void {
  const svg = plot(rows)
  if (svg !== undefined) writeFileSync(PLOT, svg)
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : `${FIRST_WORDS}\n${START}\n${END}\n`
  const from = page.indexOf(START)
  const to = page.indexOf(END)
  if (from === -1 || to < from) throw new Error(`docs/performance.md lacks ${START} or ${END}`)
  const body = [
    ...targetTable(rows),
    ...(svg === undefined ? [] : [PLOT_TEXT]),
    ...runText(options, minutes),
    '## Every workload',
    'Medians. In brackets the ratio to the floor, or to raw where there is no floor.',
    ...rows.map(rowTable),
  ]
  writeFileSync(PAGE, `${page.slice(0, from)}${START}\n\n${body.join('\n\n')}\n\n${page.slice(to)}`)
}

const PLOT_TEXT = `![Ratios of each contender for the workloads with a target](performance.svg)

Each line is one target, as a ratio of raw or of the floor in the same run, on a logarithmic axis; further left is less. The blue bar is the target. A contender that failed, or is not made for a workload, has no mark there.`

/** Installed for others, not contenders. */
const NOT_MEASURED = new Set(['cli-table3', 'react', 'zod', '@langchain/core', '@langchain/langgraph'])

function runText({ rounds, quick }: Options, minutes: number): string[] {
  const { dependencies } = JSON.parse(readFileSync(PEERS, 'utf8')) as { dependencies: Record<string, string> }
  const peers = Object.entries(dependencies)
    .filter(([name]) => !NOT_MEASURED.has(name))
    .map(([name, version]) => `${name.replace('dsh-peer', 'dsh')} ${version.replace(/^npm:.*@/, '')}`)
  const [cpu] = cpus()
  const often =
    rounds === undefined
      ? 'medians of 3 measurements of raw, floor, ours and dsh, and one measurement of each other peer'
      : `${rounds} of each`
  return [
    '## How it was run',
    [
      `- ${new Date().toISOString().slice(0, 10)}, commit ${commit()}, in ${minutes.toFixed(0)} minutes`,
      `- Node ${process.versions.node} on ${cpus().length} cores of ${cpu?.model.trim() ?? 'an unknown kind'}, ${Math.round(totalmem() / 1024 ** 3)} GiB, load ${(loadavg()[0] ?? 0).toFixed(1)} at the end`,
      `- ${often}${quick ? ', **of the quick sizes: not to judge by**' : ''}; one process a measurement, one at a time, contenders in turns, medians`,
      `- against ${peers.join(', ')}`,
    ].join('\n'),
  ]
}

/** The one that is checked out; told where something is not committed. */
function commit(): string {
  const git = (...args: string[]): string => spawnSync('git', args, { encoding: 'utf8' }).stdout?.trim() ?? ''
  const name = git('rev-parse', '--short', 'HEAD')
  if (name === '') return 'unknown'
  return git('status', '--porcelain', '--', 'packages', 'bench/src') === '' ? name : `${name} and changes`
}

function targetTable(rows: readonly Row[]): string[] {
  const verdicts = rows.flatMap((row) => verdictsOf(row, rows).map((verdict) => ({ row, verdict })))
  const lines = verdicts.map(({ row, verdict: { target, value, holds } }) => {
    const unit = row.workload.metrics[target.metric] ?? ''
    const other = valueOf(row, rows, 'dsh', target)
    const harness = row.cells.get('dsh')?.ok === false ? 'fails' : other === undefined ? '' : shown(other)
    const mine = row.cells.get('ours')?.ok === true ? shown(value) : 'fails'
    return `| ${row.workload.title} | ${unit} | ${wordsOf(target.of)} | ${target.atMost} | **${mine}** | ${harness} | ${holds ? 'yes' : '**no**'} |`
  })
  const missed = verdicts.filter(({ verdict }) => !verdict.holds)
  const met = verdicts.length - missed.length
  return [
    '## Targets',
    `${met} of ${verdicts.length} are met.`,
    [
      '| workload | of | against | at most | ours | harness | met |',
      '|---|---|---|---|---|---|---|',
      ...lines,
    ].join('\n'),
    ...(missed.length === 0
      ? []
      : [
          'What forbids the others:',
          missed
            .map(({ row, verdict: { id, target } }) => {
              const what = `${row.workload.title}, ${row.workload.metrics[target.metric]}`
              return `- ${what}: ${REASONS[id] ?? 'missed; why is not known.'}`
            })
            .join('\n'),
        ]),
  ]
}

function rowTable({ workload, cells }: Row): string {
  const metrics = Object.entries(workload.metrics)
  const lines = [...cells].map(([name, cell]) => {
    const figures = cell.ok
      ? metrics.map(([metric]) => {
          const part = ratio(cells, name, cells.has('floor') ? 'floor' : 'raw', metric)
          const value = shown(cell.figures[metric] ?? Number.NaN)
          return part === '' ? value : `${value} (${part})`
        })
      : [`fails: ${cell.reason.replaceAll('|', '/').slice(0, 120)}`, ...metrics.slice(1).map(() => '')]
    return `| ${name === 'ours' ? '**ours**' : name} | ${figures.join(' | ')} |`
  })
  return [
    `### ${workload.title}`,
    '',
    `| | ${metrics.map(([, unit]) => unit).join(' | ')} |`,
    `|---|${metrics.map(() => '---').join('|')}|`,
    ...lines,
    '',
    `\`--only ${workload.id}\``,
  ].join('\n')
}
