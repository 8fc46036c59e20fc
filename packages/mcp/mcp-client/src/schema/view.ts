/**
 * Owns the reading of one place: the layers that apply there, joined into one view with every keyword taken as what
 * it plainly means. What is not what JSON Schema says is noted and passed over. Pure.
 */
import { inferredType, TOLD, typeNamed } from './keywords.ts'
import type { Hint, TypeName } from './keywords.ts'
import { expand, within } from './layers.ts'
import type { Finding, Layer, Source } from './layers.ts'
import { isRecord, own, valueKey } from './record.ts'
import type { Dict } from './record.ts'
import { isSpent, note } from './run.ts'
import type { Place, RewriteReason, Run } from './run.ts'

/** Branches of which at least one, or exactly one, applies. */
export interface Union {
  readonly keyword: 'anyOf' | 'oneOf'
  readonly branches: readonly Source[]
}

/** Everything said about one place. */
export interface View {
  readonly never: boolean
  /** Absent: any type. */
  types?: ReadonlySet<TypeName>
  /** Absent: any value. */
  values?: readonly unknown[]
  nullable: boolean
  /** Each property with all schemas that apply to it. */
  readonly properties: Map<string, Source[]>
  /** Properties that only a condition brings in. */
  readonly extras: Map<string, Source[]>
  readonly required: Set<string>
  closed: boolean
  /** Schemas of every item. */
  readonly items: Source[]
  /** The first tuple: schemas by position, and of what follows. */
  tuple?: { readonly places: readonly Source[]; readonly rest: Source | undefined }
  readonly unions: Union[]
  readonly hints: Hint[]
  description: string
  title: string
  readonly annotations: { default?: unknown; examples?: unknown }
}

const ROWS = Object.entries(TOLD)

const FINDINGS: Readonly<Record<Finding['kind'], RewriteReason>> = {
  inlined: 'reference-inlined',
  foreign: 'reference-foreign',
  missing: 'reference-missing',
  recursive: 'recursion-cut',
  merged: 'all-merged',
  malformed: 'malformed',
  boolean: 'boolean-schema',
}

/** Read one place. */
export function look(run: Run, sources: readonly Source[], place: Place | undefined): View {
  const { layers, findings, never } = expand(sources, run.references, run.meter)
  const view: View = {
    never,
    nullable: false,
    properties: new Map(),
    extras: new Map(),
    required: new Set(),
    closed: false,
    items: [],
    unions: [],
    hints: [],
    description: '',
    title: '',
    annotations: {},
  }
  if (isSpent(run)) return view
  for (const layer of layers) {
    readTexts(view, layer.schema)
    readType(run, view, layer.schema, place)
    readValues(run, view, layer.schema, place)
    readObject(run, view, layer, place)
    readArray(run, view, layer, place)
    readUnions(run, view, layer, place)
    readHints(run, view, layer, place)
  }
  for (const finding of findings) readFinding(run, view, finding, place)
  if (
    view.types === undefined &&
    view.values === undefined &&
    view.unions.length === 0 &&
    run.profile === 'input'
  ) {
    const type = inferredType(layers.map((layer) => layer.schema))
    if (type !== undefined) {
      view.types = new Set([type])
      note(run, place, 'type', 'type-inferred')
    }
  }
  return view
}

function readTexts(view: View, schema: Dict): void {
  const description = own(schema, 'description')
  const title = own(schema, 'title')
  if (view.description === '' && typeof description === 'string') view.description = description
  if (view.title === '' && typeof title === 'string') view.title = title
  if (!('default' in view.annotations) && Object.hasOwn(schema, 'default'))
    view.annotations.default = schema['default']
  if (!('examples' in view.annotations) && Array.isArray(own(schema, 'examples'))) {
    view.annotations.examples = schema['examples']
  }
}

function readType(run: Run, view: View, schema: Dict, place: Place | undefined): void {
  if (own(schema, 'nullable') === true) view.nullable = true
  const declared = own(schema, 'type')
  if (declared === undefined || declared === null) return
  const names = Array.isArray(declared) ? declared : [declared]
  const types = names.map(typeNamed).filter((type) => type !== undefined)
  // One unknown name among them may mean anything.
  if (types.length !== names.length || types.length === 0) return note(run, place, 'type', 'type-unknown')
  view.types = view.types === undefined ? new Set(types) : meet(view.types, new Set(types))
}

/** Types that both allow: a number that must be an integer is an integer. */
function meet(left: ReadonlySet<TypeName>, right: ReadonlySet<TypeName>): ReadonlySet<TypeName> {
  const both = new Set([...left].filter((type) => right.has(type)))
  const isInteger = (one: ReadonlySet<TypeName>, other: ReadonlySet<TypeName>): boolean =>
    one.has('integer') && other.has('number')
  if (!both.has('number') && (isInteger(left, right) || isInteger(right, left))) both.add('integer')
  return both
}

function readValues(run: Run, view: View, schema: Dict, place: Place | undefined): void {
  const listed = own(schema, 'enum')
  if (Array.isArray(listed) && listed.length > 0) view.values = common(view.values, listed)
  else if (listed !== undefined) note(run, place, 'enum', 'malformed')
  if (!Object.hasOwn(schema, 'const')) return
  note(run, place, 'const', 'const-as-enum')
  view.values = common(view.values, [schema['const']])
}

