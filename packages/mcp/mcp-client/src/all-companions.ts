/** Owns the list of the companions that are loaded while the first server starts. */
import { COMMANDS } from './commands.ts'
import type { Companion } from './companions.ts'
import * as search from './search/companion.ts'
import { NOTICES } from './servers-notice.ts'
import { TELEMETRY } from './telemetry.ts'

export const LATER_COMPANIONS: readonly Companion[] = [search, NOTICES, COMMANDS, TELEMETRY]
