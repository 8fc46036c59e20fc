/** Owns what the discovery tests ask of a scripted HTTP server: how often it was read, and whether it is heard. */
import { waitFor } from '@dsh-mcp/testkit'
import type { HttpServer } from '@dsh-mcp/testkit'

/** How many pages of lists the server was asked for. */
export function lists(server: HttpServer): number {
  return server.requests.filter(({ message }) => message?.method === 'tools/list').length
}

/** Wait until a client of the legacy era listens for what the server says by itself. */
export async function streamOf(server: HttpServer): Promise<void> {
  await waitFor(
    () => [...server.sessions.values()],
    ({ streams }) => streams.size === 1,
  )
}
