/** Owns the tests of signals to process groups: which ids, which commands, and that nobody there is no error. */
import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { processGroups } from '../../src/connection/process-group.ts'

describe('processGroups', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('signals the group on POSIX, and never our own or everybody', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    const groups = processGroups('linux')
    groups.signal(100, 'SIGTERM')
    groups.killNow(101)
    groups.sweep(102)
    expect(groups.isAlive(103)).toBe(true)
    expect(groups.isAlive(1) || groups.isAlive(0) || groups.isAlive(-5)).toBe(false)
    expect(kill.mock.calls).toEqual([
      [-100, 'SIGTERM'],
      [-101, 'SIGKILL'],
      [-102, 'SIGKILL'],
      [-103, 0],
    ])
  })

  it.each([
    ['ESRCH', false],
    ['EPERM', true],
  ])('takes %s for alive: %s', (code, alive) => {
    vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error(code), { code })
    })
    expect(processGroups('darwin').isAlive(100)).toBe(alive)
  })

  it('kills the tree by taskkill on Windows', () => {
    const child = new EventEmitter()
    const run = vi.fn<() => object>(() => child)
    const runSync = vi.fn<() => object>(() => ({ status: 0 }))
    const groups = processGroups('win32', run, runSync)
    groups.signal(100, 'SIGTERM')
    groups.killNow(101)
    groups.sweep(102)
    expect(groups.isAlive(103)).toBe(false)
    const options = { stdio: 'ignore', windowsHide: true }
    expect(run.mock.calls).toEqual([['taskkill', ['/PID', '100', '/T', '/F'], options]])
    expect(runSync.mock.calls).toEqual([['taskkill', ['/PID', '101', '/T', '/F'], options]])
    // An error event without a listener would end the host.
    expect(child.emit('error', new Error('no taskkill'))).toBe(true)
  })
})
