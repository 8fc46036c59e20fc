/**
 * Owns the rule for URLs that a server names, such as those of its authorization metadata: https, and an address of the
 * public internet, judged after the name was resolved and by the very address that is connected to. The URL of the row
 * is the operator's word and is not judged here.
 */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'

export interface GuardOptions {
  /** Origins that the operator wrote down, such as that of the row's URL: anything is allowed there. */
  readonly trustedOrigins: readonly string[]
  /** Makes the error of a refusal; `why` names the host and is short and clean. */
  readonly refuse: (why: string) => Error
  readonly connectTimeoutMs: number
  readonly lookup?: LookupFunction
}

/** What is not of the public internet, by its registries: this host, private, link-local, shared, documentation, groups. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** Of the global unicast range; all that lies outside of it is refused as a whole. Teredo and 6to4 lead to any IPv4. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const GLOBAL_V6 = '2000::/3'
/** The translator of a network without IPv4: the address behind it counts. */
const NAT64_V6 = '64:ff9b::/96'
const MAPPED_V6 = '::ffff:0:0/96'

const special = blockList([...SPECIAL_V4, ...SPECIAL_V6])
const global = blockList([GLOBAL_V6])
const wrapped = blockList([NAT64_V6, MAPPED_V6])

/** Tell whether an IP address is one of the public internet. False for what is no address. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  switch (isIP(plain)) {
    case 4:
      return !special.check(plain, 'ipv4')
    case 6:
      if (wrapped.check(plain, 'ipv6')) return isPublicAddress(lastFour(plain))
      return global.check(plain, 'ipv6') && !special.check(plain, 'ipv6')
    default:
      return false
  }
}

/** Why a URL that a server named must not be asked, as far as its text tells; `undefined` where it may be. */
export function urlFault(url: URL, trustedOrigins: readonly string[]): string | undefined {
  if (url.username !== '' || url.password !== '') return 'it holds user info'
  if (trustedOrigins.includes(url.origin)) return undefined
  return url.protocol === 'https:' ? hostFault(url.hostname) : 'it is not https'
}

/**
 * An agent that connects to public addresses and trusted origins only. Each connection is judged, so each hop of a
 * redirect and each new answer of a name server is. Not for use with a proxy: that one resolves names itself.
 */
export function createGuardedAgent(options: GuardOptions): Agent {
  const { trustedOrigins, refuse, connectTimeoutMs, lookup = systemLookup as LookupFunction } = options
  const base = { timeout: connectTimeoutMs, allowH2: false }
  const plain = buildConnector({ ...base, lookup })
  const guarded = buildConnector({ ...base, lookup: guardedLookup(lookup, refuse) })
  return new Agent({
    allowH2: false,
    connect(target, callback) {
      const origin = URL.parse(`${target.protocol}//${String(target.host)}`)?.origin
      if (origin !== undefined && trustedOrigins.includes(origin)) return plain(target, callback)
      // An address that stands in the URL is never looked up.
      const why = target.protocol === 'https:' ? hostFault(target.hostname) : 'it is not https'
      if (why !== undefined) return callback(refuse(`${target.hostname}: ${why}`), null)
      guarded(target, callback)
    },
  })
}

/** Answers only where every address of the name is public: a name that has both kinds is no mistake. */
function guardedLookup(lookup: LookupFunction, refuse: (why: string) => Error): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, found, family) => {
      if (error !== null) return callback(error, found, family)
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address)
      const inner = addresses.find((address) => !isPublicAddress(address))
      if (inner === undefined) return callback(null, found, family)
      callback(refuse(`${hostname}: ${NOT_PUBLIC}`), '', 0)
    })
}

/** The address itself is not told: whoever named the host would learn of the inner network by it. */
const NOT_PUBLIC = 'it is not an address of the public internet'

function hostFault(hostname: string): string | undefined {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : NOT_PUBLIC
  const isLocal = /(?:^|\.)(?:localhost|localdomain|local|internal)$|^ip6-(?:localhost|loopback)$/.test(host)
  return isLocal || host === '' ? NOT_PUBLIC : undefined
}

/** The IPv4 address in the last 32 bits of an IPv6 address. */
function lastFour(address: string): string {
  const dotted = /[\d.]+$/.exec(address)?.[0] ?? ''
  if (isIP(dotted) === 4) return dotted
  const [high = 0, low = 0] = address
    .replace('::', ':0:0:')
    .split(':')
    .slice(-2)
    .map((group) => Number.parseInt(group || '0', 16))
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [net = '', prefix] = subnet.split('/')
    list.addSubnet(net, Number(prefix), isIP(net) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
