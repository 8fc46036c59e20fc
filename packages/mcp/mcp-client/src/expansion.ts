/**
 * Owns `${NAME}` and `${NAME:-default}` in configuration values. The default stands in for an unset or empty variable;
 * a plain `${NAME}` that is set but empty is empty. `$${` writes a literal `${`. What is filled in is not read again,
 * so a variable cannot bring further references. Pure.
 */

export type Environment = Readonly<Record<string, string | undefined>>

/** The text, or why there is none: a variable that is not set, or a `${` that is no reference. */
export type Expansion =
  | { readonly kind: 'text'; readonly text: string; readonly used: readonly (readonly [string, string])[] }
  | { readonly kind: 'missing'; readonly name: string }
  | { readonly kind: 'malformed' }

const NAME = '[A-Za-z_]\\w*'
const REFERENCE = new RegExp(`\\$\\$\\{|\\$\\{(?:(${NAME})(:-[^{}]*)?\\})?`, 'g')
const PLAIN_REFERENCE = new RegExp(`\\$\\{${NAME}(?::-[^{}]*)?\\}`)

/** Tell whether a text holds something that expansion would fill in. */
export function holdsReference(text: string): boolean {
  return PLAIN_REFERENCE.test(text)
}

/** Fill in the references of one text. `used` has name and value of each variable that was read. */
export function expand(text: string, env: Environment): Expansion {
  const used: [string, string][] = []
  let result = ''
  let end = 0
  for (const match of text.matchAll(REFERENCE)) {
    const [reference, name, fallback] = match
    result += text.slice(end, match.index)
    end = match.index + reference.length
    if (reference === '$${') {
      result += '${'
      continue
    }
    if (name === undefined) return { kind: 'malformed' }
    // An own property only: `${constructor}` is no variable.
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value !== undefined) used.push([name, value])
    if (fallback === undefined && value === undefined) return { kind: 'missing', name }
    result += fallback === undefined ? value : value || fallback.slice(2)
  }
  return { kind: 'text', text: result + text.slice(end), used }
}
