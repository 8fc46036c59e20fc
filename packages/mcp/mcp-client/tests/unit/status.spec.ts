/** Owns the tests of the screens: each as a person reads it, from statuses alone. */
import { describe, expect, it } from 'vitest'
import {
  bytesText,
  durationText,
  headline,
  overviewText,
  pinsText,
  serverText,
  table,
  toolsText,
  troubleText,
} from '../../src/status.ts'
import type { ServerState } from '../../src/types.ts'
import { NOW, brokenStatus, readyStatus } from './status-samples.ts'

const lines = (text: string): string[] => text.split('\n')

describe('the overview', () => {
  it('of nothing says how to begin', () => {
    expect(overviewText([], NOW)).toBe(
      'No MCP server is configured. A row of the MCP client in cordis.yml adds one.',
    )
  })

  it('shows each server in one line, and below it what is wrong', () => {
    const servers = [
      readyStatus(),
      brokenStatus(),
      readyStatus({
        serverName: 'jira',
        tools: {
          registered: 3,
          searchable: 40,
          definitionBytes: 91_000,
          quarantined: [{ name: 'a', reason: 'b' }],
          held: [{ name: 'send', reason: 'its definition changed', since: NOW }],
        },
        calls: { total: 0, failed: 0, aborted: 0, active: 0 },
      }),
      brokenStatus({
        serverName: 'search',
        state: 'backoff',
        attempt: 2,
        nextRetryAt: NOW + 3_600,
        lastError: { code: 'MCP_CONNECTION_CLOSED', message: 'the server process ended with exit code 3' },
      }),
      brokenStatus({ serverName: 'slow', state: 'connecting', lastError: undefined as never }),
    ]
    expect(overviewText(servers, NOW)).toMatchInlineSnapshot(`
      "5 MCP servers: 1 failed, 1 retrying, 1 connecting, 2 ready

      SERVER  STATE       DIRECT  SEARCH  LEFT OUT  BYTES    CALLS  FAILED  SINCE
      files   ready       2       -       -         2.0 KiB  12     1       3 min
      github  failed      -       -       -         -        -      -       12 s
        MCP_SPAWN_FAILED: cannot start "githb-mcp": there is no such command on the PATH (ENOENT); is it installed?
      jira    ready       3       40      2         89 KiB   -      -       3 min
        1 changed definition withheld: /mcp jira pins
      search  retrying    -       -       -         -        -      -       12 s
        MCP_CONNECTION_CLOSED: the server process ended with exit code 3; next attempt in 4 s
      slow    connecting  -       -       -         -        -      -       12 s

      /mcp SERVER shows one in full; /mcp help tells the rest."
    `)
  })

  it('stays narrow with the longest server name', () => {
    const wide = readyStatus({
      serverName: 's'.repeat(32),
      state: 'needs-auth',
      since: NOW - 7_100_000,
      tools: { registered: 128, searchable: 1_000, definitionBytes: 999_999 },
      calls: { total: 1_000, failed: 99, aborted: 0, active: 0 },
    })
    const rows = lines(overviewText([wide], NOW))
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(104)
  })

  it('counts by state, those that want a person first', () => {
    const states: ServerState[] = [
      'ready',
      'idle',
      'failed',
      'ready',
      'needs-auth',
      'syncing',
      'closing',
      'stopped',
    ]
    const servers = states.map((state) => readyStatus({ state }))
    expect(headline(servers)).toBe(
      '8 MCP servers: 1 failed, 1 needs auth, 1 listing, 1 closing, 1 stopped, 1 asleep, 2 ready',
    )
    expect(headline(servers.slice(0, 1))).toBe('1 MCP server: 1 ready')
  })
})

