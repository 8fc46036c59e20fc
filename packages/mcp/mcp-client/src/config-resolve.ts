/**
 * Owns the one resolve step: a raw row, or the same row after the schema filled in its defaults, becomes a frozen
 * ServerSpec. Nothing later has a default. Every fault is MCP_CONFIG_INVALID and names the path, never a value.
 */
import { ARMS, SERVER_NAME, TRANSPORTS, callMaxMs } from './config-schema.ts'
import type { ArmName, HttpRow, StdioRow } from './config-schema.ts'
import { entryPath, isDict, nearestKey, readNode, typeName } from './config-reader.ts'
import type { Reading } from './config-reader.ts'
import { resolveTarget } from './config-target.ts'
import { McpError } from './errors.ts'
import type { Environment } from './expansion.ts'
import { globFault } from './globs.ts'
import { createRedaction } from './redaction.ts'
import { secretsOf } from './secrets.ts'
import type { ServerSpec } from './types.ts'

/** A resolved row and what to tell the operator once, each a whole line without secrets. */
export interface ResolvedConfig {
  readonly spec: ServerSpec
  readonly warnings: readonly string[]
}

const ARM_WORDS: Readonly<Record<ArmName, string>> = {
  stdio: 'a stdio server (command)',
  http: 'an HTTP server (url)',
}

/**
 * Resolve one row. `env` fills in `${NAME}` where `expandVars` is on.
 * @throws McpError MCP_CONFIG_INVALID with the path in `data.path`.
 */
export function resolveConfig(raw: unknown, env: Environment = process.env): ResolvedConfig {
  const label = labelOf(raw)
  const fault = (path: string, text: string) =>
    new McpError(`mcp-client(${label}): ${path} ${text}`, {
      code: 'MCP_CONFIG_INVALID',
      server: label,
      stage: 'config',
      data: { path },
    })
  const reading: Reading = { fault, empty: [] }
  const row = readRow(raw, reading)
  if (row.reconnect.initialDelayMs > row.reconnect.maxDelayMs) {
    throw fault('reconnect.initialDelayMs', 'must be less than or equal to maxDelayMs')
  }
  for (const [path, pattern] of globsOf(row.tools)) {
    const words = globFault(pattern)
    if (words !== undefined) throw fault(path, words)
  }
  const { target, secrets, unexpanded } = resolveTarget(row, env, fault)
  const spec: ServerSpec = {
    serverName: row.serverName,
    target,
    protocol: row.protocol,
    toolCallTimeoutMs: row.toolCallTimeoutMs,
    toolCallMaxMs: callMaxMs(row.toolCallMaxMs, row.toolCallTimeoutMs),
    startup: row.startup,
    failOnStartupError: row.failOnStartupError,
    trustAnnotations: row.trustAnnotations,
    reconnect: row.reconnect,
    tools: row.tools,
    pin: row.pin,
    limits: row.limits,
    resources: row.resources,
    prompts: row.prompts,
    instructions: row.instructions,
    elicitation: row.elicitation,
    roots: row.roots,
    logLevel: row.logLevel,
    sampling: samplingOf(row.sampling),
    ...createRedaction([...secretsOf(target, env), ...secrets]),
  }
  return deepFreeze({ spec, warnings: warningsOf(label, reading.empty, unexpanded) })
}

function samplingOf({ model, ...rest }: StdioRow['sampling']): ServerSpec['sampling'] {
  return model === '' ? rest : { ...rest, model }
}

/** Every glob of a row, with its path. */
function globsOf({
  allow,
  deny,
  alwaysDirect,
  approval,
}: ServerSpec['tools']): [path: string, glob: string][] {
  const lists = Object.entries({ allow, deny, alwaysDirect }).flatMap(([key, globs]) =>
    globs.map((glob, index): [string, string] => [`tools.${key}[${index}]`, glob]),
  )
  const rules = typeof approval === 'string' ? [] : approval
  return [
    ...lists,
    ...rules.map(({ match }, index): [string, string] => [`tools.approval[${index}].match`, match]),
  ]
}

function readRow(raw: unknown, reading: Reading): StdioRow | HttpRow {
  if (!isDict(raw)) {
    throw reading.fault('config', `must be a mapping of keys to values, not ${typeName(raw)}`)
  }
  const arm = chooseArm(raw, reading)
  const other = arm === 'stdio' ? 'http' : 'stdio'
  for (const key of Object.keys(keysOf(other))) {
    if (raw[key] === undefined || Object.hasOwn(keysOf(arm), key)) continue
    const text = `belongs to ${ARM_WORDS[other]}, and this row is ${ARM_WORDS[arm]}; keep one of the two`
    throw reading.fault(key, text)
  }
  return readNode(ARMS[arm], raw, '', reading) as StdioRow | HttpRow
}

function keysOf(arm: ArmName): object {
  return ARMS[arm].dict as object
}

/** The transport decides; without one the command or the url does. */
function chooseArm(raw: Readonly<Record<string, unknown>>, reading: Reading): ArmName {
  const { transport } = raw
  for (const arm of ['stdio', 'http'] as const) {
    if ((TRANSPORTS[arm] as readonly unknown[]).includes(transport)) return arm
  }
  if (isPresent(transport)) {
    const type = typeof transport === 'string' ? '' : `, not ${typeName(transport)}`
    const known = Object.values(TRANSPORTS).flat().join(', ')
    throw reading.fault('transport', `must be one of ${known}${type}`)
  }
  if (isPresent(raw['command'])) return 'stdio'
  if (isPresent(raw['url'])) return 'http'
  const keys = Object.keys(raw)
  const at = keys.findIndex((key) =>
    Object.values(ARMS).every(({ dict }) => !Object.hasOwn(dict as object, key)),
  )
  const unknown = keys[at]
  if (unknown !== undefined) {
    // Mostly a misspelled command or url: the reader sees one in the row.
    const known = Object.values(ARMS).flatMap(({ dict }) => Object.keys(dict as object))
    const near = nearestKey(unknown, known)
    const end =
      near === undefined
        ? 'a row needs a command (stdio server) or a url (HTTP server)'
        : `did you mean ${near}?`
    throw reading.fault(entryPath('', unknown, at), `is not a configuration key; ${end}`)
  }
  throw reading.fault('config', 'needs a command (stdio server) or a url (HTTP server); write one of them')
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** The name that messages carry: only one that is well formed, since anything may stand there. */
function labelOf(raw: unknown): string {
  const name = isDict(raw) ? raw['serverName'] : undefined
  return typeof name === 'string' && SERVER_NAME.test(name) ? name : '?'
}

function warningsOf(label: string, empty: readonly string[], unexpanded: readonly string[]): string[] {
  const warnings: string[] = []
  if (empty.length > 0) {
    warnings.push(`mcp-client(${label}): no value for ${empty.join(', ')}; left out`)
  }
  if (unexpanded.length > 0) {
    warnings.push(
      `mcp-client(${label}): \${NAME} is passed on as written in ${unexpanded.join(', ')}; ` +
        'set expandVars: true to fill it in from the environment',
    )
  }
  return warnings
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
