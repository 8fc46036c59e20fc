/** Owns the main job: runs the steps in order, prints what each showed and took, and counts what held. */
import { AssertionError } from 'node:assert'
import { inspect } from 'node:util'
import { openHost } from './host.ts'
import type { Host } from './host.ts'
import { cut, say, sayRows, sayStep, styled, time } from './report.ts'
import type { Row } from './report.ts'
import type { Step } from './stage.ts'
import { callStep, dottedStep, errorStep, namesakesStep, structuredStep } from './steps/calls.ts'
import { bootStep, crashStep, disposalStep } from './steps/life.ts'
import { imageStep, turnStep } from './steps/turns.ts'

const STEPS: readonly Step[] = [
  bootStep,
  callStep,
  structuredStep,
  imageStep,
  dottedStep,
  namesakesStep,
  errorStep,
  crashStep,
  turnStep,
  disposalStep,
]

const ALIKE_CHARS = 56
const LOG_CHARS = 400

/** Run the main job. Resolves to whether every step held. */
export async function runTour(): Promise<boolean> {
  say(styled('bold', 'MCP servers as native tools of the DeepSeek Harness'))
  say(`The real host of examples/quickstart/cordis.yml, without a key. Node ${process.versions.node}.`)
  const begun = performance.now()
  const host = await openHost()
  let held = 0
  try {
    for (const [index, step] of STEPS.entries()) {
      // The first step shows the boot, which has just happened.
      const since = index === 0 ? begun : performance.now()
      if (await runStep(host, { step, number: index + 1, since })) held += 1
    }
  } finally {
    await host.close()
  }
  saySummary(held, performance.now() - begun)
  return held === STEPS.length
}

interface Turn {
  readonly step: Step
  readonly number: number
  readonly since: number
}

async function runStep(host: Host, { step, number, since }: Turn): Promise<boolean> {
  const rows: Row[] = []
  let failure: string | undefined
  try {
    await step.run({ host, show: (...row) => rows.push(row) })
  } catch (error) {
    failure = brokenPromise(error)
  }
  sayStep(failure === undefined ? 'ok' : 'FAIL', number, step.title, performance.now() - since)
  const why: Row[] = failure === undefined ? [] : [['failed', failure]]
  sayRows([...rows, ...logRows(host), ...why])
  return failure === undefined
}

/** What the host logged meanwhile. Of lines that begin alike, such as those of each attempt, the first is shown. */
function logRows(host: Host): Row[] {
  const firsts = new Map<string, string>()
  for (const line of host.takeLog()) {
    const start = line.replaceAll(/\d+/g, '#').slice(0, ALIKE_CHARS)
    if (!firsts.has(start)) firsts.set(start, line)
  }
  return [...firsts.values()].map((line) => ['log', cut(line, LOG_CHARS)])
}

/** One line: what was promised, and what came instead where that helps. */
function brokenPromise(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [promise = ''] = error.message.split('\n', 1)
  if (!(error instanceof AssertionError) || error.operator !== 'strictEqual') return promise
  return `${promise}: ${cut(inspect(error.actual), 80)} instead of ${cut(inspect(error.expected), 80)}`
}

function saySummary(held: number, ms: number): void {
  const all = held === STEPS.length
  say(
    '',
    styled(all ? 'green' : 'red', `${held} of ${STEPS.length} steps held, in ${time(ms)}.`),
    '',
    'What next',
    '  Add your own server   a row in examples/quickstart/cordis.yml, then npm start again',
    '  Talk to a real model  DEEPSEEK_API_KEY=... npm start -- --chat',
    '  One question          DEEPSEEK_API_KEY=... npm start -- --chat "Which notes speak of the sink?"',
    '  Use it in your host   README.md, "In your own host"',
  )
}
