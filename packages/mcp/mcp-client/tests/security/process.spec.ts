/** Owns the attack tests on child processes: what they inherit, and that no shell reads a row. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { stdioRow, stdioServer, temporaryFolder } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/config.ts'
import { textOf } from '../composition/registry-host.ts'
import { openWireHost } from '../wire/wire-host.ts'
import type { WireHost } from '../wire/wire-host.ts'

const PLANTED: Readonly<Record<string, string>> = {
  PLANTED_API_KEY: 'k-planted-0001',
  PLANTED_TOKEN: 't-planted-0002',
  SENTRY_DSN: 'https://key-planted-0003@sentry.test/1',
  PLANTED_AUTH: 'a-planted-0004',
  DATABASE_URL: 'postgres://db-planted-0005/app',
  QUEUE: 'amqp://me:pw-planted-0006@mq/',
  SSH_AUTH_SOCK: '/tmp/agent-planted-0007',
  DSH_PLANTED: 'd-planted-0008',
  KEYBOARD_LAYOUT: 'us',
  TOKENIZERS_PARALLELISM: 'false',
  PLANTED_PLAIN: 'plain',
}
const before = new Map(Object.keys(PLANTED).map((name) => [name, process.env[name]]))

let host: WireHost | undefined
afterEach(async () => {
  await host?.close()
  host = undefined
  for (const [name, value] of before) {
    if (value === undefined) Reflect.deleteProperty(process.env, name)
    else process.env[name] = value
  }
})

/** The environment as a real child sees it. */
async function environmentOf(config: Readonly<Record<string, unknown>>): Promise<Record<string, string>> {
  Object.assign(process.env, PLANTED)
  host = await openWireHost(
    stdioRow('kit', stdioServer('environment', { env: { OWN_TOKEN: 'mine' } }), config),
  )
  return JSON.parse(textOf(await host.call('env'))) as Record<string, string>
}

describe('the environment of a stdio server', () => {
  it('has nothing of the host that is a credential by name or by value, and what only looks like one', async () => {
    const env = await environmentOf({})
    const kept = ['KEYBOARD_LAYOUT', 'TOKENIZERS_PARALLELISM', 'PLANTED_PLAIN']
    expect(Object.keys(PLANTED).filter((name) => name in env)).toEqual(kept)
    expect(env['OWN_TOKEN']).toBe('mine')
    expect(JSON.stringify(env)).not.toMatch(/planted-0/)
  })

  it('has what inheritEnv names, and nobody is told its value', async () => {
    const env = await environmentOf({ inheritEnv: ['SSH_AUTH_SOCK', 'PLANTED_API_KEY', 'DSH_PLANTED'] })
    for (const name of ['SSH_AUTH_SOCK', 'PLANTED_API_KEY', 'DSH_PLANTED'])
      expect(env[name]).toBe(PLANTED[name])
    expect(env).not.toHaveProperty('PLANTED_TOKEN')
    const inheritEnv = ['PLANTED_API_KEY', 'PLANTED_PLAIN', 'NOT_THERE']
    const { spec } = resolveConfig({ serverName: 'kit', command: 'serve', inheritEnv })
    expect(spec.redact('sent k-planted-0001 and plain')).toBe('sent [redacted] and plain')
  })

  it('is told to the operator by the names that were kept back, without a value', async () => {
    await environmentOf({})
    const [line] = host?.lines.filter((text) => text.includes('does not get')) ?? []
    expect(line).toMatch(/^debug: host variables that the server does not get \(env or inheritEnv /)
    expect(host?.lines.join('\n')).not.toMatch(/planted-0/)
  })
})

describe('a row with shell syntax', () => {
  it('reaches the program as it is written: no shell reads it', async () => {
    const file = join(temporaryFolder('shell'), 'pwned')
    const words = [
      `; touch ${file}`,
      `$(touch ${file})`,
      `\`touch ${file}\``,
      `| touch ${file}`,
      '*',
      '~',
      '$HOME',
      '"',
      "'",
    ]
    const server = stdioServer('environment')
    host = await openWireHost(stdioRow('kit', { ...server, args: [...server.args, ...words] }))
    const args = JSON.parse(textOf(await host.call('args'))) as string[]
    expect(args.slice(-words.length)).toEqual(words)
    expect(existsSync(file)).toBe(false)
  })

  it('in its command names a program that there is not', async () => {
    const file = join(temporaryFolder('shell'), 'pwned')
    const row = stdioRow('kit', { ...stdioServer('healthy'), command: `true; touch ${file}` })
    await expect(openWireHost(row)).rejects.toMatchObject({ code: 'MCP_SPAWN_FAILED' })
    expect(existsSync(file)).toBe(false)
  })
})
