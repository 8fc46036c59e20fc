/**
 * Owns the quick yes of the argument check: most calls fit a flat schema of scalars, and that is seen without walking
 * it. It only ever says yes where walker.ts finds nothing; everything else is left to that. Pure; what is worked out of a
 * schema is kept as long as the schema.
 */
import type { JsonObject } from '../types.ts'
import { TYPES } from './keywords.ts'
import type { TypeName } from './keywords.ts'
import { isOfType } from './measures.ts'
import { isRecord } from './record.ts'
import type { Dict } from './record.ts'

/** What a value of one property must be; `undefined` where it takes more than a look to say. */
type Test = { readonly type: TypeName; readonly values: ReadonlySet<unknown> | undefined } | undefined

interface Plan {
  readonly required: readonly string[]
  readonly tests: ReadonlyMap<string, Test>
  /** Other names are allowed, with any value. */
  readonly isOpen: boolean
}

/** Keywords that restrict nothing, or nothing that is checked. */
const SILENT = [
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
]
const OF_ROOT = new Set([...SILENT, 'type', 'properties', 'required', 'additionalProperties'])
const OF_SCALAR = new Set([...SILENT, 'type', 'enum', 'format', 'pattern', 'deprecated', 'readOnly'])
const IS_SCALAR: ReadonlySet<unknown> = new Set(TYPES.filter((type) => type !== 'object' && type !== 'array'))
const MAX_PROPERTIES = 200

const plans = new WeakMap<object, Plan | 'none'>()

/** True where the arguments surely fit the schema. */
export function surelyFits(schema: JsonObject, args: JsonObject): boolean {
  let plan = plans.get(schema)
  if (plan === undefined) {
    plan = planOf(schema) ?? 'none'
    plans.set(schema, plan)
  }
  if (plan === 'none') return false
  for (const name of plan.required) if (!Object.hasOwn(args, name)) return false
  for (const name of Object.keys(args)) {
    const test = plan.tests.get(name)
    if (test === undefined) {
      if (!plan.isOpen || plan.tests.has(name)) return false
      continue
    }
    const value = args[name]
    if (!isOfType(value, test.type) || test.values?.has(value) === false) return false
  }
  return true
}

function planOf(schema: Dict): Plan | undefined {
  const { type, properties = {}, required = [], additionalProperties = true } = schema
  if (type !== 'object' || !Object.keys(schema).every((key) => OF_ROOT.has(key))) return undefined
  if (!isRecord(properties) || typeof additionalProperties !== 'boolean') return undefined
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) return undefined
  const names = Object.keys(properties)
  if (names.length > MAX_PROPERTIES || required.length > MAX_PROPERTIES) return undefined
  return {
    required,
    tests: new Map(names.map((name) => [name, testOf(properties[name])])),
    isOpen: additionalProperties,
  }
}

function testOf(property: unknown): Test {
  if (!isRecord(property) || !Object.keys(property).every((key) => OF_SCALAR.has(key))) return undefined
  const { type } = property
  if (!IS_SCALAR.has(type)) return undefined
  if (!Object.hasOwn(property, 'enum')) return { type: type as TypeName, values: undefined }
  const { enum: values } = property
  if (!Array.isArray(values) || values.length === 0) return undefined
  return { type: type as TypeName, values: new Set(values) }
}
