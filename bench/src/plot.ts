/** Owns the plot: one line a workload, one mark a contender, on a logarithmic axis of ratios. Pure. */
import type { ContenderName } from './contenders/index.ts'
import type { Row } from './runner.ts'
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

/** A line for each workload that has a target, by its first one; `undefined` where there is nothing to draw. */
export function plot(rows: readonly Row[]): string | undefined {
  const lines = rows.flatMap(({ workload, cells }) => {
    const [target] = workload.targets ?? []
    if (target === undefined) return []
    const marks = marksOf(cells, target)
    return marks.length === 0 ? [] : [{ label: workload.title, target, marks }]
  })
  if (lines.length === 0) return undefined
  const most = Math.max(
    ...lines.flatMap(({ marks, target }) => [target.atMost, ...marks.map(({ ratio }) => ratio)]),
  )
  const least = Math.min(1, ...lines.flatMap(({ marks }) => marks.map(({ ratio }) => ratio)))
  const low = Math.log10(least) - 0.05
  const high = Math.log10(most) + 0.05
  const at = (ratio: number): number => LEFT + ((Math.log10(ratio) - low) / (high - low)) * WIDTH
  const height = TOP + lines.length * LINE + 36
  const ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200].filter((tick) => tick >= least && tick <= most)
  const names = Object.keys(COLOURS).filter((name) =>
    lines.some(({ marks }) => marks.some((mark) => mark.name === name)),
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 30} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...names.map(
      (name, index) =>
        `<circle cx="${LEFT + index * 78}" cy="20" r="5" fill="${COLOURS[name as ContenderName]}"/><text x="${LEFT + 9 + index * 78}" y="24">${name}</text>`,
    ),
    ...ticks.map(
      (tick) =>
        `<line x1="${at(tick)}" x2="${at(tick)}" y1="${TOP - 14}" y2="${height - 30}" stroke="${tick === 1 ? '#555' : '#e3e3e3'}"/><text x="${at(tick)}" y="${height - 14}" text-anchor="middle">${tick}</text>`,
    ),
    ...lines.flatMap(({ label, target, marks }, index) => {
      const y = TOP + index * LINE
      return [
        `<text x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${escaped(short(label))} / ${target.against}</text>`,
        `<line x1="${at(target.atMost)}" x2="${at(target.atMost)}" y1="${y - 9}" y2="${y + 9}" stroke="#1a6fd4" stroke-width="2" stroke-dasharray="3 2"/>`,
        ...marks.map(
          ({ name, ratio }) =>
            `<circle cx="${at(ratio)}" cy="${y}" r="${name === 'ours' ? 6 : 4.5}" fill="${COLOURS[name]}"><title>${name}: ${ratio.toFixed(2)} of ${target.against}</title></circle>`,
        ),
      ]
    }),
    '</svg>',
    '',
  ].join('\n')
}

function marksOf(cells: Row['cells'], { metric, against }: Target): { name: ContenderName; ratio: number }[] {
  const base = cells.get(against)
  if (base?.ok !== true) return []
  const unit = base.figures[metric] ?? Number.NaN
  const marks = [...cells].flatMap(([name, cell]) => {
    const ratio = cell.ok ? (cell.figures[metric] ?? Number.NaN) / unit : Number.NaN
    return COLOURS[name] === undefined || !(ratio > 0) ? [] : [{ name, ratio }]
  })
  // Ours is drawn last, over the others.
  return marks.toReversed()
}

function short(label: string): string {
  return label.length > 48 ? `${label.slice(0, 47)}…` : label
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
