/**
 * Owns the part of docs/cli.md that lists commands and options: made from the program itself, so it cannot disagree
 * with it. `node scripts/cli-reference.ts` writes it between the markers; a test fails while it is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createProgram } from '../packages/mcp/mcp-client/src/cli/program.ts'

type Command = ReturnType<typeof createProgram>
type Option = Command['options'][number]

export const START = '<!-- cli:start -->'
export const END = '<!-- cli:end -->'
export const CLI_PAGE = fileURLToPath(new URL('../docs/cli.md', import.meta.url))

/** Commands and options as Markdown. */
export function cliReference(): string {
  const program = createProgram(
    {
      stdout: process.stdout,
      stderr: process.stderr,
      env: {},
      cwd: '.',
      platform: 'linux',
      signal: new AbortController().signal,
    },
    { exitCode: 0 },
    undefined,
  )
  const all = program.createHelp().visibleCommands(program)
  const commands = all.filter((command) => command.name() !== 'help')
  const withRows = commands.filter((command) => command.options.some(({ long }) => long === '--config'))
  const shared = (withRows[0]?.options ?? []).filter((option) =>
    withRows.every((command) => command.options.some(({ flags }) => flags === option.flags)),
  )
  const known = new Set(shared.map(({ flags }) => flags))
  return [
    ...commands.flatMap((command) => section(command, withRows.includes(command) ? known : new Set())),
    `### Options of ${withRows.map((command) => command.name()).join(', ')}`,
    '',
    ...table(shared.map(optionRow)),
  ].join('\n')
}

/** The page with a fresh reference. Throws when a marker is missing. */
export function withReference(page: string): string {
  const start = page.indexOf(START)
  const end = page.indexOf(END)
  if (start < 0 || end < start) throw new Error(`docs/cli.md needs ${START} and ${END}, in this order`)
  return `${page.slice(0, start + START.length)}\n\n${cliReference()}\n${page.slice(end)}`
}

function section(command: Command, known: ReadonlySet<string>): string[] {
  const args = command.registeredArguments.map((argument) => [
    `\`${argument.name()}\``,
    [argument.description, choicesOf(argument.argChoices)].filter((text) => text !== '').join('; '),
  ])
  const options = command.options.filter(({ hidden, flags }) => !hidden && !known.has(flags))
  return [
    `### ${command.name()}`,
    '',
    `${capital(command.description())}.`,
    '',
    `    dsh-mcp ${command.name()} ${command.usage()}`,
    '',
    ...table([...args, ...options.map(optionRow)]),
  ]
}

function optionRow({ flags, description, argChoices }: Option): string[] {
  return [`\`${flags}\``, [description, choicesOf(argChoices)].filter((text) => text !== '').join('; ')]
}

function table(rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
  return ['| argument or option | meaning |', '|---|---|', ...lines, '']
}

function choicesOf(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : `one of ${choices.join(', ')}`
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(CLI_PAGE, withReference(readFileSync(CLI_PAGE, 'utf8')))
}
