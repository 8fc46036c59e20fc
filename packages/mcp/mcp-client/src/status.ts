/**
 * Owns the screens of `/mcp`: status as plain text for a person, in lines that stay readable in a fixed-width box of
 * some 90 columns. A client may show the first line alone, so it says the most. Pure.
 */
import { cleanLine } from './text.ts'
import type { PinChange, RunningCall, ServerState, ServerStatus } from './types.ts'

const MAX_ERROR_CHARS = 160
const MAX_LONG_CHARS = 400
const MAX_LISTED = 50
const MAX_STDERR_LINES = 15
const MAX_PROMPTS = 20
/** Column at which the values of one server's screen begin. */
const LABEL_WIDTH = 13

/** A state as a person reads it. */
const STATE_WORDS: Readonly<Record<ServerState, string>> = {
  idle: 'asleep',
  connecting: 'connecting',
  syncing: 'listing',
  ready: 'ready',
  closing: 'closing',
  backoff: 'retrying',
  'needs-auth': 'needs auth',
  failed: 'failed',
  stopped: 'stopped',
}
/** In the overview the states that want a person come first. */
const ORDER = Object.keys({
  failed: 0,
  'needs-auth': 0,
  backoff: 0,
  connecting: 0,
  syncing: 0,
  closing: 0,
  stopped: 0,
  idle: 0,
  ready: 0,
} satisfies Record<ServerState, 0>) as readonly ServerState[]

/** All servers: one line each, and below it why one of them does not work. */
export function overviewText(servers: readonly ServerStatus[], now: number): string {
  if (servers.length === 0)
    return 'No MCP server is configured. A row of the MCP client in cordis.yml adds one.'
  const lines = table([
    ['SERVER', 'STATE', 'DIRECT', 'SEARCH', 'LEFT OUT', 'BYTES', 'CALLS', 'FAILED', 'SINCE'],
    ...servers.map((status) => [
      status.serverName,
      STATE_WORDS[status.state],
      countCell(status.tools.registered),
      countCell(status.tools.searchable),
      countCell(leftOut(status)),
      status.tools.definitionBytes === 0 ? '-' : bytesText(status.tools.definitionBytes),
      countCell(status.calls.total),
      countCell(status.calls.failed),
      durationText(now - status.since),
    ]),
  ])
  const body = lines.flatMap((line, index) => {
    const status = servers[index - 1]
    return status === undefined ? [line] : [line, ...notesOf(status, now).map((note) => `  ${note}`)]
  })
  return [
    headline(servers),
    '',
    ...body,
    '',
    '/mcp SERVER shows one in full; /mcp help tells the rest.',
  ].join('\n')
}

/** What a person should know of a server beside its numbers. */
function notesOf(status: ServerStatus, now: number): string[] {
  const trouble = troubleText(status, now)
  const held = status.tools.held.length
  const wait = `${counted(held, 'changed definition')} withheld: /mcp ${status.serverName} pins`
  return [...(trouble === undefined ? [] : [trouble]), ...(held === 0 ? [] : [wait])]
}

/** Such as `3 MCP servers: 1 failed, 2 ready`. */
export function headline(servers: readonly ServerStatus[]): string {
  const counts = ORDER.flatMap((state) => {
    const count = servers.filter((status) => status.state === state).length
    return count === 0 ? [] : [`${count} ${STATE_WORDS[state]}`]
  })
  return `${servers.length} MCP ${servers.length === 1 ? 'server' : 'servers'}: ${counts.join(', ')}`
}

/** One server in full. */
export function serverText(status: ServerStatus, now: number): string {
  const { facts, lastError } = status
  const fields: readonly (readonly [label: string, value: string | undefined])[] = [
    ['target', `${status.target} (${status.transport})`],
    ['server', facts === undefined ? undefined : serverLine(facts)],
    ['protocol', facts === undefined ? undefined : `${facts.revision} (${facts.era})`],
    ['last error', lastError === undefined ? undefined : errorText(lastError, MAX_LONG_CHARS)],
    ['next', adviceText(status, now)],
    ['process', processLine(status)],
    ['tools', toolsLine(status)],
    ['listed', status.listedAt === undefined ? undefined : `${durationText(now - status.listedAt)} ago`],
    ['calls', callsLine(status, now)],
    ...(status.calls.running ?? []).map((call) => ['running', runningLine(call, now)] as const),
    ['prompts', promptsLine(status)],
    [
      'in prompt',
      status.instructionBytes === 0 ? undefined : `its instructions, ${bytesText(status.instructionBytes)}`,
    ],
  ]
  const shown = fields.flatMap(([label, value]) =>
    value === undefined ? [] : [`${label.padEnd(LABEL_WIDTH)}${value}`],
  )
  const stderr = (status.stderrTail ?? '').trim()
  const words = stderr === '' ? [] : stderr.split('\n').slice(-MAX_STDERR_LINES)
  const tail =
    words.length === 0 ? [] : ['', 'last lines on stderr:', ...words.map((line) => `  ${line.trimEnd()}`)]
  return [titleLine(status, now), '', ...shown, ...leftOutSection(status), ...tail].join('\n')
}

