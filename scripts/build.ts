/**
 * Owns the build of the package: declarations by tsc, the code by esbuild as a few files. Node takes a third of a
 * millisecond for each file of an import, and a host that starts imports all of them. What is loaded late stays apart.
 */
import { chmodSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { ROOT, mustRun } from './command.ts'

const PACKAGE = join(ROOT, 'packages', 'mcp', 'mcp-client')
const LIB = join(PACKAGE, 'lib')
/** What package.json names. */
const ENTRIES = ['index', 'invariant', 'cli/main']
const LIMIT_MS = 120_000
/** The SDK and what it is made of: 110 files that every server waits for. All else is imported as it is installed. */
const BUNDLED =
  /^(?:@modelcontextprotocol\/|zod(?:\/|$)|pkce-challenge$|jose(?:\/|$)|eventsource(?:-parser)?(?:\/|$))/

/**
 * Of what the SDK brings for Node all but Ajv, 290 KB: no schema is checked by it (`UNUSED_VALIDATOR` in
 * connection/open-session.ts). Whoever makes one all the same learns it at once.
 */
const SDK_SHIMS = `
export const CORS_IS_POSSIBLE = false
export class DefaultJsonSchemaValidator {
  constructor() {
    throw new Error('the build of dsh-mcp-client leaves the schema validator of the SDK out')
  }
}
`

const externals: Plugin = {
  name: 'externals',
  setup(bundle) {
    bundle.onResolve({ filter: /^@modelcontextprotocol\/client\/_shims$/ }, () => ({
      path: 'sdk-shims',
      namespace: 'ours',
    }))
    bundle.onLoad({ filter: /^sdk-shims$/, namespace: 'ours' }, () => ({ contents: SDK_SHIMS }))
    bundle.onResolve({ filter: /^[^./]/ }, ({ kind, path }) =>
      kind === 'entry-point' || BUNDLED.test(path) ? undefined : { path, external: true },
    )
  },
}

/** Beside its place first: another build, or a test that reads lib, never meets half of one. */
/** The licences of the packages that are bundled: whoever gets a copy of them gets these, too. */
function licencesOf(inputs: readonly string[]): string {
  const folders = inputs.flatMap(
    (input) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0] ?? [],
  )
  const texts = [...new Set(folders)].toSorted().map((folder) => {
    const path = join(PACKAGE, folder)
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Record<
      string,
      string
    >
    const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry))
    if (file === undefined) throw new Error(`${name} is bundled and has no licence file`)
    return `${name} ${version} (${license})\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

const outdir = mkdtempSync(join(PACKAGE, '.lib-'))
try {
  const [, { metafile }] = await Promise.all([
    mustRun(
      process.execPath,
      [
        join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
        '-p',
        join(PACKAGE, 'tsconfig.build.json'),
        '--emitDeclarationOnly',
        '--outDir',
        outdir,
      ],
      { cwd: ROOT, limitMs: LIMIT_MS },
    ),
    build({
      absWorkingDir: PACKAGE,
      entryPoints: ENTRIES.map((entry) => ({ in: `src/${entry}.ts`, out: entry })),
      outdir,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node22.19',
      plugins: [externals],
      legalComments: 'none',
      metafile: true,
      chunkNames: 'chunks/[name]-[hash]',
      logLevel: 'warning',
    }),
  ])
  writeFileSync(join(outdir, 'LICENSES.txt'), licencesOf(Object.keys(metafile.inputs)))
  // mkdtemp keeps others out.
  chmodSync(outdir, 0o755)
  rmSync(LIB, { recursive: true, force: true })
  renameSync(outdir, LIB)
} finally {
  rmSync(outdir, { recursive: true, force: true })
}
