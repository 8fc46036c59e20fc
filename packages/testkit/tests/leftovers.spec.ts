/** The leftovers check, seen red for each kind. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { expectNoLeftovers, leftovers } from '../src/index.ts'

describe('expectNoLeftovers', () => {
  it('passes when nothing is left', async () => {
    await expectNoLeftovers(leftovers())
  })

  it('names a timer', async () => {
    const before = leftovers()
    const timer = setInterval(() => {}, 1000)
    await expect(expectNoLeftovers(before, { patienceMs: 50 })).rejects.toThrow('timer of 1000 ms')
    clearInterval(timer)
    await expectNoLeftovers(before)
  })

  it('names a listener and a socket', async () => {
    const before = leftovers()
    const server = createServer((socket) => socket.resume())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await expect(expectNoLeftovers(before, { patienceMs: 50 })).rejects.toThrow('Server at')
    const { port } = server.address() as AddressInfo
    const response = new AbortController()
    const request = fetch(`http://127.0.0.1:${port}`, { signal: response.signal })
    await once(server, 'connection')
    await expect(expectNoLeftovers(before, { patienceMs: 50 })).rejects.toThrow('Socket from port')
    response.abort()
    await expect(request).rejects.toThrow()
    server.close()
    await expectNoLeftovers(before)
  })

  it('names a child and its child', async () => {
    const before = leftovers()
    const child = spawn('/bin/sh', ['-c', 'sleep 30 & echo $!; wait'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    const grandchild = Number(chunk.toString())
    await expect(expectNoLeftovers(before, { patienceMs: 50 })).rejects.toThrow(/process \d+: sleep 30/)
    child.kill('SIGKILL')
    // Nobody's child any more: only the pid finds it.
    await expect(expectNoLeftovers(before, { pids: [grandchild], patienceMs: 50 })).rejects.toThrow(
      `process ${grandchild}`,
    )
    process.kill(grandchild, 'SIGKILL')
    await expectNoLeftovers(before, { pids: [grandchild] })
  })
})
