/**
 * Owns the environment of a stdio server: the host's shared scrubbed base with the row's variables over it. The base
 * has no credential-shaped and no DSH_* names; what the row names survives.
 */
import { scrubbedParentEnv } from '@deepseek-ai/dsh-subprocess'
import type { StdioTarget } from './types.ts'

/** Variables for the child: a fresh object. On Windows a variable of the row replaces it in any case of letters. */
export function childEnvironment(
  target: StdioTarget,
  parent: Readonly<Record<string, string>> = scrubbedParentEnv(),
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  if (platform !== 'win32') return { ...parent, ...target.env }
  const own = new Set(Object.keys(target.env).map((name) => name.toUpperCase()))
  const kept = Object.entries(parent).filter(([name]) => !own.has(name.toUpperCase()))
  return { ...Object.fromEntries(kept), ...target.env }
}