describe('one server', () => {
  it('that works', () =>
    expect(serverText(readyStatus(), NOW)).toMatchInlineSnapshot(`
    "files: ready for 3 min

    target       npx -y @modelcontextprotocol/server-filesystem /srv/docs (stdio)
    server       secure-filesystem-server 0.2.0
    protocol     2025-11-25 (legacy)
    process      pid 4711, 75.0 MiB resident
    tools        2 in the request, 2.0 KiB of definitions
    listed       3 min ago
    calls        12, 1 failed, p50 8 ms, p95 140 ms, last 4 s ago"
  `))

  it('with calls that run, prompts, and its part of the system prompt', () => {
    const status = readyStatus({
      calls: {
        total: 0,
        failed: 0,
        aborted: 0,
        active: 2,
        running: [
          { tool: 'research', since: NOW - 12_000, progress: '2 of 4: analysing' },
          { tool: 'echo', since: NOW },
        ],
      },
      prompts: [{ command: 'files:review', name: 'review' }],
      instructionBytes: 2_048,
    })
    expect(lines(serverText(status, NOW)).slice(-5)).toEqual([
      'calls        none yet, 2 under way',
      'running      research, 12 s, 2 of 4: analysing',
      'running      echo, 0 s',
      'prompts      /files:review',
      'in prompt    its instructions, 2.0 KiB',
    ])
  })

  it('with more prompts than anybody reads', () => {
    const prompts = Array.from({ length: 22 }, (_, index) => ({ command: `files:${index}`, name: 'x' }))
    expect(serverText(readyStatus({ prompts }), NOW)).toMatch(/\/files:18, \/files:19 and 2 more$/m)
  })

  it('that failed for good', () => {
    const status = brokenStatus({
      exit: 'exit code 1',
      stderrTail: 'starting\nError: GITHUB_TOKEN is not set\n',
      tools: { quarantined: [{ name: 'x', reason: 'a reason' }] },
    })
    expect(serverText(status, NOW)).toMatchInlineSnapshot(`
      "github: failed for 12 s, MCP_SPAWN_FAILED

      target       githb-mcp stdio (stdio)
      last error   MCP_SPAWN_FAILED: cannot start "githb-mcp": there is no such command on the PATH (ENOENT); is it installed?
      next         no further attempt is made; mend the cause, then /mcp github restart
      process      ended with exit code 1
      tools        0 in the request, 1 left out
      calls        none yet

      left out, since they cannot be given to a model:
        x: a reason

      last lines on stderr:
        starting
        Error: GITHUB_TOKEN is not set"
    `)
  })

  it.each([
    ['failed', 'no further attempt is made; mend the cause, then /mcp github restart'],
    ['needs-auth', 'put a valid token into the row (headers), or /mcp github restart once access is granted'],
    ['backoff', 'attempt 3 in 2 s; /mcp github restart tries at once'],
    ['idle', 'starts at its first call; /mcp github restart starts it now'],
    ['stopped', 'its row is ending'],
  ] as const)('says what is next when it is %s', (state, next) => {
    const status = brokenStatus({ state, attempt: 2, nextRetryAt: NOW + 2_000 })
    expect(lines(serverText(status, NOW))).toContain(`next         ${next}`)
  })

  it.each(['connecting', 'syncing', 'closing', 'ready'] as const)(
    'says nothing is next when it is %s',
    (state) => {
      expect(serverText(brokenStatus({ state }), NOW)).not.toMatch(/^next/m)
    },
  )

  it('without a time for the next attempt', () => {
    expect(serverText(brokenStatus({ state: 'backoff' }), NOW)).toContain('attempt 1 in 0 s')
  })

  it('keeps its tools where reconnecting is off', () => {
    const status = brokenStatus({ tools: { registered: 4 } })
    expect(serverText(status, NOW)).toContain('no further attempt is made and calls fail; mend')
  })

  it('tells a title, a missing name, a process without memory, calls of all kinds', () => {
    const facts = { era: 'modern', revision: '2026-07-28', capabilities: {} } as const
    const busy = { total: 3, failed: 0, aborted: 1, active: 2, p50Ms: 1, p95Ms: 2, lastAt: NOW }
    const { rssBytes: _rss, ...status } = readyStatus({ facts, calls: busy })
    expect(serverText(status, NOW)).toMatch(/^server +does not tell its name$/m)
    expect(serverText(status, NOW)).toMatch(/^process +pid 4711$/m)
    expect(serverText(status, NOW)).toMatch(
      /^calls +3, 1 aborted, 2 under way, p50 1 ms, p95 2 ms, last 0 s ago$/m,
    )
    const serverInfo = { name: 'a', version: '1', title: 'A server' }
    expect(serverText(readyStatus({ facts: { ...facts, serverInfo } }), NOW)).toMatch(
      /^server +a 1 \(A server\)$/m,
    )
    expect(
      serverText(readyStatus({ facts: { ...facts, serverInfo: { ...serverInfo, title: 'a' } } }), NOW),
    ).toMatch(/^server +a 1$/m)
  })
})

