/**
 * Owns the command: `--failures` shows the questions for tuning that fail, `--publish` writes docs/context.md.
 */
import { parseArgs } from 'node:util'
import { readCatalogues } from './catalogues.ts'
import { rankAll } from './measures.ts'
import { publish } from './publication.ts'
import { readQuestions } from './questions.ts'
import { ours, plainMiniSearch, termOverlap, toolId } from './rankers.ts'
import { failureText, retrievalTable, serverTable, weightTable } from './tables.ts'
import { weighAll } from './weights.ts'

const { values: options } = parseArgs({
  options: { failures: { type: 'boolean', default: false }, publish: { type: 'boolean', default: false } },
})

const servers = await readCatalogues()
const tools = servers.flatMap(({ serverName, entries }) =>
  entries.map(({ rawName }) => toolId(serverName, rawName)),
)
const questions = readQuestions(`${import.meta.dirname}/questions.tsv`, new Set(tools))
const contenders = [
  { name: 'ours', ranked: rankAll(questions, ours(servers)) },
  { name: 'MiniSearch, defaults', ranked: rankAll(questions, plainMiniSearch(servers)) },
  { name: 'term overlap', ranked: rankAll(questions, termOverlap(servers)) },
] as const
const asked = new Set(questions.flatMap(({ answers }) => answers))

const retrieval = [
  `${questions.length} questions over ${tools.length} tools of ${servers.length} public servers; ${asked.size} of the tools answer one. ` +
    'In brackets the 95 % interval by bootstrap over questions.',
  retrievalTable(contenders),
  'Ours by server, all questions:',
  serverTable(servers, contenders[0].ranked),
].join('\n\n')
const bytes = [
  'MCP definitions in one request: name, description and parameters of each tool as JSON. ' +
    `Above ${tools.length} tools the same catalogues stand there again under other server names.`,
  weightTable(weighAll(servers)),
].join('\n\n')

print(retrieval)
print(bytes)
if (options.failures) print(failureText(contenders[0].ranked))
if (options.publish) publish({ retrieval, bytes })

function print(text: string): void {
  process.stdout.write(`${text}\n\n`)
}
