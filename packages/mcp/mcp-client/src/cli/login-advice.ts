/** Owns what a person can do about a login that does not work: a sentence or two for each way it fails. Pure. */
import { takesLogin } from '../bridge-login.ts'
import { isMcpError } from '../errors.ts'
import type { McpError } from '../errors.ts'
import type { ServerSpec } from '../types.ts'

interface Failure {
  readonly code: string
  readonly message: string
}

/** What failed, as code and text; codes of the system for what is no error of ours. */
export function failureOf(error: unknown, redact: (text: string) => string): Failure {
  const { code, message } = error as NodeJS.ErrnoException
  return {
    code: isMcpError(error) ? error.code : (code ?? 'MCP_AUTH_FAILED'),
    message: redact(message),
  }
}

const MAKERS = 'Tell the makers of the server; nothing was sent there.'

/** By the words of our own errors, since one code stands for all of them. */
const BY_WORDS: readonly (readonly [RegExp, ...string[]])[] = [
  [
    /EADDRINUSE/,
    'The port for the answer is taken, most likely by a host that waits for this login: open the link that /mcp SERVER ' +
      'login shows there, and it finishes by itself.',
    'Else end the other login, or choose a port that is registered, too: --callback-port.',
  ],
  [/EACCES/, 'The port for the answer is not allowed here: choose one above 1023: --callback-port.'],
  [/could not be kept/, 'See that its place can be written, and that the disk has room. Then log in again.'],
  [/login was not granted/, 'Nobody was logged in. Run the command again, and grant access on its page.'],
  [
    /auth\.issuer|auth\.clientSecret was used/,
    'If the new one is right, write it into auth.issuer of the row; if not, the server may be in wrong hands.',
  ],
  [/issuer|\biss\b/i, `The answer or the metadata is of another authorization server. ${MAKERS}`],
  [/PKCE/, `A login would not be safe without it. ${MAKERS}`, 'A token made by hand goes into headers.'],
  [/another resource/, 'Compare url of the row with the address in the README of the server.'],
  [
    /not asked/,
    'It is an inner address, no https, or of another origin. If it is right, write auth.issuer into the row.',
  ],
  [/is not https/, MAKERS],
]

/** The command that mends a failed connection, where that is a login. */
export function loginHint(failure: McpError | undefined, spec: ServerSpec): string | undefined {
  const lacks = failure?.code === 'MCP_AUTH_REQUIRED' || failure?.data['awaitsLogin'] === true
  return lacks && takesLogin(spec) ? `dsh-mcp login ${spec.serverName}` : undefined
}

/** What to do next, the likeliest first. */
export function loginAdvice({ code, message }: Failure, serverName: string): readonly string[] {
  if (code === 'MCP_CLIENT_REGISTRATION_REQUIRED') {
    return [
      'Register a client at the authorization server by hand, as a native program that comes back to ' +
        'http://127.0.0.1:PORT/callback.',
      'Then write auth.clientId, auth.callbackPort: PORT and, where there is one, auth.clientSecret into the row.',
    ]
  }
  if (code === 'MCP_AUTH_REQUIRED')
    return [`The server does not take what the row sends: dsh-mcp doctor ${serverName} looks closer.`]
  const [, ...advice] = BY_WORDS.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? []
  return advice.length > 0 ? advice : [`dsh-mcp doctor ${serverName} looks closer.`]
}
