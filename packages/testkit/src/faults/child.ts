/**
 * Owns the stdio side of the table: the behaviour file that a scripted child loads. Options: row (id), era.
 */
import type { BehaviourFactory, Era } from '../behaviour.ts'
import { faultRow } from './index.ts'

export const behaviour: BehaviourFactory = (options, run) => {
  const row = faultRow(String(options['row']))
  return { ...row.server?.(run, options), era: options['era'] as Era }
}
