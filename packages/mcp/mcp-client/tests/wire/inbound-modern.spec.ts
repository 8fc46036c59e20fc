/** Owns the test of input-required rounds with the real services of the host, by a server on the official SDK. */
import { pathToFileURL } from 'node:url'
import { McpServer, inputRequired } from '@modelcontextprotocol/server'
import { httpRow } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { startSdkServer } from '../composition/reference-servers.ts'
import type { SdkServer } from '../composition/reference-servers.ts'
import { openInboundHost } from './inbound-host.ts'
import type { InboundHost, InboundHostOptions } from './inbound-host.ts'

let host: InboundHost | undefined
let server: SdkServer | undefined
afterEach(async () => {
  await host?.close()
  await server?.close()
  host = undefined
  server = undefined
})

/** Its tool answers with what it was given for all it asked, in one round. */
function create(): McpServer {
  const mcp = new McpServer({ name: 'modern', version: '1.0.0' })
  mcp.registerTool('ask', { description: 'Asks for everything' }, ({ mcpReq }) => {
    const given = mcpReq.inputResponses
    if (given !== undefined) return { content: [{ type: 'text', text: JSON.stringify(given) }] }
    return inputRequired({
      requestState: 'état',
      inputRequests: {
        form: inputRequired.elicit({
          message: 'Where to?',
          requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        }),
        page: inputRequired.elicitUrl({ message: 'Pay.', url: 'https://example.com/pay' }),
        model: inputRequired.createMessage({
          maxTokens: 10,
          messages: [{ role: 'user', content: { type: 'text', text: 'Six times seven?' } }],
        }),
        roots: inputRequired.listRoots(),
      },
    })
  })
  return mcp
}

async function open(options: InboundHostOptions): Promise<InboundHost> {
  server = await startSdkServer(create)
  const config = { protocol: '2026-07-28', sampling: { mode: 'ask' } }
  host = await openInboundHost(httpRow('modern', server.url, config), options)
  return host
}

const given = (text: string): unknown => JSON.parse((JSON.parse(text) as [{ text: string }])[0].text)

describe('a server of revision 2026-07-28 that asks for everything at once', () => {
  it('is given all of it', async () => {
    const { call, folder, questions } = await open({
      approve: 'allowed-once',
      person: ({ id }) => ({ form: 'Answer', 'field-1': '=Paris', address: 'I have done it' })[id],
    })
    expect(given(await call('ask'))).toEqual({
      form: { action: 'accept', content: { city: 'Paris' } },
      page: { action: 'accept' },
      model: {
        role: 'assistant',
        model: 'large',
        content: { type: 'text', text: 'forty-two' },
        stopReason: 'endTurn',
      },
      roots: { roots: [{ uri: pathToFileURL(folder).href, name: expect.any(String) as string }] },
    })
    expect(questions.map(({ id }) => id)).toEqual(['form', 'field-1', 'address'])
  })

  it('hears of a person who declines, and of a rejected sampling by the end of the call', async () => {
    const { call, sampled } = await open({ approve: 'rejected', person: () => 'Decline' })
    expect(await call('ask')).toBe(
      'McpError: the server asked for more before it answers, and was not given it: User rejected sampling request',
    )
    expect(sampled).toEqual([])
  })
})
