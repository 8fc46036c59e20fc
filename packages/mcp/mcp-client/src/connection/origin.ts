/** Owns what a transport tells with a message of the server: the request of ours on whose reply it came. No state. */
import type { MessageExtraInfo, RequestId } from '@modelcontextprotocol/client'

interface Origin extends MessageExtraInfo {
  readonly origin?: RequestId
}

/** For a message that came on the reply to this request. */
export function withOrigin(origin: RequestId): MessageExtraInfo {
  const extra: Origin = { origin }
  return extra
}

/** Undefined where the wire does not tell. */
export function originIn(extra: MessageExtraInfo | undefined): RequestId | undefined {
  return (extra as Origin | undefined)?.origin
}
