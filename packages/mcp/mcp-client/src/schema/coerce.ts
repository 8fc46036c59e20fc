/**
 * Owns the repair of arguments that a model wrote as strings: `"5"` for 5, `"[1]"` for a list. Only where the schema
 * forbids any string and the parsed value fits; everything else stays as it is. Pure, never changes its input.
 */
import { expand, spend } from './layers.ts'
import type { Layer, Source } from './layers.ts'
import { isEqual } from './measures.ts'
import type { Spot, Trail } from './measures.ts'
import { isRecord, put } from './record.ts'
import { faultsOf, itemSource, memberSources, typesOf, unionsOf, valuesOf } from './walker.ts'
import type { Walk } from './walker.ts'

const MAX_DEPTH = 64
/** Longer strings are content, not a value in disguise; parsing them would hold up the event loop. */
const MAX_PARSED_CHARS = 1024 * 1024

/** A value with its strings repaired, and where. */
export interface Repair {
  readonly value: unknown
  readonly places: readonly Trail[]
}

/** Repair what can be repaired; the same value where nothing can. */
export function repair(walk: Walk, sources: readonly Source[], spot: Spot): Repair {
  const same: Repair = { value: spot.value, places: [] }
  if (sources.length === 0 || spot.depth > MAX_DEPTH || !spend(walk.meter)) return same
  const { layers } = expand(sources.map(unchained), walk.references, walk.meter)
  if (typeof spot.value === 'string') return repairString(walk, { sources, layers }, spot) ?? same
  const outer = repairInside(walk, layers, spot)
  return layers
    .flatMap(unionsOf)
    .reduce((known, branches) => repairUnion(walk, branches, { ...spot, value: known.value }, known), outer)
}

function unchained(source: Source): Source {
  return { ...source, chain: undefined }
}

interface Here {
  readonly sources: readonly Source[]
  readonly layers: readonly Layer[]
}

function repairString(walk: Walk, { sources, layers }: Here, spot: Spot): Repair | undefined {
  const { trail } = spot
  if (trail === undefined || allowsString(walk, layers, spot.depth)) return undefined
  const parsed = parse(spot.value as string)
  if (parsed === undefined || typeof parsed === 'string') return undefined
  const { value, places } = repair(walk, sources, { ...spot, value: parsed })
  const isFitting = sources.every((source) => faultsOf(walk, source, { ...spot, value }).length === 0)
  // A spent budget finds no faults; it must not find a fit either.
  return isFitting && walk.meter.left >= 0 ? { value, places: [trail, ...places] } : undefined
}

/** False only where a string can surely not be valid. */
function allowsString(walk: Walk, layers: readonly Layer[], depth: number): boolean {
  if (depth > MAX_DEPTH || !spend(walk.meter)) return true
  return layers.every((layer) => {
    const types = typesOf(layer.schema)
    if (types !== undefined && !types.includes('string')) return false
    const values = valuesOf(layer.schema)
    if (values !== undefined && !values.some((value) => typeof value === 'string')) return false
    return unionsOf(layer).every((branches) =>
      branches.some((branch) => {
        const inner = expand([unchained(branch)], walk.references, walk.meter)
        return !inner.never && allowsString(walk, inner.layers, depth + 1)
      }),
    )
  })
}

/** The JSON value of a string, where sending it back as JSON loses nothing. */
function parse(text: string): unknown {
  if (text.length > MAX_PARSED_CHARS) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'number') return parsed
  // A long id would become another number.
  const isExact = Number.isFinite(parsed) && (!Number.isInteger(parsed) || Number.isSafeInteger(parsed))
  return isExact ? parsed + 0 : undefined
}

/** Repair members and items by the schemas that all layers have for them. */
function repairInside(walk: Walk, layers: readonly Layer[], spot: Spot): Repair {
  const { value, trail, depth } = spot
  const places: Trail[] = []
  const size = typeof value === 'object' && value !== null ? Object.keys(value).length : 0
  walk.meter.left -= size * layers.length
  if (walk.meter.left < 0) return { value, places }
  const inside = (key: string | number, item: unknown, sources: readonly Source[]): unknown => {
    const inner = repair(walk, sources, { value: item, trail: { key, up: trail }, depth: depth + 1 })
    places.push(...inner.places)
    return inner.value
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) =>
      inside(
        index,
        item,
        layers.map((layer) => itemSource(layer, index)).filter((source) => source !== undefined),
      ),
    )
    return { value: places.length === 0 ? value : items, places }
  }
  if (!isRecord(value)) return { value, places }
  const members: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    put(
      members,
      name,
      inside(
        name,
        value[name],
        layers.flatMap((layer) => memberSources(layer, name) ?? []),
      ),
    )
  }
  return { value: places.length === 0 ? value : members, places }
}

/** Repair by a branch only where no branch fits as it is, and where all repairs that fit agree. */
function repairUnion(walk: Walk, branches: readonly Source[], spot: Spot, known: Repair): Repair {
  if (branches.some((branch) => faultsOf(walk, branch, spot).length === 0)) return known
  let found: Repair | undefined
  for (const branch of branches) {
    if (!spend(walk.meter)) return known
    const attempt = repair(walk, [branch], { ...spot, depth: spot.depth + 1 })
    if (attempt.places.length === 0 || faultsOf(walk, branch, { ...spot, value: attempt.value }).length > 0)
      continue
    if (found !== undefined && !isEqual(found.value, attempt.value, walk.meter, 0)) return known
    found ??= attempt
  }
  return found === undefined || walk.meter.left < 0
    ? known
    : { value: found.value, places: [...known.places, ...found.places] }
}
