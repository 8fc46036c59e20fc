/** Owns the diagnoses of a server over HTTP: the way to it, its doors, and the wrong house. Pure. */
import type { Finding, HttpKind, Rows } from './kinds.ts'
import { loginAdvice } from '../login-advice.ts'
import type { Facts, Failure, HttpFacts, LoginFacts, Probe } from './facts.ts'

/** A row that applies to HTTP servers that failed. */
type Test = (target: HttpFacts, failure: Failure, facts: Facts) => Finding

function http(test: Test): (facts: Facts) => Finding {
  return (facts) =>
    facts.target?.kind === 'http' && facts.failure !== undefined
      ? test(facts.target, facts.failure, facts)
      : undefined
}

function error(what: string, ...next: string[]): Finding {
  return { severity: 'error', what, next }
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|DEPTH_ZERO|CERT_UNTRUSTED/
const TLS = /^(?:ERR_(?:SSL|TLS)|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO)|_CERT/
const UNREACHED =
  /^(?:EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|ECONNRESET|UND_ERR_SOCKET|EPIPE)$/
const PROXY = /UND_ERR_PRX|proxy/i

/** OpenSSL packs the reason into a line of numbers and file names. */
function tlsWords(message: string): string {
  return /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message.replace(/^TLS failed: /, '')
}

/** What --probe found, or how to ask for it. */
function elsewhere(probes: readonly Probe[] | undefined, host: string): string[] {
  if (probes === undefined) return [`Let doctor look at the usual paths of ${host}: add --probe`]
  const found = probes.filter(({ tools }) => tools !== undefined)
  if (found.length === 0)
    return [`No MCP server answers at ${probes.map(({ path }) => path).join(', ')} of ${host} either.`]
  return found.map(
    ({ path, transport, tools }) =>
      `An MCP server answers at ${path} with ${tools} tools: write that path into url, and transport: ${transport}`,
  )
}

export const HTTP_ROWS: Rows<HttpKind> = {
  proxy: http(({ proxy, host }, { message, cause = '', status }) => {
    if (proxy === undefined) return undefined
    const isNetwork = cause !== '' || status === 407 || PROXY.test(message)
    if (!isNetwork || TLS.test(cause)) return undefined
    return error(
      `The connection goes through the proxy ${proxy} (HTTP_PROXY or HTTPS_PROXY), and that fails: ${message}`,
      `If the proxy is not for this server, set NO_PROXY to include ${host}.`,
      'Otherwise see that the proxy runs and lets this host through.',
    )
  }),

  dns: http(({ dnsError, host, proxy }, { cause = '' }) => {
    const code = /^(?:ENOTFOUND|EAI_AGAIN)$/.test(cause) ? cause : dnsError
    if (code === undefined || proxy !== undefined) return undefined
    return error(
      `The host name of ${host} cannot be resolved (${code}).`,
      'Mend the host in url. Is the machine online, and does the name need a VPN?',
    )
  }),

  refused: http(({ host }, { cause }) => {
    if (cause !== 'ECONNREFUSED') return undefined
    return error(
      `Nothing listens at ${host}.`,
      'Start the server, or mend the port in url.',
      'In a container, localhost is the container itself: use the name or address of the machine.',
    )
  }),

  'tls-untrusted': http(({ host }, { cause = '', message }) => {
    if (!UNTRUSTED.test(cause)) return undefined
    return error(
      `The certificate of ${host} is not trusted by this machine: ${tlsWords(message)}.`,
      'Save the certificate of the authority that signed it as a PEM file, and start the host with ' +
        'NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
    )
  }),

  tls: http(({ host, isSecure }, { cause = '', message }) => {
    if (!TLS.test(cause)) return undefined
    const isPlain = /WRONG_VERSION|EPROTO|PACKET_LENGTH|HTTP_REQUEST/.test(`${cause} ${message}`)
    return error(
      `TLS with ${host} fails: ${tlsWords(message)}.`,
      isPlain && isSecure
        ? 'The port speaks plain HTTP: write http:// in url, or the port that speaks https.'
        : 'The certificate is for another name, or is over: mend the host in url, or renew the certificate.',
    )
  }),

  unreachable: http(({ host }, { cause = '', message }) => {
    if (!UNREACHED.test(cause)) return undefined
    return error(
      `${host} cannot be reached: ${message}`,
      'Is the machine online, and does the host need a VPN or a firewall rule?',
    )
  }),

  'auth-failed': http((_target, { code, message }, { name }) => {
    if (code !== 'MCP_AUTH_FAILED' && code !== 'MCP_CLIENT_REGISTRATION_REQUIRED') return undefined
    return error(
      `The row could not be authorized: ${message.replace(/^authorization failed: /, '')}.`,
      ...closerAdvice({ code, message }, name),
      'Look at auth of the row: docs/authorization.md has each key.',
    )
  }),

  'auth-missing': http(({ hasAuthorization, reply, login }, { status, code }, { findings, name }) => {
    if ((status ?? reply?.status) !== 401 && code !== 'MCP_AUTH_REQUIRED') return undefined
    const isUnset = [...findings.unset, ...findings.undefinedWords].some((path) => path.startsWith('headers'))
    if (hasAuthorization && !isUnset) return undefined
    if (login?.isKept === true) {
      return error(
        'The server asks for authorization (HTTP 401): the login that is kept for it is over.',
        ...loginWords(login, name),
      )
    }
    const scheme = reply?.challenge?.split(/[\s,]/)[0]
    const fixed = isUnset
      ? 'Set the variable that the header reads where the host starts.'
      : `Add it to the row: headers: { Authorization: !!js '\`${scheme ?? 'Bearer'} \${process.env.MCP_TOKEN}\`' }`
    const words = loginWords(login, name)
    return error(
      isUnset
        ? 'The server asks for authorization (HTTP 401), and the header of the row has no value.'
        : 'The server asks for authorization (HTTP 401), and the row sends none.',
      // What the server is known to want comes first.
      ...(login?.page === undefined ? [fixed, ...words] : [...words, fixed]),
    )
  }),

  'auth-refused': http(({ reply }, { status, code }) => {
    if ((status ?? reply?.status) !== 401 && code !== 'MCP_AUTH_REQUIRED') return undefined
    return error(
      'The server refuses the credential that the row sends (HTTP 401).',
      'Is it over, or for another server? Make a new one, and set it where the host starts.',
      'See that the header has the form the server wants: mostly "Authorization: Bearer TOKEN".',
    )
  }),

  forbidden: http(({ proxy }, { status, message }) => {
    if (status !== 403) return undefined
    return error(
      `The server knows who you are and does not let you in (HTTP 403): ${message}`,
      'Give the token the scopes that the server asks for, or use an account that may use it.',
      ...(proxy === undefined
        ? []
        : [`Or it is the proxy ${proxy} that refuses: set NO_PROXY if it is not for this server.`]),
    )
  }),

  'wrong-transport': http(({ path, host, flavour, probes }, { status }) => {
    if (status !== 404 && status !== 405 && status !== 400) return undefined
    const isOld = flavour === 'streamable-http' && /\/sse\/?$/.test(path)
    const isNew = flavour === 'sse' && /\/mcp\/?$/.test(path)
    if (!isOld && !isNew) return undefined
    return error(
      `The path ${path} is mostly that of ${isOld ? 'an HTTP+SSE server' : 'a Streamable HTTP server'}, and the row says transport: ${flavour}.`,
      `Write transport: ${isOld ? 'sse' : 'streamable-http'}, or leave transport out: then both are tried.`,
      ...(probes === undefined ? [] : elsewhere(probes, host)),
    )
  }),

  'html-page': http(({ url, host, reply, probes }, { message }) => {
    if (reply?.contentType !== 'text/html') return undefined
    return error(
      `A web page answers at ${url}, not an MCP server: ${message}`,
      'Mend the path of url: the README of the server has it, often /mcp, and /sse for an old server.',
      ...elsewhere(probes, host),
    )
  }),

  'path-not-found': http(({ path, host, probes, flavour }, { status }) => {
    if (status !== 404 && status !== 405) return undefined
    return error(
      `${host} is there, and has no MCP server at ${path} (HTTP ${status}).`,
      'Mend the path of url: often it is /mcp, and /sse for an old server.',
      ...(flavour === 'auto'
        ? []
        : ['Leave transport out: then Streamable HTTP and HTTP+SSE are both tried.']),
      ...elsewhere(probes, host),
    )
  }),

  'too-busy': http(({ host }, { status, message }) => {
    if (status !== 429 && status !== 503) return undefined
    return error(
      `${host} takes no requests now: ${message}`,
      'Wait, and try again. The client itself waits as long as the server asks.',
    )
  }),

  'server-error': http(({ host }, { status, message }) => {
    if (status === undefined || status < 500) return undefined
    return error(
      `${host} is broken inside: ${message}`,
      'Look at the log of the server. The client tries again by itself.',
    )
  }),

  redirect: http((_target, { status, message }) => {
    if (status === undefined || status < 300 || status > 399) return undefined
    return error(
      `The url is not where the server is: ${message}.`,
      'Write the address that it points to into url, if you trust it.',
    )
  }),

  'http-silent': http(({ host }, { code }, { heard, timeoutMs }) => {
    if (code !== 'MCP_CONNECT_TIMEOUT' || heard > 0) return undefined
    return error(
      `${host} takes the connection and does not answer within ${timeoutMs} ms.`,
      'Is it an MCP server? See that url names the port and path of its MCP endpoint.',
    )
  }),
}

/** The way to a login, where there is one. */
function loginWords(login: LoginFacts | undefined, name: string): string[] {
  if (login === undefined) return []
  const { fault, page, isKept } = login
  if (fault !== undefined) {
    const words = fault.message.replace(/^authorization failed: /, '')
    return [`A login is not possible: ${words}.`, ...closerAdvice(fault, name)]
  }
  if (page !== undefined) return [`Log in: dsh-mcp login ${name} (the page is at ${page}).`]
  return [`${isKept ? 'Log in again' : 'If the server takes an OAuth login'}: dsh-mcp login ${name}`]
}

/** Doctor does not send anybody to doctor. */
function closerAdvice(failure: { readonly code: string; readonly message: string }, name: string): string[] {
  return loginAdvice(failure, name).filter((text) => !text.includes('dsh-mcp doctor'))
}
