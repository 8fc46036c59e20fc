/** Owns the place that a hostile server points at: nobody may ever come there. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Trap {
  readonly origin: string
  /** Connections, and the requests on them. */
  readonly seen: readonly string[]
  close(): Promise<void>
}

/** Listen on a port of 127.0.0.1 and answer whoever comes with a page, after writing it down. */
export async function openTrap(): Promise<Trap> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
    response.end('{"issuer":"https://evil.test","authorization_endpoint":"file:///etc/passwd"}')
  }).listen(0, '127.0.0.1')
  server.on('connection', () => seen.push('connection'))
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
