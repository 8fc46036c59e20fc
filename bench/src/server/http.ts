/**
 * Owns the benchmark's Streamable HTTP server: plain JSON answers over keep-alive, notifications over the one GET
 * stream. Prints its port, and ends with its stdin.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServerResponse } from 'node:http'
import { createAnswers } from './answers.ts'
import type { Nature } from './answers.ts'

const receive = createAnswers(JSON.parse(process.argv[2] ?? '{"tools":1}') as Nature)
const listeners = new Set<ServerResponse>()
const notify = (text: string): void => {
  for (const stream of listeners) stream.write(`event: message\ndata: ${text}\n\n`)
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.write(': open\n\n')
    listeners.add(response)
    response.on('close', () => listeners.delete(response))
    return
  }
  if (request.method !== 'POST') {
    response.writeHead(200).end()
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    let isAnswered = false
    receive(Buffer.concat(chunks).toString('utf8'), {
      answer(text) {
        isAnswered = true
        const body = Buffer.from(text)
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        response.end(body)
      },
      notify,
    })
    if (!isAnswered) response.writeHead(202).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
process.stdin.on('end', () => process.exit(0)).resume()