/** The tools of one server, the dearest first: what they cost, and what is not offered, with the reasons. */
export function toolsText(status: ServerStatus): string {
  const { serverName, tools } = status
  const dearest = tools.offered.toSorted((a, b) => b.bytes - a.bytes).slice(0, MAX_LISTED)
  const offered = table([
    ['BYTES', 'IN', 'TOOL'],
    ...dearest.map(({ publicName, exposure, bytes }) => [
      bytesText(bytes),
      exposure === 'direct' ? 'request' : 'search',
      publicName,
    ]),
  ])
  const flagged = tools.flagged.map(
    ({ name, hidden, places }) => `${name}: ${counted(hidden, 'hidden character')} in ${places.join(', ')}`,
  )
  const rewritten = tools.rewritten.map(({ name, count, rewrites }) => {
    const [first] = rewrites
    const example =
      first === undefined
        ? ''
        : `, such as ${first.keyword} at ${first.path === '' ? 'the top' : first.path}: ${first.reason}`
    return `${name}: ${counted(count, 'place')}${example}`
  })
  return [
    `${serverName}: ${toolsLine(status)}`,
    ...(dearest.length === 0 ? [] : ['', ...offered, ...more(tools.offered.length)]),
    ...leftOutSection(status),
    ...section(
      'changed since they were pinned, and taken over:',
      tools.changed.map(({ name, places }) => `${name}: ${places.join(', ')}`),
    ),
    ...section('hidden text, removed from all that is shown:', flagged),
    ...section('schemas told to the model in other words:', rewritten),
  ].join('\n')
}

/** Definitions that are not the ones that were approved, with their differences. */
export function pinsText(serverName: string, pins: readonly PinChange[], now: number): string {
  const held = pins.filter(({ state }) => state === 'held')
  if (pins.length === 0) return `${serverName}: every definition is as it was pinned.`
  const changes = pins.slice(0, MAX_LISTED).flatMap(({ name, state, places, diff, since }) => [
    '',
    `${name}: ${state === 'held' ? 'withheld' : 'taken over'}, changed ${durationText(now - since)} ago in ${places.join(', ')}`,
    ...diff
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
  ])
  const approve =
    held.length === 0 ? [] : ['', `/mcp ${serverName} approve [TOOL] trusts what is withheld and offers it.`]
  const counts = [
    `${counted(pins.length, 'definition')} changed`,
    ...(held.length === 0 ? [] : [`${held.length} withheld`]),
  ]
  return [`${serverName}: ${counts.join(', ')}`, ...changes, ...more(pins.length), ...approve].join('\n')
}

/** Why a server cannot be used, or `undefined` where it can. One line. */
export function troubleText(status: ServerStatus, now: number): string | undefined {
  const { state, lastError } = status
  const why = lastError === undefined ? '' : errorText(lastError, MAX_ERROR_CHARS)
  switch (state) {
    case 'failed':
    case 'needs-auth':
    case 'stopped':
      return why === '' ? undefined : why
    case 'backoff':
      return `${why}; next attempt in ${durationText(Math.max(0, (status.nextRetryAt ?? now) - now))}`
    case 'ready':
      // Connected, and yet its list is not as it should be.
      return why === '' ? undefined : `the list of tools: ${why}`
    case 'idle':
    case 'connecting':
    case 'syncing':
    case 'closing':
      return undefined
  }
}

/** What a person can do now, or what happens by itself. */
function adviceText(status: ServerStatus, now: number): string | undefined {
  const { serverName, state, nextRetryAt, attempt, login, tools } = status
  const restart = `/mcp ${serverName} restart`
  switch (state) {
    case 'failed':
      return tools.registered > 0
        ? `no further attempt is made and calls fail; mend the cause, then ${restart}`
        : `no further attempt is made; mend the cause, then ${restart}`
    case 'needs-auth':
      return login === undefined
        ? `put a valid token into the row (headers), or ${restart} once access is granted`
        : `log in with dsh-mcp login ${serverName}, or open ${login}`
    case 'backoff':
      return `attempt ${attempt + 1} in ${durationText(Math.max(0, (nextRetryAt ?? now) - now))}; ${restart} tries at once`
    case 'idle':
      return `starts at its first call; ${restart} starts it now`
    case 'stopped':
      return 'its row is ending'
    case 'connecting':
    case 'syncing':
    case 'closing':
    case 'ready':
      return undefined
  }
}

