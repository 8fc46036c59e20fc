/**
 * Owns the reading of a dsh profile: the bundles its manifest names, each a layer of patches, the person's own layer
 * last, and the .env files that `dsh --profile` reads. Reads only: a profile that is not there is not made.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { resolveDshHome } from '@deepseek-ai/dsh-home-paths'
import { messageOf } from '../../errors.ts'
import { UsageError } from '../exit.ts'
import { applyPatches, isEntry } from './patches.ts'
import type { Entry } from './patches.ts'
import { readYaml } from './yaml.ts'

export interface Profile {
  readonly entries: readonly Entry[]
  /** Folder of the profile: relative paths begin there. */
  readonly folder: string
  /** The person's own layer. */
  readonly file: string
  readonly notes: readonly string[]
}

const PATCH_FILE = 'cordis.patch.yml'
/** Names that the host takes from the launching environment only. */
const BOOTSTRAP =
  /^(?:DSH_|XDG_|DYLD_|LD_|NODE_|GIT_|PYTHON|BASH_)|^(?:PATH|HOME|USERPROFILE|SHELL|ENV)$|_PROXY$/i

/** @throws UsageError when there is no such profile, or its files cannot be read */
export function readProfile(name: string, env: Readonly<Record<string, string | undefined>>): Profile {
  const home = resolveDshHome(undefined, env)
  if (name === '' || /[\\/]/.test(name) || /^(?:\.\.?|node_modules)$/.test(name)) {
    throw new UsageError(`--profile: ${JSON.stringify(name)} is no name of a profile`)
  }
  const folder = join(home, 'profiles', name)
  const manifest = readManifest(join(folder, 'package.json'), name)
  const notes: string[] = []
  const layers: Entry[] = []
  for (const bundle of bundlesOf(manifest)) {
    const file = layerOf(bundle, folder)
    if (typeof file === 'string') layers.push(...readLayer(file))
    else notes.push(`bundle ${bundle} is left out: ${file.reason}`)
  }
  const file = join(folder, PATCH_FILE)
  if (existsSync(file)) layers.push(...readLayer(file))
  return { entries: applyPatches([], layers, (text) => notes.push(text)), folder, file, notes }
}

/** Variables of the .env files that the host would add to what is set: of the working directory, then of its home. */
export function profileEnvironment(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const added: Record<string, string> = {}
  for (const folder of new Set([cwd, resolveDshHome(undefined, env)])) {
    const file = join(folder, '.env')
    if (!existsSync(file)) continue
    for (const [name, value] of Object.entries(parseEnv(readFileSync(file, 'utf8')))) {
      if (value !== undefined && env[name] === undefined && !BOOTSTRAP.test(name)) added[name] ??= value
    }
  }
  return added
}

function readManifest(path: string, name: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw new UsageError(`there is no profile ${JSON.stringify(name)}: ${path} cannot be read`)
  }
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error)}`)
  }
}

function bundlesOf(manifest: unknown): string[] {
  const { bundles } =
    ((manifest as Entry)['dsh'] as { profile?: { bundles?: unknown } } | undefined)?.profile ?? {}
  return Array.isArray(bundles) ? bundles.filter((bundle) => typeof bundle === 'string') : []
}

/** The patch file of a bundle, found as Node finds packages from the profile, or why there is none. */
function layerOf(bundle: string, folder: string): string | { readonly reason: string } {
  /* v8 ignore next -- null for the modules of Node alone */
  const places = createRequire(join(folder, 'package.json')).resolve.paths(bundle) ?? []
  const manifest = places.map((place) => join(place, bundle, 'package.json')).find((path) => existsSync(path))
  if (manifest === undefined) return { reason: 'its package is not installed where the profile looks' }
  const { dsh } = readManifest(manifest, bundle) as { dsh?: { bundle?: { patch?: unknown } } }
  const patch = dsh?.bundle?.patch
  return typeof patch === 'string' ? join(dirname(manifest), patch) : { reason: 'it declares no dsh.bundle' }
}

function readLayer(path: string): Entry[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`)
  }
  const list = readYaml(text, path)
  if (!Array.isArray(list)) throw new UsageError(`${path}: must be a list of patches`)
  return list.filter(isEntry)
}
