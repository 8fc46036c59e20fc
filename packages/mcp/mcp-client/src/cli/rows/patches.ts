/**
 * Owns how patch layers change a list of entries: the rules of the host's include, so that the rows seen here are those
 * that it mounts. Pure.
 */

/** One entry of a cordis.yml, or one patch of an overlay; nothing is promised about its members. */
export type Entry = Record<string, unknown>

/** The entries after all patches, detached from what came in. `warn` hears of each patch that hits nothing. */
export function applyPatches(
  base: readonly Entry[],
  patches: readonly Entry[],
  warn: (text: string) => void,
): Entry[] {
  const entries = structuredClone(base) as Entry[]
  const byId = new Map<unknown, Entry>()
  const index = (list: readonly Entry[]): void => {
    for (const entry of list) {
      if (entry['id'] !== undefined) byId.set(entry['id'], entry)
      if (isGroup(entry)) index(entry['config'])
    }
  }
  index(entries)
  for (const patch of structuredClone(patches) as Entry[]) {
    const { id, insert, name, ...overrides } = patch
    const target = byId.get(id)
    if (Array.isArray(insert)) {
      const added = insert.filter(isEntry)
      if (id === undefined) entries.push(...added)
      else if (target === undefined || target['group'] !== true) {
        warn(
          `a patch inserts into "${String(id)}", which is ${target === undefined ? 'not there' : 'no group'}`,
        )
        continue
      } else target['config'] = [...(Array.isArray(target['config']) ? target['config'] : []), ...added]
      index(added)
    } else if (target === undefined) warn(`a patch is for "${String(id)}", which is not there`)
    else if (name !== undefined && name !== target['name']) {
      warn(`a patch for "${String(id)}" is for a plugin of another name`)
    } else Object.assign(target, overrides)
  }
  return entries
}

/** Whether a list is a layer of patches rather than a list of entries. */
export function isOverlay(list: readonly Entry[]): boolean {
  return list.some((entry) => Array.isArray(entry['insert']))
}

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isGroup(entry: Entry): entry is Entry & { config: Entry[] } {
  return Boolean(entry['group']) && Array.isArray(entry['config'])
}
