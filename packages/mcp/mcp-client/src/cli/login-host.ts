/** Owns where the command finds and keeps logins: where a host keeps them, so that each finds what the other has. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { resolveDshHome } from '@deepseek-ai/dsh-home-paths'
import type { LoginHost } from '../bridge-login.ts'
import { sharedSafe } from '../bridge-safe.ts'
import type { Safe } from '../bridge-safe.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import type { ServerSpec } from '../types.ts'
import { CREDENTIALS_FILE, createCredentialFile } from './credential-file.ts'
import type { Io } from './output.ts'

export interface CliLoginHost extends LoginHost {
  /** The place of a new login, for people. */
  readonly place: string
  readonly safe: Safe
}

/** Uses what is kept and begins nothing; `dsh-mcp login` adds that. */
export function loginHostOf(spec: ServerSpec, io: Io): CliLoginHost {
  const home = resolveDshHome(undefined, io.env)
  const folder = join(home, 'mcp-client')
  const path = join(home, CREDENTIALS_FILE)
  const service = createCredentialFile(path)
  const safe = sharedSafe(spec, {
    folder,
    clock: SYSTEM_CLOCK,
    service: () => service,
    // A host with its own store made that file; without it there may be a host that has none.
    prefersService: existsSync(path),
    // A damaged entry counts as none: a login writes it anew.
    note: () => undefined,
  })
  return { folder, safe, begins: false, place: existsSync(path) ? path : folder }
}
