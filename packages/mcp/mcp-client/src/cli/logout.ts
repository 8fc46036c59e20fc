/** Owns `dsh-mcp logout`: give the tokens of a server up where they came from, and forget them. */
import { createLogin } from '../bridge-login.ts'
import type { Login } from '../bridge-login.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { safeLine } from '../text.ts'
import type { ServerSpec } from '../types.ts'
import { EXIT, UsageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { failureOf } from './login-advice.ts'
import { loginHostOf } from './login-host.ts'
import type { Output } from './output.ts'
import type { Row } from './rows/source.ts'

const MAX_LINE_CHARS = 400

/** @throws UsageError for a row that is refused */
export async function runLogout(row: Row, output: Output): Promise<ExitCode> {
  if (!row.resolved.ok) throw new UsageError(`the row "${row.name}" is refused: ${row.resolved.fault}`)
  const { spec } = row.resolved
  const { serverName, redact } = spec
  const login = createLogin({
    spec,
    host: loginHostOf(spec, output.io),
    clock: SYSTEM_CLOCK,
    say: ({ text }) => output.note(`${serverName}: ${redact(text)}`),
    /* v8 ignore next -- nothing waits for it */
    onAuthorized: () => undefined,
  })
  const code = await giveUp(login, spec, output)
  await login.close()
  return code
}

/** Never rejects. */
async function giveUp(login: Login, { serverName, redact }: ServerSpec, output: Output): Promise<ExitCode> {
  try {
    const done = (await login.logout()).map((line) => safeLine(line, redact, MAX_LINE_CHARS))
    output.json({ server: serverName, done })
    for (const line of done) output.line(`${serverName}: ${line}`)
    return EXIT.ok
  } catch (error) {
    const { code, message } = failureOf(error, redact)
    output.json({ server: serverName, error: { code, message } })
    output.line(`${output.style('red', 'FAIL')} ${serverName}: ${message}`)
    return EXIT.failed
  }
}
