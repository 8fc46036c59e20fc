/**
 * Owns the table of named behaviours: a name a fault.
 */
import { pathToFileURL } from 'node:url'
import type { BehaviourFactory } from '../behaviour.ts'
import { asking } from './asking.ts'
import { calls } from './calls.ts'
import { content } from './content.ts'
import { discovery } from './discovery.ts'
import { framing } from './framing.ts'
import { life } from './life.ts'

export const behaviours = {
  ...life,
  ...framing,
  ...discovery,
  ...calls,
  ...content,
  ...asking,
} satisfies Record<string, BehaviourFactory>

export type BehaviourName = keyof typeof behaviours

/**
 * The factory of a name, or of a .ts file by its absolute path, which exports it as `behaviour`.
 * @throws Error for a name that is not in the table
 */
export async function behaviourNamed(name: string): Promise<BehaviourFactory> {
  if (Object.hasOwn(behaviours, name)) return behaviours[name as BehaviourName]
  if (!name.startsWith('/')) throw new Error(`No behaviour is called ${name}`)
  const module = (await import(pathToFileURL(name).href)) as { readonly behaviour: BehaviourFactory }
  return module.behaviour
}
