/** Owns the plot: one line a workload, one mark a contender, on a logarithmic axis of ratios. Pure. */
import type { ContenderName } from './contenders/index.ts'
import type { Row } from './runner.ts'
import { valueOf, wordsOf } from './verdict.ts'
import type { Target } from './workload.ts'

const COLOURS: Partial<Record<ContenderName, string>> = {
  ours: '#1a6fd4',
  dsh: '#c2410c',
  sdk1: '#7c8794',
  sdk2: '#4b5563',
  'ai-sdk': '#a3a3a3',
  'mcp-use': '#b5a642',
  langchain: '#6b9e78',
}
const LEFT = 330
const WIDTH = 560
const LINE = 26
const TOP = 56

/** A line for each target that is a ratio of another contender; `undefined` where there is nothing to draw. */
export function plot(rows: readonly Row[]): string | undefined {
  const lines = rows.flatMap((row) =>
    (row.workload.targets ?? []).flatMap((target) => {
      const marks = marksOf(row, rows, target)
      const label = `${row.workload.id}, ${row.workload.metrics[target.metric]}`
      return marks.length === 0 ? [] : [{ label, target, marks }]
    }),
  )
  if (lines.length === 0) return undefined
  const all = lines.flatMap(({ marks, target }) => [target.atMost, ...marks.map(({ ratio }) => ratio)])
  const most = Math.max(...all)
  const least = Math.min(1, ...all)
  const low = Math.log10(least) - 0.05
  const high = Math.log10(most) + 0.05
  const at = (ratio: number): string => (LEFT + ((Math.log10(ratio) - low) / (high - low)) * WIDTH).toFixed(1)
  const height = TOP + lines.length * LINE + 36
  const ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].filter(
    (tick) => tick >= least && tick <= most,
  )
  const names = Object.keys(COLOURS).filter((name) =>
    lines.some(({ marks }) => marks.some((mark) => mark.name === name)),
  ) as ContenderName[]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 40} ${height}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>Ratios of each contender for the workloads with a target</title>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...names.map((name, index) => legend(name, LEFT - 60 + index * 86)),
    ...ticks.map(
      (tick) =>
        `<line x1="${at(tick)}" x2="${at(tick)}" y1="${TOP - 14}" y2="${height - 30}" stroke="${tick === 1 ? '#555' : '#e3e3e3'}"/><text x="${at(tick)}" y="${height - 14}" text-anchor="middle" fill="#333">${tick}</text>`,
    ),
    ...lines.flatMap(({ label, target, marks }, index) => {
      const y = TOP + index * LINE
      const band =
        index % 2 === 0
          ? []
          : [`<rect x="0" y="${y - LINE / 2}" width="100%" height="${LINE}" fill="#000" opacity="0.03"/>`]
      return [
        ...band,
        `<text x="${LEFT - 12}" y="${y + 4}" text-anchor="end" fill="#222">${escaped(label)} / ${wordsOf(target.of)}</text>`,
        `<line x1="${at(target.atMost)}" x2="${at(target.atMost)}" y1="${y - 10}" y2="${y + 10}" stroke="#1a6fd4" stroke-width="3"/>`,
        ...marks.map(
          ({ name, ratio }) =>
            `<g>${shapeOf(name, Number(at(ratio)), y)}<title>${name}: ${ratio.toFixed(2)} of ${wordsOf(target.of)}</title></g>`,
        ),
      ]
    }),
    '</svg>',
    '',
  ].join('\n')
}

function legend(name: ContenderName, x: number): string {
  return `${shapeOf(name, x, 20)}<text x="${x + 10}" y="24" fill="#222">${name}</text>`
}

/** Ours is a diamond: to be found without its colour, too. */
function shapeOf(name: ContenderName, x: number, y: number): string {
  const fill = COLOURS[name]
  if (name === 'ours') return `<path d="M${x} ${y - 8}l8 8-8 8-8-8z" fill="${fill}" stroke="#fff"/>`
  return `<circle cx="${x}" cy="${y}" r="5" fill="${fill}" fill-opacity="0.85" stroke="#fff"/>`
}

function marksOf(row: Row, rows: readonly Row[], target: Target): { name: ContenderName; ratio: number }[] {
  const marks = [...row.cells.keys()].flatMap((name) => {
    const ratio = COLOURS[name] === undefined ? undefined : valueOf(row, rows, name, target)
    return ratio !== undefined && ratio > 0 ? [{ name, ratio }] : []
  })
  // Ours is drawn last, over the others.
  return marks.toSorted((a, b) => Number(a.name === 'ours') - Number(b.name === 'ours'))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