function titleLine(status: ServerStatus, now: number): string {
  const { serverName, state, since, lastError } = status
  const title = `${serverName}: ${STATE_WORDS[state]} for ${durationText(now - since)}`
  return lastError === undefined ? title : `${title}, ${lastError.code}`
}

function serverLine({ serverInfo }: NonNullable<ServerStatus['facts']>): string {
  if (serverInfo === undefined) return 'does not tell its name'
  const { name, version, title } = serverInfo
  const named = `${cleanLine(name, 80)} ${cleanLine(version, 40)}`
  return title === undefined || title === name ? named : `${named} (${cleanLine(title, 80)})`
}

function processLine({ pid, rssBytes, exit }: ServerStatus): string | undefined {
  if (pid !== undefined)
    return `pid ${pid}${rssBytes === undefined ? '' : `, ${bytesText(rssBytes)} resident`}`
  return exit === undefined ? undefined : `ended with ${exit}`
}

function countCell(count: number): string {
  return count === 0 ? '-' : String(count)
}

/** Tools of the server that the model cannot reach. */
function leftOut({ tools: { quarantined, denied, held } }: ServerStatus): number {
  return quarantined.length + denied.length + held.length
}

function toolsLine(status: ServerStatus): string {
  const { registered, searchable, definitionBytes, requestBytes, rewritten, flagged } = status.tools
  const parts = [`${registered} in the request`]
  if (searchable > 0) parts.push(`${searchable} by search`)
  if (leftOut(status) > 0) parts.push(`${leftOut(status)} left out`)
  if (rewritten.length > 0) parts.push(`${rewritten.length} with rewritten schemas`)
  if (flagged.length > 0) parts.push(`${flagged.length} with hidden text`)
  if (definitionBytes > 0) {
    const share = searchable > 0 ? `, ${bytesText(requestBytes)} in the request` : ''
    parts.push(`${bytesText(definitionBytes)} of definitions${share}`)
  }
  return parts.join(', ')
}

function runningLine({ tool, since, progress }: RunningCall, now: number): string {
  return `${tool}, ${durationText(now - since)}${progress === undefined ? '' : `, ${progress}`}`
}

function promptsLine({ prompts }: ServerStatus): string | undefined {
  if (prompts.length === 0) return undefined
  const shown = prompts.slice(0, MAX_PROMPTS).map(({ command }) => `/${command}`)
  return `${shown.join(', ')}${prompts.length > MAX_PROMPTS ? ` and ${prompts.length - MAX_PROMPTS} more` : ''}`
}

function callsLine({ calls }: ServerStatus, now: number): string {
  const { total, failed, aborted, active, p50Ms, p95Ms, lastAt } = calls
  const parts = [total === 0 ? 'none yet' : `${total}`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (aborted > 0) parts.push(`${aborted} aborted`)
  if (active > 0) parts.push(`${active} under way`)
  if (p50Ms !== undefined) parts.push(`p50 ${p50Ms} ms, p95 ${p95Ms} ms`)
  if (lastAt !== undefined) parts.push(`last ${durationText(now - lastAt)} ago`)
  return parts.join(', ')
}

function leftOutSection({ tools: { quarantined, denied, held } }: ServerStatus): string[] {
  return [
    ...section(
      'left out, since they cannot be given to a model:',
      quarantined.map(({ name, reason }) => `${name}: ${reason}`),
    ),
    ...section(
      'kept out by the row:',
      denied.map(({ name, rule }) => `${name}: ${rule}`),
    ),
    ...section(
      'withheld until they are approved:',
      held.map(({ name, reason }) => `${name}: ${reason}`),
    ),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  return ['', title, ...lines.slice(0, MAX_LISTED).map((line) => `  ${line}`), ...more(lines.length)]
}

function more(count: number): string[] {
  return count > MAX_LISTED ? [`  and ${count - MAX_LISTED} more`] : []
}

function errorText({ code, message }: NonNullable<ServerStatus['lastError']>, maxChars: number): string {
  return cleanLine(`${code}: ${message}`, maxChars)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A span of time in its largest whole unit. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const kibibytes = bytes / 1_024
  if (kibibytes >= 1_024) return `${(kibibytes / 1_024).toFixed(1)} MiB`
  return `${kibibytes < 10 ? kibibytes.toFixed(1) : Math.round(kibibytes)} KiB`
}

/** The lines of a table without borders; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => Number(row[column]?.length))),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(Number(widths[column])))
      .join('  ')
      .trimEnd(),
  )
}
