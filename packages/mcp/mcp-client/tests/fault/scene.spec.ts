/** Owns the tests of the fault runner itself: each invariant has been seen red. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { FaultRow } from '@dsh-mcp/testkit'
import { SECRET, checkLogs, playRow } from './scene.ts'

const row = (check: FaultRow['check'], more: Partial<FaultRow> = {}): FaultRow => ({
  id: 'made-up',
  title: 'nothing',
  right: 'nothing',
  check,
  ...more,
})

describe('the runner refuses', () => {
  it('a row whose check fails, and tells what the operator was told', async () => {
    const failing = row(() => Promise.reject(new Error('not right')))
    await expect(playRow(failing, 'http', 'legacy')).rejects.toThrow(/not right\n--- told the operator/)
  })

  it('a process that is left', async () => {
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20_000)'])
    const exit = once(child, 'exit')
    const leaving = row(async (scene) => scene.watch(Number(child.pid)))
    await expect(playRow(leaving, 'http', 'legacy')).rejects.toThrow('a process is left')
    expect(await exit).toEqual([null, 'SIGKILL'])
  })

  it('a socket that is left', async () => {
    const leaving = row(async (scene) => {
      const socket = connect(scene.http().port, '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
    })
    await expect(playRow(leaving, 'http', 'modern')).rejects.toThrow('a socket is left')
  })

  it('a start-up over its limit', async () => {
    const config = { startup: { waitMs: 100, timeoutMs: -900 } }
    await expect(
      playRow(
        row(() => delay(0), { config }),
        'http',
        'legacy',
      ),
    ).rejects.toThrow()
  })

  it.each([
    ['a secret', [`warn: token ${SECRET}`], /planted secret/],
    ['a line break', ['warn: one\nERROR forged'], /control characters/],
    ['a colour', ['warn: \u001b[31mred'], /control characters/],
    ['too many lines', Array.from({ length: 201 }, () => 'warn: again'), /201 log lines/],
    ['too much text', ['x'.repeat(70_000)], /70000 characters/],
  ])('%s in the log', (_what, logs, why) => {
    expect(() => checkLogs(logs)).toThrow(why)
  })
})
