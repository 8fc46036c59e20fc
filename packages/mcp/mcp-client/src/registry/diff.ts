/** Owns the difference between what is published and what should be. Pure. */
import type { CatalogEntry } from '../types.ts'

export interface CatalogDiff {
  /** Public names to unregister: gone, or changed. */
  readonly remove: readonly string[]
  /** Entries to register: new, or changed. In catalog order. */
  readonly add: readonly CatalogEntry[]
}

/**
 * Compare by digest: an equal digest is an equal definition, whatever object it came in.
 * @param published digest of each published public name
 */
export function diffCatalog(
  published: ReadonlyMap<string, string>,
  entries: readonly CatalogEntry[],
): CatalogDiff {
  const wanted = new Map(entries.map((entry) => [entry.publicName, entry.digest]))
  return {
    remove: [...published].filter(([name, digest]) => wanted.get(name) !== digest).map(([name]) => name),
    add: entries.filter((entry) => published.get(entry.publicName) !== entry.digest),
  }
}
