/** Owns the reading of what a run of the suite left: its summary on stdout, and one folder a scenario. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The driver's last line where everything went well. */
export const FINISHED = 'driver: finished'

export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly description?: string
  readonly errorMessage?: string
}

/** What one scenario of one leg came to. */
export interface Result {
  readonly scenario: string
  readonly checks: readonly Check[]
  /** Whether the driver got to its end: the suite itself does not ask. */
  readonly isFinished: boolean
  /** The end of the driver's stderr. */
  readonly log: string
}

const ROW = /^[✓✗] (\S+): \d+ passed, \d+ failed/gm
const MAX_LOG_CHARS = 1_500

/** The results of a leg, in the order of its summary. */
export function readResults(stdout: string, folder: string): Result[] {
  const summary = stdout.slice(stdout.indexOf('=== SUITE SUMMARY ==='))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return [...summary.matchAll(ROW)].map(([, scenario = '']) => {
    // The suite puts a date behind the name, and another scenario's name may begin with this one.
    const checksFile = files.find(
      (file) => file.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z.checks\.json$/, '') === scenario,
    )
    if (checksFile === undefined) {
      const broken: Check = { id: scenario, status: 'FAILURE', errorMessage: 'the scenario could not be run' }
      return { scenario, checks: [broken], isFinished: false, log: '' }
    }
    const read = (name: string): string =>
      readFileSync(join(folder, checksFile.replace(/checks\.json$/, name)), 'utf8')
    return {
      scenario,
      checks: JSON.parse(read('checks.json')) as Check[],
      isFinished: read('stdout.txt').includes(FINISHED),
      log: read('stderr.txt').slice(-MAX_LOG_CHARS),
    }
  })
}
