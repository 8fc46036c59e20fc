/**
 * Owns the checking of a value against a server's own schema, drafts 04 to 2020-12. It may only err on the lenient
 * side: what it does not know, may not run (`pattern`, `format`) or cannot finish in its budget counts as valid, and
 * keywords that turn leniency round (`not`, `if`, exactly one of `oneOf`) are read as their lenient half. Pure,
 * bounded in steps and depth. See docs/decisions/0007-own-schema-walker.md.
 */
import { typeNamed } from './keywords.ts'
import type { TypeName } from './keywords.ts'
import { expand, spend, within } from './layers.ts'
import type { Layer, Meter, Source } from './layers.ts'
import {
  ARRAY_SIZE,
  characters,
  fault,
  isEqual,
  isOfType,
  MAX_DEPTH,
  OBJECT_SIZE,
  rangeFaults,
  shallow,
  sizeFaults,
  TEXT_SIZE,
} from './measures.ts'
import type { Fault, Spot } from './measures.ts'
import { isRecord, own } from './record.ts'
import type { Dict } from './record.ts'
import type { References } from './references.ts'

/** What one check may spend, and where its references lead. */
export interface Walk {
  readonly references: References
  readonly meter: Meter
}

const MAX_STEPS = 100_000
const MAX_FAULTS = 10

export function startWalk(references: References): Walk {
  return { references, meter: { left: MAX_STEPS } }
}

/** What is wrong with a value; empty where nothing is, or where it could not be found out. */
export function faultsOf(walk: Walk, source: Source, spot: Spot): readonly Fault[] {
  if (spot.depth > MAX_DEPTH) return []
  const { layers, never } = expand([{ ...source, chain: undefined }], walk.references, walk.meter)
  if (walk.meter.left < 0) return []
  if (never) return [fault(spot, ['no value'])]
  const faults: Fault[] = []
  for (const layer of layers) {
    faults.push(...layerFaults(walk, layer, spot))
    if (faults.length >= MAX_FAULTS) break
  }
  // What was found before the budget ended is wrong all the same.
  return faults.slice(0, MAX_FAULTS)
}

function layerFaults(walk: Walk, layer: Layer, spot: Spot): readonly Fault[] {
  const { schema } = layer
  const { value } = spot
  const types = typesOf(schema)
  // Whatever else is wrong follows from the type.
  if (types !== undefined && !types.some((type) => isOfType(value, type))) return [fault(spot, types)]
  const isNull = value === null && own(schema, 'nullable') === true
  const values = valuesOf(schema)
  if (values !== undefined && !isNull && !values.some((other) => isEqual(value, other, walk.meter, 0))) {
    return [
      fault(
        spot,
        values.map((other) => JSON.stringify(shallow(other))),
      ),
    ]
  }
  const faults: Fault[] = []
  if (typeof value === 'number') faults.push(...rangeFaults(schema, spot, value))
  if (typeof value === 'string')
    faults.push(...sizeFaults(schema, spot, characters(value, schema), TEXT_SIZE))
  if (Array.isArray(value)) faults.push(...arrayFaults(walk, layer, spot, value))
  else if (isRecord(value)) faults.push(...objectFaults(walk, layer, spot, value))
  if (!isNull) for (const branches of unionsOf(layer)) faults.push(...unionFaults(walk, branches, spot))
  return faults
}

/** The types that a schema names; `undefined` where it names none, or one that we do not know. */
export function typesOf(schema: Dict): readonly TypeName[] | undefined {
  const declared = own(schema, 'type')
  if (declared === undefined || declared === null) return undefined
  const types = (Array.isArray(declared) ? declared : [declared]).map(typeNamed)
  if (types.length === 0 || types.includes(undefined)) return undefined
  if (own(schema, 'nullable') === true) types.push('null')
  return types as TypeName[]
}

/** The values that a schema lists. */
export function valuesOf(schema: Dict): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  const listed = own(schema, 'enum')
  return Array.isArray(listed) && listed.length > 0 ? listed : undefined
}

/** The branches of `anyOf` and of `oneOf`. */
export function unionsOf(layer: Layer): readonly (readonly Source[])[] {
  return [own(layer.schema, 'anyOf'), own(layer.schema, 'oneOf')]
    .filter((branches) => Array.isArray(branches) && branches.length > 0)
    .map((branches) => (branches as unknown[]).map((branch) => within(layer, branch)))
}

