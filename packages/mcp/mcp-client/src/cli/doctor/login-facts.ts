/** Owns what doctor finds out about a login: whether one is kept, and where one would happen. */
import { keptLogin, loginPage, takesLogin } from '../../bridge-login.ts'
import type { McpError } from '../../errors.ts'
import { safeLine } from '../../text.ts'
import type { ServerSpec } from '../../types.ts'
import { failureOf } from '../login-advice.ts'
import { loginHostOf } from '../login-host.ts'
import type { Io } from '../output.ts'
import type { HttpFacts, LoginFacts } from './facts.ts'

const MAX_LINE_CHARS = 400

/** What there is to know of a login, where the server asks for one; registers and begins nothing. */
export async function loginFacts(
  spec: ServerSpec,
  { target, failure }: { readonly target: HttpFacts; readonly failure: McpError | undefined },
  { io, onStep }: { readonly io: Io; readonly onStep?: (text: string) => void },
): Promise<LoginFacts | undefined> {
  if (failure?.code !== 'MCP_AUTH_REQUIRED' || !takesLogin(spec)) return undefined
  const isKept = (await keptLogin(spec, loginHostOf(spec, io))) !== undefined
  const challenge = target.reply?.challenge
  if (challenge === undefined || !/bearer|dpop|resource_metadata/i.test(challenge)) return { isKept }
  onStep?.(`looking for the login page of ${target.host}`)
  const page = await loginPage(spec, challenge)
  if ('host' in page) {
    const { host } = page
    return { isKept, ...(host === undefined ? {} : { page: safeLine(host, spec.redact, MAX_LINE_CHARS) }) }
  }
  const { code, message } = failureOf(page.fault, spec.redact)
  return { isKept, fault: { code, message: safeLine(message, spec.redact, MAX_LINE_CHARS) } }
}
