/** Owns the tests of the reaper's decisions on a made-up host process; tests/wire/stdio-host.spec.ts has real ones. */
import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { createReaper } from '../../src/connection/reaper.ts'
import type { ReaperHost } from '../../src/connection/reaper.ts'

const EVENTS = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP']

function setup() {
  const host = Object.assign(new EventEmitter(), {
    pid: 4_242,
    raised: [] as unknown[],
    kill: (...args: unknown[]) => host.raised.push(args) > 0,
  })
  const killed: number[] = []
  const make = () => createReaper(host as unknown as ReaperHost, (leader) => void killed.push(leader))
  const counts = (): number[] => EVENTS.map((event) => host.listenerCount(event))
  return { host, killed, make, counts }
}

describe('createReaper', () => {
  afterEach(() => {
    Reflect.deleteProperty(globalThis, Symbol.for('signal-exit emitter'))
  })

  it('has one listener for each event while a group lives, and none otherwise', () => {
    const { make, counts } = setup()
    const reaper = make()
    expect(counts()).toEqual([0, 0, 0, 0])
    const offs = Array.from({ length: 50 }, (_, index) => reaper.watch(index + 2))
    expect(counts()).toEqual([1, 1, 1, 1])
    const [first, ...rest] = offs
    for (const off of rest) off()
    rest[0]?.()
    expect(counts()).toEqual([1, 1, 1, 1])
    first?.()
    first?.()
    expect(counts()).toEqual([0, 0, 0, 0])
  })

  it('kills each group once when the host exits', () => {
    const { host, killed, make } = setup()
    const reaper = make()
    reaper.watch(10)
    reaper.watch(11)()
    reaper.watch(12)
    host.emit('exit', 0)
    host.emit('exit', 0)
    expect(killed).toEqual([10, 12])
  })

  it('kills also where somebody else throws at the exit', () => {
    const { host, killed, make } = setup()
    host.on('exit', () => {
      throw new Error('a listener of somebody else')
    })
    make().watch(10)
    expect(() => host.emit('exit', 0)).toThrow('somebody else')
    expect(killed).toEqual([10])
  })

  it('kills and raises the signal again where nobody else listens', () => {
    const { host, killed, make, counts } = setup()
    make().watch(10)
    host.emit('SIGTERM', 'SIGTERM')
    expect(killed).toEqual([10])
    expect(host.raised).toEqual([[4_242, 'SIGTERM']])
    expect(counts()).toEqual([0, 0, 0, 0])
  })

  it('leaves a signal to others, also to a once listener', () => {
    const { host, killed, make } = setup()
    let handled = 0
    host.once('SIGINT', () => (handled += 1))
    make().watch(10)
    host.emit('SIGINT', 'SIGINT')
    expect([handled, killed, host.raised]).toEqual([1, [], []])
    // A second Ctrl-C finds nobody else any more.
    host.emit('SIGINT', 'SIGINT')
    expect([handled, killed, host.raised]).toEqual([1, [10], [[4_242, 'SIGINT']]])
  })

  it('works with a second copy of itself: all groups die, the signal is raised once', () => {
    const { host, killed, make, counts } = setup()
    make().watch(10)
    make().watch(20)
    host.emit('SIGHUP', 'SIGHUP')
    expect(killed).toEqual([20, 10])
    expect(host.raised).toEqual([[4_242, 'SIGHUP']])
    expect(counts()).toEqual([0, 0, 0, 0])
  })

  it('is not held up by signal-exit, which raises the signal itself when alone', () => {
    const { host, killed, make } = setup()
    Reflect.set(globalThis, Symbol.for('signal-exit emitter'), { count: 1 })
    Reflect.set(host, '__signal_exit_emitter__', { count: 1 })
    const found: number[] = []
    for (let copy = 0; copy < 2; copy += 1)
      host.on('SIGTERM', () => found.push(host.listenerCount('SIGTERM')))
    make().watch(10)
    host.emit('SIGTERM', 'SIGTERM')
    expect(killed).toEqual([10])
    expect(found).toEqual([2, 2])
    expect(host.raised).toEqual([])
  })
})
