/**
 * Owns taking a named behaviour as the server of a row.
 */
import type { Behaviour, BehaviourFactory, Options, Run } from '../behaviour.ts'
import { behaviours } from '../behaviours/index.ts'
import type { BehaviourName } from '../behaviours/index.ts'

/** The named behaviour with these options. */
export function named(name: BehaviourName, options: Options = {}, run: Run = { starts: 1 }): Behaviour {
  const factory: BehaviourFactory = behaviours[name]
  return factory(options, run)
}
