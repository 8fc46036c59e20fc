/**
 * Owns the public names of the testkit: scripted MCP servers, the real host, the scripted model, the leftovers check.
 */
export { NO_ANSWER, numberOption, RpcError, text, tool } from './behaviour.ts'
export type {
  Behaviour,
  BehaviourFactory,
  Handler,
  Message,
  Options,
  Params,
  Peer,
  Request,
  Run,
  Tool,
} from './behaviour.ts'
export { discoverResult, ECHO, initializeResult, listPage } from './answer.ts'
export { behaviours } from './behaviours/index.ts'
export type { BehaviourName } from './behaviours/index.ts'
export { CONTENT_TOOLS, PNG } from './behaviours/content.ts'
export { DELICATE_TEXT } from './behaviours/framing.ts'
export { received, waitFor } from './journal.ts'
export type { JournalEntry } from './journal.ts'
export { temporaryFolder } from './folder.ts'
export { stdioServer } from './stdio-server.ts'
export type { StdioServer, StdioServerOptions } from './stdio-server.ts'
export { startHttpServer } from './servers/http.ts'
export type { HttpServer, HttpServerOptions, HttpSession } from './servers/http.ts'
export type { HttpRequest, Intercept } from './servers/listener.ts'
export { startAuthorizationServer } from './servers/authorization.ts'
export type { AuthorizationServer, AuthorizationSwitches } from './servers/authorization.ts'
export type { GuardOptions } from './servers/authorization-guard.ts'
export { startSseServer } from './servers/sse.ts'
export type { SseServer, SseServerOptions } from './servers/sse.ts'
export { bootHost } from './host/host.ts'
export type { CallOptions, Host, HostOptions, LogRecord } from './host/host.ts'
export { nativeTool } from './host/plugins.ts'
export type { LocalPlugin } from './host/plugins.ts'
export { httpRow, MCP_CLIENT, stdioRow } from './host/rows.ts'
export type { Extra, Mode, Row } from './host/rows.ts'
export { createAgent, runTurn } from './host/turn.ts'
export type { Turn, TurnOptions } from './host/turn.ts'
export type { ModelCall, Script, ScriptStep, Step } from './scripted-model.ts'
export { expectNoLeftovers, leftovers } from './leftovers.ts'
export { isAlive } from './processes.ts'
export type { Leftovers, LeftoversOptions } from './leftovers.ts'
export { FAULT_CHILD, faults } from './faults/index.ts'
export type { FaultGroup, FaultRow, FaultTransport, Outcome, Scene } from './faults/index.ts'
