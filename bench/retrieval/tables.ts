/** Owns the tables that are printed and published, as markdown. Pure. */
import type { ServerTools } from './catalogues.ts'
import { figuresOf } from './measures.ts'
import type { Estimate, Ranked } from './measures.ts'
import { LANGUAGES, SPLITS } from './questions.ts'
import { ENCODING } from './weights.ts'
import type { WeightRow } from './weights.ts'

export interface Contender {
  readonly name: string
  readonly ranked: readonly Ranked[]
}

export function retrievalTable(contenders: readonly Contender[]): string {
  const rows = [...SPLITS, undefined].flatMap((split) =>
    [...LANGUAGES, undefined].flatMap((lang) =>
      contenders.map(({ name, ranked }) => {
        const figures = figuresOf(
          ranked.filter(
            ({ question }) =>
              (split === undefined || question.split === split) &&
              (lang === undefined || question.lang === lang),
          ),
        )
        const { count, recallAt1, recallAt5, mrr } = figures
        return [split ?? 'all', lang ?? 'both', count, name, shown(recallAt1), shown(recallAt5), shown(mrr)]
      }),
    ),
  )
  return table(['questions', 'language', 'n', 'ranking', 'recall at 1', 'recall at 5', 'MRR'], rows)
}

export function serverTable(servers: readonly ServerTools[], ranked: readonly Ranked[]): string {
  const rows = servers.map(({ serverName, package: name, version, entries }) => {
    const own = ranked.filter(({ question }) =>
      question.answers.some((answer) => answer.startsWith(`${serverName}/`)),
    )
    const { recallAt5, mrr } = figuresOf(own)
    return [
      serverName,
      `${name} ${version}`,
      entries.length,
      own.length,
      recallAt5.value.toFixed(2),
      mrr.value.toFixed(2),
    ]
  })
  return table(['server', 'package', 'tools', 'questions', 'recall at 5', 'MRR'], rows)
}

export function weightTable(rows: readonly WeightRow[]): string {
  return table(
    ['tools', 'direct, bytes', `direct, tokens (${ENCODING})`, 'search, bytes', 'search, tokens'],
    rows.map(({ tools, direct, search }) => [
      tools.toLocaleString('en'),
      direct.bytes.toLocaleString('en'),
      direct.tokens.toLocaleString('en'),
      search.bytes.toLocaleString('en'),
      search.tokens.toLocaleString('en'),
    ]),
  )
}

/** The questions for tuning whose tool is not among the first five. */
export function failureText(ranked: readonly Ranked[]): string {
  return ranked
    .filter(({ question, rank }) => question.split.startsWith('tune') && rank > 5)
    .map(({ question, rank, top }) =>
      [
        `${question.id} [${Number.isFinite(rank) ? rank : '-'}] ${question.question}`,
        `  want ${question.answers.join(' ')}`,
        `  got  ${top.join(' ')}`,
      ].join('\n'),
    )
    .join('\n')
}

function shown({ value, low, high }: Estimate): string {
  return `${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
