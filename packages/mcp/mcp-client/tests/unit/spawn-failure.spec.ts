/** Owns the tests of the words for a server that could not be started. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { spawnFailure } from '../../src/connection/spawn-failure.ts'
import type { SpawnRequest } from '../../src/connection/spawn-failure.ts'

const folder = mkdtempSync(join(tmpdir(), 'mcp-spawn-'))
const file = join(folder, 'run')
writeFileSync(file, '#!/no/such/interpreter\n')

const request = (over: Partial<SpawnRequest> = {}): SpawnRequest => ({
  serverName: 'files',
  command: 'npx-of-nowhere',
  args: [],
  env: {},
  redact: (text) => text.replaceAll('secret', '[redacted]'),
  ...over,
})
const failure = (code: string | undefined, over?: Partial<SpawnRequest>) =>
  spawnFailure(
    Object.assign(new Error('spawn secret failed'), code === undefined ? {} : { code }),
    request(over),
  )

describe('spawnFailure', () => {
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each<[string | undefined, Partial<SpawnRequest>, string]>([
    [
      'ENOENT',
      {},
      'cannot start "npx-of-nowhere": there is no such command on the PATH (ENOENT); is it installed?',
    ],
    ['ENOENT', { command: 'npx -y x' }, 'there is no such program (ENOENT): arguments belong into args'],
    ['ENOENT', { command: './run x', cwd: folder }, 'arguments belong into args'],
    ['ENOENT', { command: './a folder/x' }, 'there is no such file (ENOENT)'],
    [
      'ENOENT',
      { command: '~/run' },
      'there is no such file (ENOENT): only a shell reads "~" as a home folder',
    ],
    ['ENOENT', { command: './gone' }, 'cannot start "./gone": there is no such file (ENOENT)'],
    [
      'ENOENT',
      { command: './run', cwd: folder },
      'the file is there, but not the interpreter that its first line names',
    ],
    [
      'ENOENT',
      { cwd: join(folder, 'gone') },
      `the working directory "${join(folder, 'gone')}" does not exist`,
    ],
    ['ENOTDIR', { cwd: file }, `the working directory "${file}" is not a directory`],
    ['EACCES', { command: file }, 'it is not a file that may be executed (EACCES)'],
    ['E2BIG', { command: 'a-secret' }, 'cannot start "a-[redacted]": spawn [redacted] failed'],
    [undefined, {}, 'spawn [redacted] failed'],
  ])('%s with %j', (code, over, text) => {
    const error = failure(code, over)
    expect(error.message).toContain(text)
    expect(error).toMatchObject({
      code: 'MCP_SPAWN_FAILED',
      server: 'files',
      stage: 'connect',
      disposition: 'fatal',
    })
    expect(error.data).toEqual(code === undefined ? {} : { cause: code })
  })

  it.each(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])('%s may pass: another try', (code) => {
    expect(failure(code)).toMatchObject({ code: 'MCP_CONNECTION_CLOSED', disposition: 'retry' })
    expect(failure(code).message).toMatch(
      /^cannot start "npx-of-nowhere": .* \(E[A-Z]+\); it is tried again$/,
    )
  })
})
