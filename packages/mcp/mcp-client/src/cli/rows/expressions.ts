/**
 * Owns the evaluation of `!!js` expressions as the host's loader does it: in a bare context of the same framework, with
 * `process`, `dshHomePath` and `baseUrl`, and without the services that only a running host has.
 */
import { Context } from '@deepseek-ai/cordis'
import { dshHomePath } from '@deepseek-ai/dsh-home-paths'
import { messageOf } from '../../errors.ts'
import { cleanLine } from '../../text.ts'
import { expressionOf } from './yaml.ts'

type Evaluate = (scope: object, expression: string) => unknown

/** The loader's own function: a name is looked up in the scope first, then among the globals. */
// oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- a row is code where it says !!js; the host runs it
const evaluate = new Function('ctx', 'expr', 'with (ctx) { return eval(expr) }') as Evaluate

const MAX_REASON_CHARS = 200

/** What evaluating a value has shown, for the diagnosis. */
export interface Findings {
  /** Paths of expressions that gave nothing: mostly a variable that is not set. */
  readonly unset: string[]
  /** Paths of texts in which an expression wrote the word `undefined`. */
  readonly undefinedWords: string[]
}

/** An expression threw; the message names its path and never its text. */
export class ExpressionError extends Error {
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(`${path} holds a !!js expression that fails: ${cleanLine(messageOf(cause), MAX_REASON_CHARS)}`)
    this.name = 'ExpressionError'
    this.path = path
  }
}

/** A scope as the host gives it to the rows of a file in this folder, a URL that ends in a slash. */
export function createScope(baseUrl: string): object {
  const context = new Context()
  context.baseUrl = baseUrl
  context.provide('dshHomePath', dshHomePath)
  return context
}

/**
 * A copy with every expression evaluated.
 * @throws ExpressionError
 */
export function evaluateAll(value: unknown, path: string, scope: object, findings: Findings): unknown {
  const expression = expressionOf(value)
  if (expression !== undefined) return evaluateOne(expression, path, scope, findings)
  if (Array.isArray(value)) {
    return value.map((item, index) => evaluateAll(item, `${path}[${index}]`, scope, findings))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      evaluateAll(member, path === '' ? key : `${path}.${key}`, scope, findings),
    ]),
  )
}

function evaluateOne(expression: string, path: string, scope: object, findings: Findings): unknown {
  let result: unknown
  try {
    result = evaluate(scope, expression)
  } catch (error) {
    throw new ExpressionError(path, error)
  }
  if (result === undefined || result === null) findings.unset.push(path)
  else if (
    typeof result === 'string' &&
    /\b(?:undefined|null)\b/.test(result) &&
    /\$\{|\+/.test(expression)
  ) {
    findings.undefinedWords.push(path)
  }
  return result
}
