/** Owns the tests of a server that asks for authorization in the middle of a session. */
import { afterEach, expect, it } from 'vitest'
import { httpRow, startHttpServer } from '@dsh-mcp/testkit'
import type { HttpServer } from '@dsh-mcp/testkit'
import { openWireHost } from './wire-host.ts'
import type { WireHost } from './wire-host.ts'

let server: HttpServer | undefined
let host: WireHost | undefined

afterEach(async () => {
  await host?.close()
  await server?.close()
})

it('withdraws its tools, says so, and comes back by a restart', async () => {
  server = await startHttpServer({}, {})
  host = await openWireHost(httpRow('locked', server.url))
  expect((await host.call('echo', { args: { message: 'a' } })).isError).toBe(false)
  let isLocked = true
  server.intercept = (_request, response) => {
    if (isLocked) response.writeHead(401).end()
    return isLocked
  }
  const refused = await host.call('echo', { args: { message: 'b' } })
  expect(refused).toMatchObject({ isError: true, error: { info: { code: 'MCP_AUTH_REQUIRED' } } })
  await expect.poll(() => host?.bridge.status().state, { timeout: 5_000 }).toBe('needs-auth')
  expect(host.has('echo')).toBe(false)
  expect(host.lines).toContainEqual(expect.stringMatching(/^error: the server asks for authorization/))
  isLocked = false
  host.bridge.restart()
  await expect.poll(() => host?.bridge.status().state, { timeout: 5_000 }).toBe('ready')
  expect((await host.call('echo', { args: { message: 'c' } })).isError).toBe(false)
})
