/**
 * Owns the command line of the example.
 *
 *     npm start                        the main job step by step, keyless; exit code 0 when every step held
 *     npm start -- --chat "question"   one question to the real model (DEEPSEEK_API_KEY)
 *     npm start -- --chat              a conversation
 */
import { parseArgs } from 'node:util'
import { runChat } from './chat.ts'
import { say } from './report.ts'
import { runTour } from './tour.ts'

const END_LIMIT_MS = 5_000

const { values, positionals } = parseArgs({ options: { chat: { type: 'boolean' } }, allowPositionals: true })
const held = values.chat === true ? await runChat(positionals[0]) : await runTour()
process.exitCode = held ? 0 : 1

// Nothing may hold the process now: whatever does is a leak, named and counted as a failure.
setTimeout(() => {
  say(`FAIL  the process does not end: ${process.getActiveResourcesInfo().join(', ')}`)
  process.exit(1)
}, END_LIMIT_MS).unref()
