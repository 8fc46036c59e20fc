/**
 * Owns the reading of the host's YAML dialect: JSON types, and `!!js` scalars that stay expressions until a row is
 * resolved. Pure.
 */
import { parseDocument } from 'yaml'
import { cleanLine } from '../../text.ts'
import { UsageError } from '../exit.ts'

/** A scalar that the host evaluates when the row loads. */
interface JsExpression {
  readonly __jsExpr: string
}

/** The text of an expression; `undefined` for any other value. */
export function expressionOf(value: unknown): string | undefined {
  // oxlint-disable-next-line no-underscore-dangle -- the host's own name for it
  return isJsExpression(value) ? value.__jsExpr : undefined
}

function isJsExpression(value: unknown): value is JsExpression {
  return typeof value === 'object' && value !== null && '__jsExpr' in value
}

const JS_TAG = {
  tag: 'tag:yaml.org,2002:js',
  resolve: (text: string): JsExpression => ({ __jsExpr: text }),
}
const MAX_MESSAGE_CHARS = 300

/**
 * Read one document. `label` names the file in the fault.
 * @throws UsageError with line and column
 */
export function readYaml(text: string, label: string): unknown {
  // The host reads a file with a byte order mark, too.
  const document = parseDocument(text.replace(/^\uFEFF/, ''), {
    schema: 'core',
    customTags: [JS_TAG],
    prettyErrors: true,
  })
  const [error] = document.errors
  if (error !== undefined) {
    const start = error.linePos?.[0]
    const where = `:${start?.line}:${start?.col}`
    // The rest of the message quotes the line, which may hold a secret.
    const what = error.message.replace(/(?: at line \d|\n)[^]*/, '')
    throw new UsageError(`${label}${where}: ${cleanLine(what, MAX_MESSAGE_CHARS)}`)
  }
  try {
    return document.toJS() as unknown
  } catch (error) {
    throw new UsageError(`${label}: ${cleanLine((error as Error).message, MAX_MESSAGE_CHARS)}`)
  }
}