function common(known: readonly unknown[] | undefined, values: readonly unknown[]): readonly unknown[] {
  if (known === undefined) return values
  const keys = new Set(values.map(valueKey))
  return known.filter((value) => keys.has(valueKey(value)))
}

function readObject(run: Run, view: View, layer: Layer, place: Place | undefined): void {
  const { schema } = layer
  const required = own(schema, 'required')
  if (Array.isArray(required)) {
    for (const name of required) if (typeof name === 'string') view.required.add(name)
  } else if (required !== undefined && typeof required !== 'boolean')
    note(run, place, 'required', 'malformed')
  const properties = own(schema, 'properties')
  if (isRecord(properties)) {
    const names = Object.keys(properties)
    run.meter.left -= names.length
    if (isSpent(run)) return
    for (const name of names) {
      add(view.properties, name, within(layer, properties[name]))
      // Draft 03, still written by hand: the property says itself that it is required.
      const property = properties[name]
      if (run.profile === 'input' && isRecord(property) && own(property, 'required') === true)
        view.required.add(name)
    }
  } else if (properties !== undefined) note(run, place, 'properties', 'malformed')
  const isPatterned = isRecord(own(schema, 'patternProperties'))
  if (own(schema, 'additionalProperties') === false && !isPatterned) view.closed = true
  if (run.profile === 'input') readExtras(view, layer)
}

/** What a condition may bring in is shown as optional; when, is told in words. */
function readExtras(view: View, layer: Layer): void {
  const dependent = own(layer.schema, 'dependentSchemas')
  const rules = isRecord(dependent)
    ? Object.keys(dependent)
        .toSorted()
        .map((name) => dependent[name])
    : []
  for (const rule of [own(layer.schema, 'then'), own(layer.schema, 'else'), ...rules]) {
    const properties = isRecord(rule) ? own(rule, 'properties') : undefined
    if (!isRecord(properties)) continue
    for (const name of Object.keys(properties)) {
      if (!view.extras.has(name)) add(view.extras, name, within(layer, properties[name]))
    }
  }
}

function add(map: Map<string, Source[]>, name: string, source: Source): void {
  const known = map.get(name)
  if (known === undefined) map.set(name, [source])
  else known.push(source)
}

function readArray(run: Run, view: View, layer: Layer, place: Place | undefined): void {
  const { schema } = layer
  const items = own(schema, 'items')
  const prefix = own(schema, 'prefixItems')
  if (Array.isArray(prefix) || Array.isArray(items)) {
    const isPrefix = Array.isArray(prefix)
    const rest = isPrefix ? items : own(schema, 'additionalItems')
    note(run, place, isPrefix ? 'prefixItems' : 'items', 'tuple-as-list')
    view.tuple ??= {
      places: (isPrefix ? prefix : (items as unknown[])).map((item) => within(layer, item)),
      rest: rest === undefined ? undefined : within(layer, rest),
    }
  } else if (isRecord(items) || items === false) {
    // Items of any kind are no more than a list.
    if (items === false || Object.keys(items).length > 0) view.items.push(within(layer, items))
  } else if (items !== undefined && items !== true) note(run, place, 'items', 'malformed')
}

function readUnions(run: Run, view: View, layer: Layer, place: Place | undefined): void {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = own(layer.schema, keyword)
    if (Array.isArray(branches) && branches.length > 0) {
      run.meter.left -= branches.length
      if (!isSpent(run))
        view.unions.push({ keyword, branches: branches.map((branch) => within(layer, branch)) })
    } else if (branches !== undefined) note(run, place, keyword, 'malformed')
  }
}

function readHints(run: Run, view: View, layer: Layer, place: Place | undefined): void {
  for (const [keyword, row] of ROWS) {
    if (!Object.hasOwn(layer.schema, keyword)) continue
    const hint = row(layer.schema[keyword], layer)
    if (hint === undefined) continue
    view.hints.push(hint)
    note(run, place, keyword, 'told')
  }
}

function readFinding(run: Run, view: View, finding: Finding, place: Place | undefined): void {
  const keyword = finding.kind === 'merged' ? 'allOf' : finding.kind === 'boolean' ? '' : '$ref'
  note(run, place, keyword, FINDINGS[finding.kind])
  if (finding.kind === 'foreign') view.hints.push(['defined elsewhere: any value'])
  if (finding.kind === 'missing') view.hints.push(['not defined by the server: any value'])
  if (finding.kind !== 'recursive') return
  const target = isRecord(finding.target) ? finding.target : {}
  const type = typeNamed(own(target, 'type'))
  if (type !== undefined && own(target, 'nullable') !== true) {
    view.types = view.types === undefined ? new Set([type]) : meet(view.types, new Set([type]))
  }
  const name = finding.ref.slice(finding.ref.lastIndexOf('/') + 1)
  view.hints.push([name === '#' || name === '' ? 'same form as the whole' : `same form as ${name} above`])
}
