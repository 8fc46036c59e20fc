/** Owns the command line of the example: what was asked for, and the exit code. */
import { parseArgs } from 'node:util'
import { runChat } from './chat.ts'
import { reasonOf, say, styled } from './report.ts'
import { runTour } from './tour.ts'

const END_LIMIT_MS = 5_000
const USAGE = `npm start                        the main job step by step, without a key; ends with 0 when every step held
npm start -- --chat "question"   one question to the real model (DEEPSEEK_API_KEY)
npm start -- --chat              a conversation with it`

// The reader of a pipe may have enough: `npm start | head`.
process.stdout.on('error', () => process.exit())
process.exitCode = (await run()) ? 0 : 1

// Nothing may hold the process now: whatever does is a leak, named and counted as a failure.
setTimeout(() => {
  say(styled('red', `The process does not end: ${process.getActiveResourcesInfo().join(', ')}`))
  process.exit(1)
}, END_LIMIT_MS).unref()

async function run(): Promise<boolean> {
  try {
    const { values, positionals } = parseArgs({
      options: { chat: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
    if (values.chat === true) return await runChat(positionals.join(' ') || undefined)
    if (values.help !== true) return await runTour()
    say(USAGE)
    return true
  } catch (error) {
    // Mostly a row of cordis.yml.
    say('', styled('red', `It did not start: ${reasonOf(error)}`), '', USAGE)
    return false
  }
}
