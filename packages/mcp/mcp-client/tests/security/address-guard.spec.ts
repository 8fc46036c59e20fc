/** Owns the tests of the rule for URLs that a server names: pure, and over real sockets. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net'
import type { AddressInfo, LookupFunction } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createGuardedAgent, isPublicAddress, urlFault } from '../../src/connection/address-guard.ts'

describe('isPublicAddress', () => {
  it.each([
    ['this host', '0.0.0.0'],
    ['this host', '0.1.2.3'],
    ['private', '10.1.2.3'],
    ['carrier NAT', '100.64.0.1'],
    ['carrier NAT', '100.127.255.254'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['cloud metadata', '169.254.169.254'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['protocol', '192.0.0.192'],
    ['private', '192.168.1.1'],
    ['benchmark', '198.18.0.1'],
    ['group', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['loopback', '0:0:0:0:0:0:0:1'],
    ['mapped', '::ffff:127.0.0.1'],
    ['mapped', '::ffff:a9fe:a9fe'],
    ['mapped', '0:0:0:0:0:ffff:a00:1'],
    ['compatible', '::127.0.0.1'],
    ['translated', '64:ff9b::10.0.0.1'],
    ['translated', '64:ff9b::7f00:1'],
    ['translated', '64:ff9b::'],
    ['translated, local', '64:ff9b:1::a00:1'],
    ['unique local', 'fc00::1'],
    ['unique local, cloud metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['group', 'ff02::1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:7f00:1::'],
    ['documentation', '2001:db8::1'],
    ['discard', '100::1'],
    ['no address', 'example.org'],
    ['no address', ''],
  ])('is false for %s: %s', (_kind, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::808:808',
    '64:ff9b::8.8.8.8',
  ])('is true for %s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it('judges an IPv4 address and its mapped and translated forms alike', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
        const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
        const forms = [`::ffff:${address}`, `::ffff:${groups}`, `64:ff9b::${groups}`, `64:ff9b::${address}`]
        for (const form of forms) expect(isPublicAddress(form)).toBe(isPublicAddress(address))
      }),
    )
  })
})

describe('urlFault', () => {
  const fault = (url: string, trusted: readonly string[] = []): string | undefined =>
    urlFault(new URL(url), trusted)

  it.each([
    ['http://example.org/', 'it is not https'],
    ['file:///etc/passwd', 'it is not https'],
    ['javascript:alert(1)', 'it is not https'],
    ['https://me@example.org/', 'it holds user info'],
    ['https://:pw@example.org/', 'it holds user info'],
    ['https://localhost/', 'it is not an address of the public internet'],
    ['https://LOCALHOST./', 'it is not an address of the public internet'],
    ['https://a.localhost/', 'it is not an address of the public internet'],
    ['https://metadata.google.internal/', 'it is not an address of the public internet'],
    ['https://printer.local/', 'it is not an address of the public internet'],
    ['https://127.1/', 'it is not an address of the public internet'],
    ['https://2130706433/', 'it is not an address of the public internet'],
    ['https://0x7f.0.0.1/', 'it is not an address of the public internet'],
    ['https://0177.0.0.1/', 'it is not an address of the public internet'],
    ['https://[::1]/', 'it is not an address of the public internet'],
    ['https://[::ffff:127.0.0.1]/', 'it is not an address of the public internet'],
    ['https://169.254.169.254/latest/meta-data/', 'it is not an address of the public internet'],
  ])('refuses %s: %s', (url, why) => {
    expect(fault(url)).toBe(why)
  })

  it('takes public hosts, and anything at a trusted origin but user info', () => {
    expect(fault('https://auth.example.org/x')).toBeUndefined()
    expect(fault('https://8.8.8.8/')).toBeUndefined()
    expect(fault('http://127.0.0.1:3000/x', ['http://127.0.0.1:3000'])).toBeUndefined()
    expect(fault('http://127.0.0.1:3001/x', ['http://127.0.0.1:3000'])).toBe('it is not https')
    expect(fault('http://me@127.0.0.1:3000/', ['http://127.0.0.1:3000'])).toBe('it holds user info')
  })
})

describe('a guarded agent', () => {
  let server: Server | undefined
  let sockets = 0
  afterEach(async () => {
    server?.closeAllConnections()
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)))
    server = undefined
  })

  async function listen(): Promise<number> {
    sockets = 0
    server = createServer((_request, response) => response.end('inner')).listen(0, '127.0.0.1')
    server.on('connection', () => (sockets += 1))
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  /** A name server that answers what it is told, each time the next. */
  function names(...answers: readonly (readonly string[])[]): LookupFunction & { readonly asked: string[] } {
    const asked: string[] = []
    const lookup: LookupFunction = (hostname, options, callback) => {
      const answer = answers[Math.min(asked.push(hostname), answers.length) - 1] ?? []
      const [first = ''] = answer
      if (first === 'error')
        return callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '')
      if (options.all === true)
        callback(
          null,
          answer.map((address) => ({ address, family: 4 })),
        )
      else callback(null, first, 4)
    }
    return Object.assign(lookup, { asked })
  }

  async function ask(
    url: string,
    lookup: LookupFunction | undefined,
    trustedOrigins: readonly string[] = [],
  ) {
    const agent = createGuardedAgent({
      trustedOrigins,
      refuse: (why) => new Error(`refused: ${why}`),
      connectTimeoutMs: 2_000,
      ...(lookup === undefined ? {} : { lookup }),
    })
    try {
      const { origin, pathname } = new URL(url)
      const { statusCode, body } = await agent.request({ origin, path: pathname, method: 'GET' })
      return [statusCode, await body.text()]
    } finally {
      await agent.destroy()
    }
  }

  it('does not connect where a public name leads to an inner address', async () => {
    const port = await listen()
    for (const answer of [
      ['127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['169.254.169.254'],
      ['::ffff:127.0.0.1'],
    ]) {
      const lookup = names(answer)
      await expect(ask(`https://evil.example:${port}/`, lookup)).rejects.toThrow(
        'refused: evil.example: it is not an address of the public internet',
      )
      expect(lookup.asked).toEqual(['evil.example'])
    }
    expect(sockets).toBe(0)
  })

  it('judges a single answer, too, as Node asks for one where it tries no second family', async () => {
    const before = getDefaultAutoSelectFamily()
    setDefaultAutoSelectFamily(false)
    try {
      await expect(ask('https://evil.example/', names(['10.0.0.1']))).rejects.toThrow('refused: evil.example')
    } finally {
      setDefaultAutoSelectFamily(before)
    }
  })

  it('judges each connection by the answer it connects to: a name that turns inwards later gets nowhere', async () => {
    const port = await listen()
    const lookup = names(['error'], ['127.0.0.1'])
    const agent = createGuardedAgent({
      trustedOrigins: [],
      refuse: (why) => new Error(`refused: ${why}`),
      connectTimeoutMs: 2_000,
      lookup,
    })
    const request = { origin: `https://turns.example:${port}`, path: '/', method: 'GET' } as const
    await expect(agent.request(request)).rejects.toThrow('no such name')
    await expect(agent.request(request)).rejects.toThrow('refused: turns.example')
    expect(lookup.asked).toHaveLength(2)
    expect(sockets).toBe(0)
    await agent.destroy()
  })

  it('does not connect to an inner address that stands in the URL, nor without TLS', async () => {
    const port = await listen()
    await expect(ask(`https://127.0.0.1:${port}/`, undefined)).rejects.toThrow('refused: 127.0.0.1')
    await expect(ask(`https://localhost:${port}/`, undefined)).rejects.toThrow('refused: localhost')
    await expect(ask(`http://127.0.0.1:${port}/`, undefined)).rejects.toThrow('it is not https')
    expect(sockets).toBe(0)
  })

  it('connects to a trusted origin, and to no other port of it', async () => {
    const port = await listen()
    const origin = `http://127.0.0.1:${port}`
    expect(await ask(`${origin}/x`, undefined, [origin])).toEqual([200, 'inner'])
    await expect(ask(`http://127.0.0.1:${port === 1 ? 2 : 1}/`, undefined, [origin])).rejects.toThrow(
      'refused',
    )
  })

  it('lets a public answer through to the socket', async () => {
    const lookup = names(['8.8.8.8'])
    const agent = createGuardedAgent({
      trustedOrigins: [],
      refuse: (why) => new Error(`refused: ${why}`),
      connectTimeoutMs: 50,
      lookup,
    })
    // Nothing answers there for us: the guard is passed, the connection fails or times out.
    const failed: unknown = await agent
      .request({ origin: 'https://public.example:9', path: '/', method: 'GET' })
      .catch((error: unknown) => error)
    expect(String(failed)).not.toContain('refused:')
    expect(lookup.asked).toEqual(['public.example'])
    await agent.destroy()
  })
})