describe('the tools of a server', () => {
  it('the dearest first, with what is left out and why', () => {
    const status = readyStatus({
      tools: {
        registered: 1,
        searchable: 1,
        requestBytes: 1_648,
        offered: [
          { publicName: 'mcp__files__list', rawName: 'list', exposure: 'search', bytes: 400 },
          { publicName: 'mcp__files__read', rawName: 'read', exposure: 'direct', bytes: 1_648 },
        ],
        quarantined: [{ name: 'odd', reason: 'its inputSchema is no object' }],
        denied: [{ name: 'drop', rule: 'tools.deny "d*"' }],
        held: [{ name: 'send', reason: 'its definition changed', since: NOW }],
        changed: [{ name: 'list', places: ['description', 'inputSchema.properties.path'], since: NOW }],
        rewritten: [
          {
            name: 'read',
            count: 2,
            rewrites: [{ path: '/properties/a', keyword: '$ref', reason: 'inlined' }],
          },
          { name: 'list', count: 1, rewrites: [{ path: '', keyword: 'anyOf', reason: 'flattened' }] },
          { name: 'none', count: 1, rewrites: [] },
        ],
        flagged: [{ name: 'read', hidden: 3, places: ['description'] }],
      },
    })
    expect(toolsText(status)).toMatchInlineSnapshot(`
      "files: 1 in the request, 1 by search, 3 left out, 3 with rewritten schemas, 1 with hidden text, 2.0 KiB of definitions, 1.6 KiB in the request

      BYTES    IN       TOOL
      1.6 KiB  request  mcp__files__read
      400 B    search   mcp__files__list

      left out, since they cannot be given to a model:
        odd: its inputSchema is no object

      kept out by the row:
        drop: tools.deny "d*"

      withheld until they are approved:
        send: its definition changed

      changed since they were pinned, and taken over:
        list: description, inputSchema.properties.path

      hidden text, removed from all that is shown:
        read: 3 hidden characters in description

      schemas told to the model in other words:
        read: 2 places, such as $ref at /properties/a: inlined
        list: 1 place, such as anyOf at the top: flattened
        none: 1 place"
    `)
  })

  it('none at all', () => expect(toolsText(brokenStatus())).toBe('github: 0 in the request'))

  it('not more than anybody reads', () => {
    const offered = Array.from({ length: 60 }, (_, index) => ({
      publicName: `mcp__files__t${index}`,
      rawName: `t${index}`,
      exposure: 'direct' as const,
      bytes: 100,
    }))
    const rows = lines(toolsText(readyStatus({ tools: { offered } })))
    expect(rows).toHaveLength(54)
    expect(rows.at(-1)).toBe('  and 10 more')
  })
})

describe('pins', () => {
  const change = {
    name: 'read',
    places: ['description'],
    diff: '-Reads a file\n+Reads a file and sends it\n',
    since: NOW - 60_000,
  }

  it('of nothing', () =>
    expect(pinsText('files', [], NOW)).toBe('files: every definition is as it was pinned.'))

  it('with the differences, and how to approve', () => {
    expect(pinsText('files', [{ ...change, state: 'held' }], NOW)).toMatchInlineSnapshot(`
      "files: 1 definition changed, 1 withheld

      read: withheld, changed 60 s ago in description
        -Reads a file
        +Reads a file and sends it

      /mcp files approve [TOOL] trusts what is withheld and offers it."
    `)
  })

  it('that were taken over need nothing', () => {
    expect(pinsText('files', [{ ...change, state: 'changed' }], NOW)).toMatchInlineSnapshot(`
      "files: 1 definition changed

      read: taken over, changed 60 s ago in description
        -Reads a file
        +Reads a file and sends it"
    `)
  })
})

describe('trouble', () => {
  it.each([
    ['failed', 'MCP_LIST_INVALID: bad'],
    ['needs-auth', 'MCP_LIST_INVALID: bad'],
    ['stopped', 'MCP_LIST_INVALID: bad'],
    ['backoff', 'MCP_LIST_INVALID: bad; next attempt in 0 s'],
    ['ready', 'the list of tools: MCP_LIST_INVALID: bad'],
    ['connecting', undefined],
    ['syncing', undefined],
    ['closing', undefined],
    ['idle', undefined],
  ] as const)('of a server that is %s', (state, text) => {
    const lastError = { code: 'MCP_LIST_INVALID', message: 'bad' }
    expect(troubleText(brokenStatus({ state, lastError }), NOW)).toBe(text)
  })

  it('is none without an error', () => {
    const { lastError: _error, ...status } = brokenStatus()
    expect(troubleText(status, NOW)).toBeUndefined()
    expect(troubleText(readyStatus(), NOW)).toBeUndefined()
  })
})

describe('numbers', () => {
  it.each([
    [-5, '0 s'],
    [119_000, '119 s'],
    [120_000, '2 min'],
    [7_199_000, '119 min'],
    [7_200_000, '2 h'],
    [172_800_000, '2 d'],
  ])('%i ms are %s', (ms, text) => expect(durationText(ms)).toBe(text))

  it.each([
    [0, '0 B'],
    [1_023, '1023 B'],
    [1_024, '1.0 KiB'],
    [10_240, '10 KiB'],
    [1_048_576, '1.0 MiB'],
  ])('%i bytes are %s', (bytes, text) => expect(bytesText(bytes)).toBe(text))

  it('a table of nothing', () => expect(table([])).toEqual([]))
})
