/**
 * Owns the promise of the built package to its importers: which names it exports, that the Loader can mount it,
 * and that importing it costs little. It reads lib/, in a process of its own.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadOverlayPatches } from '@deepseek-ai/dsh-app-boot'
import { describe, expect, it } from 'vitest'

const PACKAGE = join(import.meta.dirname, '..', '..')
const NAME = '@deepseek-ai/dsh-mcp-client'

interface Api {
  readonly exports: Readonly<Record<string, string>>
  readonly name: unknown
  readonly inject: unknown
  /** URL of every module that the import loaded. */
  readonly loaded: readonly string[]
  /** What is loaded of Node itself. */
  readonly builtins: readonly string[]
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dsh: { readonly bundle: { readonly patch: string } }
  readonly files: readonly string[]
}

/** Import `specifiers` in order in a fresh process that notes what is loaded; what the first one exports. */
async function importFresh(...specifiers: readonly string[]): Promise<Api> {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const [api] = await Promise.all(${JSON.stringify(specifiers)}.map((specifier) => import(specifier)))
    const kinds = Object.entries(api).map(([name, value]) => [name, value?.constructor?.name ?? typeof value])
    const { name, inject } = api
    const builtins = process.moduleLoadList
    process.stdout.write(JSON.stringify({ exports: Object.fromEntries(kinds), name, inject, loaded, builtins }))
  `
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PACKAGE, timeout: 20_000 })
  return JSON.parse(stdout) as Api
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Manifest
}

/** Node's fetch, and what comes with it. */
const fetchOf = (api: Api): string[] => api.builtins.filter((name) => /\b(?:undici|http2|tls)$/.test(name))

/** What costs tens of milliseconds to import and is needed by a server only. */
const costlyOf = (api: Api): string[] =>
  api.loaded.filter((url) => /node_modules\/(@modelcontextprotocol|undici)\//.test(url))

describe('the built package', () => {
  it('exports what the Loader mounts, by name, and no default', async () => {
    const api = await importFresh(NAME)
    expect(api.exports).toEqual({
      Config: 'Function',
      apply: 'AsyncFunction',
      inject: 'Array',
      name: 'String',
    })
    expect(api.name).toBe('mcp-client')
    expect(api.inject).toEqual(['tools'])
  })

  it('is resolved by its name to lib/index.js', async () => {
    const { loaded } = await importFresh(NAME)
    expect(loaded.some((url) => url.endsWith('/packages/mcp/mcp-client/lib/index.js'))).toBe(true)
  })

  it('loads neither the SDK nor undici when it is imported', async () => {
    expect(costlyOf(await importFresh(NAME))).toEqual([])
    expect(costlyOf(await importFresh(NAME, '@modelcontextprotocol/client'))).not.toEqual([])
    expect(costlyOf(await importFresh(NAME, 'undici'))).not.toEqual([])
  })

  it('does not make Node load its fetch, which node:http brings along', async () => {
    expect(fetchOf(await importFresh(NAME))).toEqual([])
    expect(fetchOf(await importFresh(NAME, 'node:http'))).not.toEqual([])
  })

  it('carries the SDK in a file of its own, which the import does not load', async () => {
    const folder = join(PACKAGE, 'lib', 'chunks')
    const withSdk = readdirSync(folder).filter(
      (file) =>
        file.endsWith('.js') &&
        readFileSync(join(folder, file), 'utf8').includes('UnauthorizedError = class'),
    )
    expect(withSdk).toHaveLength(1)
    // Nobody asks its schema validator anything.
    expect(readFileSync(join(folder, withSdk[0] as string), 'utf8')).not.toContain('addMetaSchema')
    const { loaded } = await importFresh(NAME)
    expect(loaded.filter((url) => url.includes('/lib/chunks/')).length).toBeGreaterThan(0)
    expect(loaded.filter((url) => url.endsWith(withSdk[0] as string))).toEqual([])
  })

  it('has every file that its manifest points to', () => {
    const { exports, dsh } = manifest()
    const targets = Object.values(exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    )
    const missing = [...targets, dsh.bundle.patch].filter((file) => !existsSync(join(PACKAGE, file)))
    expect(missing).toEqual([])
    expect(Object.keys(exports)).toEqual(['.', './invariant', './package.json'])
  })

  it('has a bundle layer that the host reads and that adds no row', () => {
    const { dsh, files } = manifest()
    expect(loadOverlayPatches('test', join(PACKAGE, dsh.bundle.patch))).toEqual([])
    expect(files).toContain(dsh.bundle.patch.slice('./'.length))
  })
})
