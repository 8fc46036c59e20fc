/**
 * Owns the closed vocabulary: JSON Schema's types, and one row for each keyword that the host's subset cannot say and
 * that is told to the model in words instead. A new keyword is a row. Pure.
 */
import { within } from './layers.ts'
import type { Layer, Source } from './layers.ts'
import { quoted } from './prose.ts'
import { isRecord, own } from './record.ts'
import type { Dict } from './record.ts'

/** In the order in which alternatives are written; `null` comes last. */
export const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const
export type TypeName = (typeof TYPES)[number]

/** Spellings of other languages and of OpenAPI dialects whose meaning is plain. */
const ALIASES: Readonly<Record<string, TypeName>> = {
  str: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  bool: 'boolean',
  dict: 'object',
  list: 'array',
  none: 'null',
}

/** The type a server means by a name; `undefined` for names of no type, such as `any`. */
export function typeNamed(name: unknown): TypeName | undefined {
  if (typeof name !== 'string') return undefined
  const plain = name.toLowerCase()
  return TYPES.find((type) => type === plain) ?? (Object.hasOwn(ALIASES, plain) ? ALIASES[plain] : undefined)
}

/** A hint: words, and schemas to be put into words. */
export type Hint = readonly (string | Source)[]

export type Row = (value: unknown, layer: Layer) => Hint | undefined

const number =
  (words: string): Row =>
  (value) =>
    // Bounds at the edge of exact integers are what generators write for "an integer".
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? [`${words} ${value}`] : undefined

/** Draft 04 says by a boolean beside it that the bound itself is out. */
const bound =
  (words: string, exclusive: string, keyword: string): Row =>
  (value, layer) =>
    number(own(layer.schema, keyword) === true ? exclusive : words)(value, layer)

const text =
  (words: string): Row =>
  (value) =>
    typeof value === 'string' && value !== '' ? [`${words} ${value.slice(0, 160)}`] : undefined

const flag =
  (words: string): Row =>
  (value) =>
    value === true ? [words] : undefined

const subschema =
  (words: string): Row =>
  (value, layer) =>
    isRecord(value) && Object.keys(value).length > 0 ? [`${words} `, within(layer, value)] : undefined

/** In the order in which they are told. */
export const TOLD: Readonly<Record<string, Row>> = {
  minimum: bound('minimum', 'greater than', 'exclusiveMinimum'),
  exclusiveMinimum: number('greater than'),
  maximum: bound('maximum', 'less than', 'exclusiveMaximum'),
  exclusiveMaximum: number('less than'),
  multipleOf: number('multipleOf'),
  minLength: number('minLength'),
  maxLength: number('maxLength'),
  pattern: text('pattern'),
  format: text('format'),
  contentEncoding: text('encoded as'),
  contentMediaType: text('media type'),
  minItems: number('minItems'),
  maxItems: number('maxItems'),
  uniqueItems: flag('uniqueItems'),
  contains: subschema('at least one item is'),
  minProperties: number('minProperties'),
  maxProperties: number('maxProperties'),
  propertyNames: subschema('every property name is'),
  patternProperties: (value, layer) =>
    entriesOf(value, (name, schema) => [
      `properties that match ${name.slice(0, 100)} are `,
      within(layer, schema),
    ]),
  additionalProperties: subschema('every other property is'),
  unevaluatedProperties: (value) => (value === false ? ['no other properties'] : undefined),
  dependentRequired: (value) => entriesOf(value, requiresToo),
  dependentSchemas: (value, layer) => entriesOf(value, (name, schema) => applies(name, schema, layer)),
  dependencies: (value, layer) =>
    entriesOf(value, (name, rule) =>
      Array.isArray(rule) ? requiresToo(name, rule) : applies(name, rule, layer),
    ),
  if: (value, layer) => conditional(value, layer),
  not: subschema('never'),
  deprecated: flag('deprecated'),
  readOnly: flag('read-only'),
}

const MAX_ENTRIES = 8

function entriesOf(value: unknown, toHint: (name: string, rule: unknown) => Hint): Hint | undefined {
  if (!isRecord(value)) return undefined
  const names = Object.keys(value).toSorted()
  if (names.length === 0) return undefined
  return names
    .slice(0, MAX_ENTRIES)
    .flatMap((name, index) =>
      index === 0 ? toHint(name, value[name]) : ['; ', ...toHint(name, value[name])],
    )
}

function requiresToo(name: string, rule: unknown): Hint {
  const names = Array.isArray(rule)
    ? rule.slice(0, MAX_ENTRIES).map((other) => quoted(other ?? null, 64))
    : []
  return [`with ${quoted(name, 64)} also give ${names.join(', ')}`]
}

function applies(name: string, rule: unknown, layer: Layer): Hint {
  return [`with ${quoted(name, 64)} it is `, within(layer, rule)]
}

function conditional(value: unknown, layer: Layer): Hint | undefined {
  const { schema } = layer
  if (!isRecord(value)) return undefined
  const parts: (string | Source)[] = ['if it is ', within(layer, value)]
  if (isRecord(own(schema, 'then'))) parts.push(' then it is ', within(layer, schema['then']))
  if (isRecord(own(schema, 'else'))) parts.push(' else it is ', within(layer, schema['else']))
  return parts.length === 2 ? undefined : parts
}

/** Keywords that say the type where the server left it out. */
const TELLTALES: readonly (readonly [TypeName, readonly string[]])[] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'propertyNames',
      'minProperties',
      'maxProperties',
    ],
  ],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['string', ['pattern', 'format', 'minLength', 'maxLength', 'contentEncoding', 'contentMediaType']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

/** The type that keywords without a `type` are plainly about. */
export function inferredType(schemas: readonly Dict[]): TypeName | undefined {
  return TELLTALES.find(([, keywords]) =>
    schemas.some((schema) => keywords.some((keyword) => Object.hasOwn(schema, keyword))),
  )?.[0]
}
