/**
 * Owns booting the real host in this process: loader, HMR, agent loop and a scripted model, from a cordis.yml in a
 * folder of its own.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Logger } from '@deepseek-ai/cordis'
import type { Context, Exporter } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/cordis-plugin-hmr'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { boot } from '@deepseek-ai/dsh-app-boot'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { temporaryFolder } from '../folder.ts'
import { SCRIPT_SERVICE } from '../scripted-model.ts'
import type { Script } from '../scripted-model.ts'
import { LOCAL_PLUGINS, localPluginSource } from './plugins.ts'
import type { LocalPlugin } from './plugins.ts'
import { hostRows, toYaml } from './rows.ts'
import type { Extra, Mode, Row } from './rows.ts'

export interface HostOptions {
  /** Rows under test; a row without `name` is one of the MCP client. */
  readonly rows?: readonly Row[]
  /** More rows as YAML text, `!!js` and all. */
  readonly yml?: string
  /** Plugins that live in the test. */
  readonly plugins?: readonly LocalPlugin[]
  /** Default: native. */
  readonly mode?: Mode
  /** Rows without a name load the built package (`npm run build`) or, as it stands, its source. Default: built. */
  readonly client?: 'built' | 'source'
  /** Watch cordis.yml; needs `--expose-internals`. Default: false. */
  readonly hmr?: boolean
  /** Mount the attachment store. Default: true. */
  readonly attachments?: boolean
  readonly extra?: readonly Extra[]
  /** Default: a folder of this host, removed at its end. Also DSH_HOME while the host lives. */
  readonly dshHome?: string
}

export interface LogRecord {
  readonly type: 'error' | 'info' | 'warn' | 'debug'
  /** Name of the logger, for instance `mcp-client`. */
  readonly name: string
  readonly text: string
}

export interface CallOptions {
  readonly agent?: Agent
  readonly signal?: AbortSignal
}

export interface Host {
  readonly ctx: Context
  /** Folder of cordis.yml. */
  readonly folder: string
  readonly ymlPath: string
  readonly dshHome: string
  readonly logs: readonly LogRecord[]
  readonly script: Script
  /** Names of the registered tools, in the order of the prompt. */
  tools(): string[]
  /** Run one tool as the host does it; never rejects for a failing tool. */
  call(name: string, args?: unknown, options?: CallOptions): Promise<ToolExecutionResult>
  /** Rewrite cordis.yml and wait until the host took it or refused it. Needs `hmr`. */
  edit(replace: (yml: string) => string): Promise<'applied' | 'refused'>
  /** Put other rows under test; see `edit`. */
  editRows(rows: readonly Row[]): Promise<'applied' | 'refused'>
  /** Wait until the predicate holds. @throws Error after `timeoutMs` (5000), with the tools and the last log lines */
  until(predicate: () => boolean, timeoutMs?: number): Promise<void>
  /** Dispose the host and remove its folder. Twice is once. */
  dispose(): Promise<void>
}

const POLL_MS = 20
const EDIT_LIMIT_MS = 10_000
/** The watcher misses an edit close to the refresh before it: then the file is written again. */
const REWRITE_MS = 700

/**
 * Boot the host and wait until every row is active.
 * @throws Error with the message of each row that failed, the boot's own error as cause; the folder is removed
 */
