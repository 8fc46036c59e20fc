/**
 * Owns the face of the configuration step: the schema that the host calls, and the resolve step behind it.
 *
 * The host validates `Config` before it disposes anything, so the schema refuses all that the resolve step refuses: a
 * faulty row never reaches `apply`, and no message of the bare schema, which would print values, gets out. (After a
 * refused edit the loader rolls back by updating the row to its old config, which restarts the old server once.)
 */
import { resolveConfig } from './config-resolve.ts'
import { shape } from './config-schema.ts'
import { isMcpError } from './errors.ts'

export { resolveConfig } from './config-resolve.ts'
export type { ResolvedConfig } from './config-resolve.ts'

/** One row as it may be written: every key with a default may be left out. */
export type ConfigInput = NonNullable<Parameters<typeof shape>[0]>
/** One row with the schema's defaults filled in, as the host hands it to `apply`. */
export type Config = ReturnType<typeof shape>

/** What Standard Schema says: the value, or issues with a path. */
type Validation =
  { readonly value: unknown } | { readonly issues: readonly { message: string; path: readonly string[] }[] }

const standard = {
  version: 1,
  vendor: 'schemastery',
  validate(raw: unknown): Validation {
    try {
      return { value: normalize(raw) }
    } catch (error) {
      if (!isMcpError(error)) throw error
      return { issues: [{ message: error.message, path: String(error.data['path']).split('.') }] }
    }
  },
} as const

/**
 * The schemastery schema of a row: a union of a stdio arm and an HTTP arm. Called with a row it returns a copy with
 * defaults filled in.
 * @throws McpError MCP_CONFIG_INVALID when called; `~standard` validation returns issues instead.
 */
export const Config = new Proxy(shape, {
  apply: (_shape, _this, [raw]: [unknown]) => normalize(raw),
  get: (target, key) => (key === '~standard' ? standard : (Reflect.get(target, key) as unknown)),
})

/** The schema writes into what it reads: it gets a copy of a row that has passed. */
function normalize(raw: unknown): unknown {
  resolveConfig(raw)
  return shape(structuredClone(raw) as ConfigInput)
}
