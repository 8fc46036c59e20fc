/** Owns the question where a login of a server would happen, for people who look: it registers and begins nothing. */
import { loadSdk } from '../sdk.ts'
import type { AuthSpec, HttpTarget, ServerSpec } from '../types.ts'
import { readChallenge } from './challenge.ts'
import { discover } from './discovery.ts'
import { createFailures } from './failures.ts'

/**
 * Host of the login page; `undefined` where nothing says that there is one. Rejects with McpError where a login could not
 * begin, as a login would.
 */
export async function findLoginPage(
  { serverName, redact, learn }: ServerSpec,
  target: HttpTarget & { readonly auth: AuthSpec },
  challenge: string,
): Promise<string | undefined> {
  const serverUrl = new URL(target.url)
  // Loaded when it is needed: undici costs as much to import as all of this package.
  const { createMetadataFetch } = await import('./metadata-fetch.ts')
  const metadata = createMetadataFetch(serverName, serverUrl, target.auth.issuer)
  const { failed, told } = createFailures(serverName, redact)
  try {
    return await told(async () => {
      const sdk = await loadSdk()
      const headers = { 'www-authenticate': challenge }
      const wanted = readChallenge(sdk, { status: 401, url: serverUrl, headers, sent: {} })
      const discovery = await discover(
        {
          sdk,
          serverName,
          serverUrl,
          auth: target.auth,
          fetch: metadata.fetch,
          now: Date.now,
          learn,
          failed,
          /* v8 ignore next -- of what begins no login */
          assertion: () => Promise.resolve(''),
        },
        wanted,
      )
      const page = discovery.metadata?.authorization_endpoint
      return page === undefined ? undefined : new URL(page).host
    })
  } finally {
    await metadata.close()
  }
}
