/** Owns the server names of rows: legal, unique within an import, and the same each time. Pure. */
import { SERVER_NAME } from '../../config-schema.ts'

const MAX_LENGTH = 32

/** The name of each server in order: its own where it is legal, otherwise the nearest legal one; `-2` where two meet. */
export function serverNames(names: readonly string[]): string[] {
  // A legal name is never given away to an illegal one that comes first.
  const taken = new Set(names.filter((name) => SERVER_NAME.test(name)))
  const seen = new Set<string>()
  return names.map((name) => {
    if (SERVER_NAME.test(name) && !seen.has(name)) {
      seen.add(name)
      return name
    }
    const base = legalName(name)
    let chosen = base
    for (let number = 2; taken.has(chosen); number += 1) {
      const suffix = `-${number}`
      chosen = `${base.slice(0, MAX_LENGTH - suffix.length)}${suffix}`
    }
    taken.add(chosen)
    return chosen
  })
}

/** The nearest legal name: accents go, other characters become `-`. */
function legalName(name: string): string {
  const legal = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/^@/, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_LENGTH)
    .replace(/-+$/, '')
  return legal === '' ? 'server' : legal
}
