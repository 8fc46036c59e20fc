/**
 * Owns the reading of a form that a server wants filled in: from its schema to fields, each with everything the protocol
 * lets it say, and nothing else. Pure. What is no form of the protocol is refused as a whole, since an answer to half of
 * it would be none.
 */
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { invalid } from './refusal.ts'

const MAX_FIELDS = 32
const MAX_CHOICES = 1_000
/** Of names and values that go back to the server as they are. */
const MAX_KEY_CHARS = 1_024

export type Format = 'email' | 'uri' | 'date' | 'date-time'

/** One value of a closed list, and what it is called. Both are the server's own text. */
export interface Choice {
  readonly value: string
  readonly title: string
}

interface FieldBase {
  /** Name in the answer. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly isRequired: boolean
  /** The default as the server wrote it. */
  readonly initial: JsonValue | undefined
}

export interface TextField extends FieldBase {
  readonly kind: 'text'
  readonly minLength: number
  readonly maxLength: number
  readonly pattern: string | undefined
  readonly format: Format | undefined
}

export interface NumberField extends FieldBase {
  readonly kind: 'number'
  readonly isInteger: boolean
  readonly minimum: number
  readonly maximum: number
}

export interface SwitchField extends FieldBase {
  readonly kind: 'switch'
}

export interface ChoiceField extends FieldBase {
  readonly kind: 'choice'
  readonly choices: readonly Choice[]
}

export interface ChoicesField extends FieldBase {
  readonly kind: 'choices'
  readonly choices: readonly Choice[]
  readonly minItems: number
  readonly maxItems: number
}

export type Field = TextField | NumberField | SwitchField | ChoiceField | ChoicesField

export interface Form {
  readonly message: string
  readonly fields: readonly Field[]
}

const FORMATS: ReadonlySet<unknown> = new Set<Format>(['email', 'uri', 'date', 'date-time'])

/**
 * The form of one elicitation/create.
 * @throws InboundRefusal for what is none
 */
export function readForm(params: JsonObject): Form {
  const schema = params['requestedSchema']
  if (!isJsonObject(schema) || schema['type'] !== 'object' || !isJsonObject(schema['properties']))
    throw invalid('requestedSchema must be an object schema with properties')
  const properties = Object.entries(schema['properties'])
  if (properties.length > MAX_FIELDS) throw invalid(`requestedSchema has more than ${MAX_FIELDS} properties`)
  const required = new Set(listOf(schema['required']))
  return {
    message: textOf(params['message']),
    fields: properties.map(([name, property], at) => readField(name, property, { at, required })),
  }
}

interface Place {
  readonly at: number
  readonly required: ReadonlySet<unknown>
}

function readField(name: string, property: JsonValue, { at, required }: Place): Field {
  const where = `property ${at + 1} of requestedSchema`
  if (!isJsonObject(property)) throw invalid(`${where} is no schema`)
  if (name.length > MAX_KEY_CHARS) throw invalid(`${where} has too long a name`)
  const base = {
    name,
    title: textOf(property['title']).trim() || name,
    description: textOf(property['description']),
    isRequired: required.has(name),
    initial: property['default'],
  }
  const choices = choicesOf(property, where)
  if (choices !== undefined) return { ...base, kind: 'choice', choices }
  switch (property['type']) {
    case 'string':
      return {
        ...base,
        kind: 'text',
        minLength: numberOf(property['minLength'], 0),
        maxLength: numberOf(property['maxLength'], Infinity),
        pattern: typeof property['pattern'] === 'string' ? property['pattern'] : undefined,
        format: FORMATS.has(property['format']) ? (property['format'] as Format) : undefined,
      }
    case 'number':
    case 'integer':
      return {
        ...base,
        kind: 'number',
        isInteger: property['type'] === 'integer',
        minimum: numberOf(property['minimum'], -Infinity),
        maximum: numberOf(property['maximum'], Infinity),
      }
    case 'boolean':
      return { ...base, kind: 'switch' }
    case 'array': {
      const items = isJsonObject(property['items']) ? choicesOf(property['items'], where) : undefined
      if (items === undefined) throw invalid(`${where} is a list of something else than choices`)
      return {
        ...base,
        kind: 'choices',
        choices: items,
        minItems: numberOf(property['minItems'], 0),
        maxItems: numberOf(property['maxItems'], Infinity),
      }
    }
    default:
      throw invalid(`${where} is of a type that a form cannot have`)
  }
}

/** The closed list of a schema, in any of the protocol's ways to write one; undefined where it has none. */
function choicesOf(schema: JsonObject, where: string): readonly Choice[] | undefined {
  if (schema['type'] !== undefined && schema['type'] !== 'string') return undefined
  const titled = schema['oneOf'] ?? schema['anyOf']
  const values = schema['enum'] ?? (Array.isArray(titled) ? titled.map(constOf) : undefined)
  if (values === undefined) return undefined
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_CHOICES)
    throw invalid(`${where} has no list of 1 to ${MAX_CHOICES} choices`)
  const names = Array.isArray(titled) ? titled.map(titleOf) : listOf(schema['enumNames'])
  const choices = new Map<string, Choice>()
  for (const [at, value] of values.entries()) {
    if (typeof value !== 'string' || value.length > MAX_KEY_CHARS)
      throw invalid(`${where} has a choice that is no short text`)
    choices.set(value, { value, title: textOf(names[at]).trim() || value })
  }
  return [...choices.values()]
}

function constOf(entry: JsonValue): JsonValue | undefined {
  return isJsonObject(entry) ? entry['const'] : undefined
}

function titleOf(entry: JsonValue): JsonValue | undefined {
  return isJsonObject(entry) ? entry['title'] : undefined
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function numberOf(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function listOf(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  return Array.isArray(value) ? value : []
}
