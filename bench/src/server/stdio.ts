/** Owns the benchmark's stdio server: lines in, lines out. Its nature is JSON in the first argument. */
import { createAnswers } from './answers.ts'
import type { Nature } from './answers.ts'

const nature = JSON.parse(process.argv[2] ?? '{"tools":1}') as Nature
const receive = createAnswers(nature)
const write = (text: string): void => void process.stdout.write(`${text}\n`)
const outlet = { answer: write, notify: write }

let rest = ''
function read(chunk: string): void {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) if (line !== '') receive(line, outlet)
}

setTimeout(() => {
  process.stdin.setEncoding('utf8').on('data', read)
  process.stdin.on('end', () => process.exit(0))
}, nature.delayMs ?? 0)
