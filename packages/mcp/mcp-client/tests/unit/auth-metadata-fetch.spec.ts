/** Owns the tests of requests to addresses that a server named. */
import { expect, it } from 'vitest'
import { createMetadataFetch } from '../../src/auth/metadata-fetch.ts'
import { openServer } from '../wire/http-server.ts'

it('follows nothing, bounds what it reads, and asks no other address', async () => {
  const server = await openServer(({ path, res }) => {
    if (path === '/large') res.end('x'.repeat(1024 * 1024 + 1))
    else if (path === '/bare') res.writeHead(204).end()
    else res.writeHead(302, { location: 'https://evil.example/' }).end('moved')
  })
  const { fetch, close } = createMetadataFetch('s', new URL(server.url))
  expect((await fetch(`${server.url}/moved`)).status).toBe(302)
  expect((await fetch(new URL('/bare', server.url))).status).toBe(204)
  await expect(fetch(new URL('/large', server.url))).rejects.toThrow(/too large/)
  await expect(fetch('http://public.example/')).rejects.toThrow(/not asked: it is not https/)
  await server.close()
  await expect(fetch(server.url)).rejects.toMatchObject({
    code: 'MCP_HTTP_UNAVAILABLE',
    message: expect.stringMatching(/ECONNREFUSED/) as string,
  })
  await close()
})
