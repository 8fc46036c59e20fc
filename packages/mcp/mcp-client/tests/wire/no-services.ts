/** Owns the host of a bridge test that has none of the optional services. */
import type { BridgeHost } from '../../src/bridge.ts'

export const NO_SERVICES: BridgeHost['services'] = {
  attachments: () => undefined,
  llm: () => undefined,
  spillStore: () => undefined,
  log: () => undefined,
}
