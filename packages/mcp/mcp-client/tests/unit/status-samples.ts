/** Owns statuses for the tests of screens: one of a healthy server, to be changed where a test looks. */
import type { ServerStatus } from '../../src/types.ts'

/** The moment at which all screens are drawn. */
export const NOW = Date.UTC(2026, 11, 1, 12)

const READY: ServerStatus = {
  serverName: 'files',
  transport: 'stdio',
  target: 'npx -y @modelcontextprotocol/server-filesystem /srv/docs',
  state: 'ready',
  since: NOW - 185_000,
  attempt: 0,
  facts: {
    era: 'legacy',
    revision: '2025-11-25',
    serverInfo: { name: 'secure-filesystem-server', version: '0.2.0' },
    capabilities: { tools: { listChanged: true } },
  },
  pid: 4711,
  rssBytes: 78_643_200,
  calls: { total: 12, failed: 1, aborted: 0, active: 0, p50Ms: 8, p95Ms: 140, lastAt: NOW - 4_000 },
  prompts: [],
  instructionBytes: 0,
  listedAt: NOW - 185_000,
  tools: {
    registered: 2,
    searchable: 0,
    definitionBytes: 2_048,
    requestBytes: 2_048,
    offered: [
      { publicName: 'mcp__files__list', rawName: 'list', exposure: 'direct', bytes: 400 },
      { publicName: 'mcp__files__read', rawName: 'read', exposure: 'direct', bytes: 1_648 },
    ],
    quarantined: [],
    rewritten: [],
    denied: [],
    held: [],
    changed: [],
    flagged: [],
  },
}

const NO_TOOLS = { registered: 0, searchable: 0, definitionBytes: 0, requestBytes: 0, offered: [] }

type Change = Partial<Omit<ServerStatus, 'tools'>> & { readonly tools?: Partial<ServerStatus['tools']> }

export function readyStatus(change: Change = {}): ServerStatus {
  return { ...READY, ...change, tools: { ...READY.tools, ...change.tools } }
}

/** A server without a connection; it never had one. */
export function brokenStatus(change: Change = {}): ServerStatus {
  const { facts: _facts, pid: _pid, rssBytes: _rss, listedAt: _listedAt, ...rest } = READY
  return {
    ...rest,
    serverName: 'github',
    target: 'githb-mcp stdio',
    state: 'failed',
    since: NOW - 12_000,
    lastError: {
      code: 'MCP_SPAWN_FAILED',
      message: 'cannot start "githb-mcp": there is no such command on the PATH (ENOENT); is it installed?',
    },
    calls: { total: 0, failed: 0, aborted: 0, active: 0 },
    ...change,
    tools: { ...READY.tools, ...NO_TOOLS, ...change.tools },
  }
}
