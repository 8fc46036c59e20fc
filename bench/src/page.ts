/** Owns docs/performance.md: the part between its two marks is written here, the words around it stay. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Options } from './options.ts'
import { plot } from './plot.ts'
import type { Row } from './runner.ts'
import { shown } from './statistics.ts'
import { ratio } from './table.ts'
import { verdictsOf } from './verdict.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const PAGE = fileURLToPath(new URL('performance.md', DOCS))
const PLOT = fileURLToPath(new URL('performance.svg', DOCS))
const PEERS = new URL('../package.json', import.meta.url)
const START = '<!-- bench:start -->'
const END = '<!-- bench:end -->'
const FIRST_WORDS = `# How fast it is

\`npm run bench -- --publish\` measures and writes the numbers below. [bench/README.md](../bench/README.md) says what each contender and each workload is.
`

/** Write the page and its plot. */
export function publish(rows: readonly Row[], options: Options): void {
  const svg = plot(rows)
  if (svg !== undefined) writeFileSync(PLOT, svg)
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : `${FIRST_WORDS}\n${START}\n${END}\n`
  const from = page.indexOf(START)
  const to = page.indexOf(END)
  if (from === -1 || to < from) throw new Error(`docs/performance.md lacks ${START} or ${END}`)
  const body = [
    runText(options),
    ...(svg === undefined ? [] : [PLOT_TEXT]),
    targetTable(rows),
    ...rows.map(rowTable),
  ]
  writeFileSync(PAGE, `${page.slice(0, from)}${START}\n\n${body.join('\n\n')}\n\n${page.slice(to)}`)
}

const PLOT_TEXT = `![Ratios of each contender for the workloads with a target](performance.svg)

Each line is one workload, as a ratio of raw or of the floor in the same run, on a logarithmic axis. The dashed mark is the target.`

function runText({ rounds, quick }: Options): string {
  const { dependencies } = JSON.parse(readFileSync(PEERS, 'utf8')) as { dependencies: Record<string, string> }
  const peers = Object.entries(dependencies)
    .filter(
      ([name]) => !['cli-table3', 'react', 'zod', '@langchain/core', '@langchain/langgraph'].includes(name),
    )
    .map(([name, version]) => `${name} ${version.replace(/^npm:.*@/, '')}`)
  const [cpu] = cpus()
  return [
    '## How it was run',
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores of ${cpu?.model.trim() ?? 'an unknown kind'}, ` +
      `${Math.round(totalmem() / 1024 ** 3)} GiB, load ${(loadavg()[0] ?? 0).toFixed(1)} at the end. ` +
      `${rounds} rounds${quick ? ' of the quick sizes' : ''}, one process a measurement, contenders in turns, medians.`,
    `Against ${peers.join(', ')}.`,
  ].join('\n\n')
}

function targetTable(rows: readonly Row[]): string {
  const lines = rows.flatMap((row) =>
    verdictsOf(row).map(({ target, ratio: value, holds }) => {
      const unit = row.workload.metrics[target.metric] ?? ''
      const dsh = ratio(row.cells, 'dsh', target.against, target.metric)
      const harness = row.cells.get('dsh')?.ok === false ? 'fails' : dsh || '-'
      return `| ${row.workload.title} | ${unit} | ${target.against} | ${target.atMost} | **${shown(value)}** | ${harness} | ${holds ? 'yes' : 'no'} |`
    }),
  )
  return [
    '## Targets',
    '',
    '| workload | of | against | at most | ours | harness | met |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n')
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
    `In brackets: of ${cells.has('floor') ? 'the floor' : 'raw'}. \`--only ${workload.id}\``,
  ].join('\n')
}
