/**
 * Owns the generous reading of a glob, for rules that keep something out: a server that changes the case of a name, or
 * puts a hidden character into it, must not get past the rule. Pure.
 */
import { createGlobs, globFault } from './globs.ts'
import { cleanText } from './text.ts'

/**
 * A test that also takes a name that differs in case or in hidden characters alone.
 * @throws Error for a pattern that cannot be read
 */
export function createLooseGlob(pattern: string): (name: string) => boolean {
  const exact = createGlobs([pattern])
  const lower = pattern.toLowerCase()
  // Lower case may turn a range around: then there is only the pattern as written.
  const loose = globFault(lower) === undefined ? createGlobs([lower]) : exact
  return (name) => exact(name) || loose(cleanText(name).toLowerCase())
}
