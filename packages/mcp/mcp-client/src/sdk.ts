/**
 * Owns the one lazy import of the MCP SDK, so that importing this package costs little until a server is
 * configured. Only connection/, auth/, inbound/ and errors.ts may use it.
 */
import type * as SdkParts from './sdk-parts.ts'

/** What is used of it. */
export type Sdk = typeof SdkParts

let loading: Promise<Sdk> | undefined
let loaded: Sdk | undefined

/** Load the SDK once per process. Rejects with the import error of a broken installation. */
export function loadSdk(): Promise<Sdk> {
  loading ??= import('./sdk-parts.ts').then((sdk) => (loaded = sdk))
  return loading
}

/** The SDK when something has loaded it. While it is `undefined` no error of its classes can exist. */
export function loadedSdk(): Sdk | undefined {
  return loaded
}