/** The schemas of an object's member; `undefined` where the name is not allowed. */
export function memberSources(layer: Layer, name: string): readonly Source[] | undefined {
  const { schema } = layer
  const properties = own(schema, 'properties')
  if (isRecord(properties) && Object.hasOwn(properties, name)) return [within(layer, properties[name])]
  const patterns = own(schema, 'patternProperties')
  // A pattern of the server is never run: any other name may be one of its.
  if (isRecord(patterns) && Object.keys(patterns).length > 0) return []
  const others = own(schema, 'additionalProperties')
  if (others === false) return undefined
  return isRecord(others) ? [within(layer, others)] : []
}

/** The schema of an array's item, where there is one. */
export function itemSource(layer: Layer, index: number): Source | undefined {
  const { schema } = layer
  const prefix = own(schema, 'prefixItems')
  const items = own(schema, 'items')
  const tuple = Array.isArray(prefix) ? prefix : Array.isArray(items) ? items : []
  if (index < tuple.length) return within(layer, tuple[index])
  const rest = Array.isArray(items) ? own(schema, 'additionalItems') : items
  return rest === undefined || Array.isArray(rest) ? undefined : within(layer, rest)
}

function objectFaults(walk: Walk, layer: Layer, spot: Spot, value: Dict): readonly Fault[] {
  const { schema } = layer
  const faults: Fault[] = []
  for (const name of requiredOf(schema, value)) {
    if (!Object.hasOwn(value, name))
      faults.push({ trail: { key: name, up: spot.trail }, expected: expectedOf(walk, layer, name) })
    if (faults.length >= MAX_FAULTS || !spend(walk.meter)) return faults
  }
  for (const name of Object.keys(value)) {
    if (faults.length >= MAX_FAULTS || !spend(walk.meter)) break
    const inner = { value: value[name], trail: { key: name, up: spot.trail }, depth: spot.depth + 1 }
    const sources = memberSources(layer, name)
    if (sources === undefined) faults.push(fault(inner, [noSuchName(schema)]))
    for (const source of sources ?? []) faults.push(...faultsOf(walk, source, inner))
  }
  return [...faults, ...sizeFaults(schema, spot, Object.keys(value).length, OBJECT_SIZE)]
}

function requiredOf(schema: Dict, value: Dict): Set<string> {
  const names = new Set<string>()
  const required = own(schema, 'required')
  if (Array.isArray(required)) for (const name of required) if (typeof name === 'string') names.add(name)
  for (const keyword of ['dependentRequired', 'dependencies']) {
    const rules = own(schema, keyword)
    if (!isRecord(rules)) continue
    for (const trigger of Object.keys(rules)) {
      const needed = rules[trigger]
      if (!Array.isArray(needed) || !Object.hasOwn(value, trigger)) continue
      for (const name of needed) if (typeof name === 'string') names.add(name)
    }
  }
  return names
}

function expectedOf(walk: Walk, layer: Layer, name: string): readonly string[] {
  const { layers } = expand(memberSources(layer, name) ?? [], walk.references, walk.meter)
  return layers.map((inner) => typesOf(inner.schema)).find((types) => types !== undefined) ?? ['a value']
}

const MAX_NAMES = 12

function noSuchName(schema: Dict): string {
  const properties = own(schema, 'properties')
  const names = isRecord(properties) ? Object.keys(properties).toSorted() : []
  if (names.length === 0) return 'no property of this name (there are none)'
  const more = names.length > MAX_NAMES ? `, ${names.length - MAX_NAMES} more` : ''
  return `no property of this name (there are ${names.slice(0, MAX_NAMES).join(', ')}${more})`
}

function arrayFaults(walk: Walk, layer: Layer, spot: Spot, value: readonly unknown[]): readonly Fault[] {
  const faults = [...sizeFaults(layer.schema, spot, value.length, ARRAY_SIZE)]
  for (const [index, item] of value.entries()) {
    if (faults.length >= MAX_FAULTS || !spend(walk.meter)) break
    const source = itemSource(layer, index)
    if (source === undefined) continue
    faults.push(
      ...faultsOf(walk, source, {
        value: item,
        trail: { key: index, up: spot.trail },
        depth: spot.depth + 1,
      }),
    )
  }
  return faults
}

/** At least one branch; the faults of the branch that came closest otherwise. */
function unionFaults(walk: Walk, branches: readonly Source[], spot: Spot): readonly Fault[] {
  let closest: readonly Fault[] | undefined
  const shallowest: string[] = []
  for (const branch of branches) {
    if (!spend(walk.meter)) return []
    const faults = faultsOf(walk, branch, { ...spot, depth: spot.depth + 1 })
    if (faults.length === 0) return []
    const here = faults.filter((one) => one.trail === spot.trail && Object.hasOwn(one, 'value'))
    if (here.length > 0) shallowest.push(...here.flatMap((one) => one.expected))
    else if (closest === undefined || faults.length < closest.length) closest = faults
  }
  return closest ?? [fault(spot, [...new Set(shallowest)])]
}
