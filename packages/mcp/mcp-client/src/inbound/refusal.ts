/** Owns the codes of what a server gets in place of an answer to a request of its own. */
import { InboundRefusal } from '../errors.ts'

/** Codes of JSON-RPC and of the protocol. */
export const REFUSED = -1
export const INVALID_PARAMS = -32602
export const METHOD_NOT_FOUND = -32601
export const INTERNAL_ERROR = -32603

/** The server asked for something that the protocol does not know in this place. */
export function invalid(message: string): InboundRefusal {
  return new InboundRefusal(INVALID_PARAMS, message)
}