export async function bootHost(options: HostOptions = {}): Promise<Host> {
  const folder = temporaryFolder('host')
  const ymlPath = join(folder, 'cordis.yml')
  const dshHome = options.dshHome ?? join(folder, 'home')
  mkdirSync(dshHome, { recursive: true })
  const plugins = options.plugins ?? []
  const hmr = options.hmr ?? false
  const yml = (rows: readonly Row[]): string =>
    toYaml(
      [
        ...hostRows({
          mode: options.mode ?? 'native',
          hmr,
          attachments: options.attachments ?? true,
          extra: options.extra ?? [],
          dshHome,
        }),
        ...pluginRows(plugins.filter(({ after }) => after !== true)),
        ...rows,
        ...pluginRows(plugins.filter(({ after }) => after === true)),
      ],
      options.client,
    ) + (options.yml ?? '')
  for (const plugin of plugins) writeFileSync(join(folder, `${plugin.id}.mjs`), localPluginSource(plugin))
  writeFileSync(ymlPath, yml(options.rows ?? []))

  const logs: LogRecord[] = []
  const script: Script = { steps: [], requests: [] }
  const previousHome = process.env['DSH_HOME']
  process.env['DSH_HOME'] = dshHome
  const release = (): void => {
    if (previousHome === undefined) delete process.env['DSH_HOME']
    else process.env['DSH_HOME'] = previousHome
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }

  let ctx: Context
  try {
    ctx = await boot('testkit', ymlPath, undefined, (root) => {
      root.logger.exporter(logExporter(logs))
      root.provide(SCRIPT_SERVICE, script)
      root.provide(LOCAL_PLUGINS, Object.fromEntries(plugins.map(({ id, apply }) => [id, apply])))
    })
  } catch (error) {
    release()
    throw new Error(`The host did not boot:\n${failures(error).join('\n')}`, { cause: error })
  }

  let calls = 0
  let disposed: Promise<void> | undefined
  const host: Host = {
    ctx,
    folder,
    ymlPath,
    dshHome,
    logs,
    script,
    tools: () => ctx.tools.schemas().map(({ name }) => name),
    call(name, args = {}, { agent, signal = new AbortController().signal } = {}) {
      const callId = CallId(`direct-${++calls}`)
      return ctx.tools.execute({
        callId,
        name,
        arguments: args,
        signal,
        ...(agent === undefined ? {} : { agent }),
      })
    },
    edit(replace) {
      if (!hmr) return Promise.reject(new Error('host.edit needs bootHost({ hmr: true })'))
      return editFile(host, replace(readFileSync(ymlPath, 'utf8')))
    },
    editRows: (rows) => host.edit(() => yml(rows)),
    until: (predicate, timeoutMs = 5000) => until(host, predicate, timeoutMs),
    dispose: () => (disposed ??= ctx.fiber.dispose().then(release)),
  }
  return host
}

/** Messages of the failures: one a row, where the loader tells rows apart. The boot's own message holds a stack. */
function failures(error: unknown): string[] {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError) return at.errors.map(String)
  }
  return [String(error instanceof Error ? (error.cause ?? error) : error)]
}

function pluginRows(plugins: readonly LocalPlugin[]): Row[] {
  return plugins.map(({ id, config }) => ({
    id,
    name: `./${id}.mjs`,
    ...(config === undefined ? {} : { config: config as NonNullable<Row['config']> }),
  }))
}

function logExporter(logs: LogRecord[]): Exporter {
  const exporter: Exporter = {
    colors: false,
    levels: { default: 3 },
    export: (message) => {
      logs.push({ type: message.type, name: message.name, text: Logger.format(exporter, message) })
    },
  }
  return exporter
}

async function until(host: Host, predicate: () => boolean, timeoutMs: number): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!predicate()) {
    if (performance.now() > end) {
      const lines = host.logs.slice(-10).map(({ type, name, text }) => `${type} ${name}: ${text}`)
      throw new Error(
        `Did not happen within ${timeoutMs} ms: ${String(predicate)}\ntools: ${host.tools().join(', ')}\n${lines.join('\n')}`,
      )
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const off = host.ctx.on('tools/change', resolve)
    await Promise.race([promise, delay(POLL_MS)])
    off()
  }
}

async function editFile(host: Host, content: string): Promise<'applied' | 'refused'> {
  let refused = false
  const off = host.ctx.on('hmr/config-update-failed', () => void (refused = true))
  const isApplied = (): boolean =>
    [...host.ctx.loader.entries()].some(
      ({ subtree }) => (subtree as { readonly content?: string } | undefined)?.content === content,
    )
  const end = performance.now() + EDIT_LIMIT_MS
  let rewriteAt = 0
  try {
    for (;;) {
      if (isApplied()) return 'applied'
      if (refused) return 'refused'
      const now = performance.now()
      if (now > end) throw new Error(`The host did not take the edit within ${EDIT_LIMIT_MS} ms`)
      if (now >= rewriteAt) {
        writeFileSync(host.ymlPath, content)
        rewriteAt = now + REWRITE_MS
      }
      await delay(POLL_MS)
    }
  } finally {
    off()
  }
}
