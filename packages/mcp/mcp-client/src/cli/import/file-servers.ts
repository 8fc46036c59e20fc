/**
 * Owns the way from a parsed foreign file to its servers: each entry on its own, so that one bad entry costs one server.
 * The variables of an `envFile` are read by name; nothing else is looked up. Pure but for that one file.
 */
import { dirname, isAbsolute, resolve, sep, win32 } from 'node:path'
import { parseEnv } from 'node:util'
import { isJsonObject } from '../../json.ts'
import { serversOf } from './dialects.ts'
import type { Dialect } from './dialects.ts'
import { openEntry } from './entry.ts'
import type { Entry } from './entry.ts'
import { ImportFault, faultOf } from './foreign-server.ts'
import type { ForeignServer, NamedTemplate, Reading, Template } from './foreign-server.ts'
import { serverNames } from './names.ts'
import { projectOf } from './project.ts'
import { readText } from './source.ts'
import { readTemplate } from './template.ts'
import type { Prompt, Scope } from './template.ts'

/** More than anybody has; each is searched for the credentials of all others. */
const MAX_SERVERS = 1000

/** What surrounds the reading of a file. */
export interface Surroundings {
  readonly cwd: string
  readonly home: string
  readonly platform: NodeJS.Platform
  /** Folder of the file that the rows go to. */
  readonly targetFolder: string
}

/** Read all servers of a file. Throws ImportFault where they are too many. */
export async function readServers(
  path: string,
  value: unknown,
  dialect: Dialect,
  around: Surroundings,
): Promise<Reading[]> {
  const servers = new Map(Object.entries(serversOf(value, dialect) ?? {}))
  for (const [name, entry] of localScope(value, around.cwd)) servers.set(name, entry)

  if (servers.size > MAX_SERVERS) throw new ImportFault(`It has more than ${MAX_SERVERS} servers.`)
  const prompts = promptsOf(value)
  const project = projectOf(path, around.home)
  const switched = switchesOf(value)
  const names = serverNames([...servers.keys()])
  const result: Reading[] = []
  for (const [index, [name, raw]] of [...servers].entries()) {
    const serverName = names[index] as string
    const notes: string[] = []
    const scope: Scope = {
      syntax: dialect.syntax,
      isLenient: dialect.isLenient,
      client: dialect.client,
      server: name,
      serverName,
      folder: project ?? around.cwd,
      isProject: project !== undefined,
      home: around.home,
      separator: around.platform === 'win32' ? win32.sep : sep,
      prompts,
      note: (text) => {
        if (!notes.includes(text)) notes.push(text)
      },
    }
    try {
      const entry = openEntry(raw, scope.note)
      const envFile = await envFileOf(entry, scope, dirname(path))
      const server = dialect.read(entry, scope, notes)
      const full = withEnvFile(withFolder(server, project, around, scope), envFile)
      result.push({
        kind: 'server',
        name,
        serverName,
        server: switched(name) ? { ...full, isDisabled: true } : full,
      })
    } catch (error) {
      result.push({ kind: 'fault', name, serverName, reason: faultOf(error).message })
    }
  }
  return result
}

/** An own member of a mapping. */
function member(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Claude Code keeps servers of one project under its path, in the file of the user. */
function localScope(value: unknown, cwd: string): [string, unknown][] {
  const servers = member(member(member(value, 'projects'), cwd), 'mcpServers')
  return isJsonObject(servers) ? Object.entries(servers) : []
}

/** Gemini CLI switches servers by name beside the list. */
function switchesOf(value: unknown): (name: string) => boolean {
  const allowed = member(member(value, 'mcp'), 'allowed')
  const excluded = member(member(value, 'mcp'), 'excluded')
  return (name) =>
    (Array.isArray(excluded) && excluded.includes(name)) ||
    (Array.isArray(allowed) && !allowed.includes(name))
}

function promptsOf(value: unknown): ReadonlyMap<string, Prompt> {
  const found = member(value, 'inputs') ?? member(member(value, 'mcp'), 'inputs')
  const prompts = new Map<string, Prompt>()
  for (const input of Array.isArray(found) ? (found as unknown[]) : []) {
    if (!isJsonObject(input) || typeof input['id'] !== 'string') continue
    const fallback = typeof input['default'] === 'string' ? { fallback: input['default'] } : {}
    prompts.set(input['id'], { isPassword: input['password'] === true, ...fallback })
  }
  return prompts
}

/** The names in an `envFile`, each as a variable of the host. Values are not taken. */
async function envFileOf(entry: Entry, scope: Scope, folder: string): Promise<NamedTemplate[]> {
  const written = entry.text('envFile')
  if (written === undefined) return []
  const [path, ...more] = readTemplate(written, { ...scope, note: () => undefined })
  if (typeof path !== 'string' || more.length > 0) {
    scope.note(
      'envFile is not carried: its path holds a variable. Set what it holds in the environment of the host.',
    )
    return []
  }
  const text = await readText(resolve(scope.isProject ? scope.folder : folder, path)).catch(() => undefined)
  if (text === undefined) {
    scope.note(`envFile ${path} cannot be read: set what it holds in the environment of the host.`)
    return []
  }
  scope.note(
    `The variables of envFile ${path} must be in the environment of the host: the file itself is not read there.`,
  )
  return Object.keys(parseEnv(text))
    .filter((name) => /^[A-Za-z_]\w*$/.test(name))
    .map((variable) => [variable, [{ variable }]])
}

function withEnvFile(server: ForeignServer, added: readonly NamedTemplate[]): ForeignServer {
  const { target } = server
  if (target.kind !== 'stdio' || added.length === 0) return server
  const own = new Set(target.env.map(([name]) => name))
  return {
    ...server,
    target: { ...target, env: [...target.env, ...added.filter(([name]) => !own.has(name))] },
  }
}

/** A client starts the servers of a project in its folder; the host starts them in its own. */
function withFolder(
  server: ForeignServer,
  project: string | undefined,
  around: Surroundings,
  scope: Scope,
): ForeignServer {
  const { target } = server
  if (target.kind !== 'stdio' || project === undefined || project === around.targetFolder) return server
  const cwd = anchored(target.cwd, project)
  if (cwd === target.cwd) return server
  scope.note('cwd is the folder of the project: its servers are started there.')
  return { ...server, target: { ...target, cwd } }
}

function anchored(cwd: Template | undefined, project: string): Template {
  const [first, ...rest] = cwd ?? []
  if (cwd === undefined || first === undefined) return [project]
  if (typeof first !== 'string' || isAbsolute(first) || win32.isAbsolute(first)) return cwd
  return [resolve(project, first), ...rest]
}
