/**
 * Owns the words of the configuration: each key said once, with its type, default, meaning and secrecy. The shared
 * base plus one arm per transport. The reader, the README table and the host's settings pages are made from it.
 * A key is added here only together with the behaviour behind it.
 */
import z from '@deepseek-ai/schemastery'

/** A Node timer above this fires after 1 ms. */
export const MAX_TIMER_MS = 2_147_483_647
/** Longest string Node can hold; a message cap above it could never be reached. */
const MAX_MESSAGE_BYTES = 536_870_888
const DEFAULT_CALL_MAX_MS = 1_800_000

/** What a server name may be. */
export const SERVER_NAME = /^[A-Za-z0-9_-]{1,32}$/

/** Protocol revisions that a row may pin. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

const positiveMs = () => z.number().min(Number.MIN_VALUE).max(MAX_TIMER_MS)
const positiveCount = () => z.number().min(1).step(1)

const startup = z
  .object({
    waitMs: z
      .number()
      .min(0)
      .max(MAX_TIMER_MS)
      .default(10_000)
      .description(
        'How long activation waits for the first tool list. The server goes on connecting afterwards.',
      ),
    timeoutMs: positiveMs()
      .default(30_000)
      .description('Limit of one attempt to connect and list the tools.'),
    mode: z
      .union(['eager', 'lazy'])
      .default('eager')
      .description('`lazy` serves the last known tools at once and starts the server at its first use.'),
  })
  .description('How the server starts.')

const reconnect = z
  .object({
    enabled: z.boolean().default(true).description('Reconnect by itself after a lost connection.'),
    initialDelayMs: positiveMs()
      .default(500)
      .description('First delay; it doubles with each failed attempt.'),
    maxDelayMs: positiveMs()
      .default(30_000)
      .description('Longest delay, and the uptime after which an outage counts as over.'),
    maxAttempts: positiveCount()
      .default(10)
      .description('Failed attempts of one outage before the server is given up and its tools go.'),
  })
  .description('Automatic reconnection.')

/** Which calls ask, by what trusted hints say; without trust every call may write and destroy. */
const APPROVALS = ['never', 'destructive', 'write', 'always'] as const

const approvalRules = z.array(
  z.object({
    match: z.string().required().description('Glob over the names that the server gives its tools.'),
    decision: z
      .union(['allow', 'ask', 'deny'])
      .required()
      .description('The first rule that matches decides.'),
  }),
)

const tools = z
  .object({
    duplicates: z
      .union(['reject', 'keep-first'])
      .default('reject')
      .description(
        'A list that names a tool twice: `reject` keeps the last good list, `keep-first` drops the later ones.',
      ),
    allow: z
      .array(z.string())
      .default(['*'])
      .description('Globs over the names that the server gives its tools: only these are taken.'),
    deny: z
      .array(z.string())
      .description('Globs over the same names: these are not taken, whatever `allow` says.'),
    exposure: z
      .union(['auto', 'direct', 'search'])
      .default('auto')
      .description(
        '`direct` puts every tool into the request, `search` reaches them by `mcp_search` and `mcp_call`, `auto` is ' +
          'direct while all MCP definitions together fit budgetBytes.',
      ),
    budgetBytes: positiveCount()
      .default(131_072)
      .description('Definitions of all MCP servers together up to which `auto` is direct.'),
    alwaysDirect: z
      .array(z.string())
      .description('Globs over the names: these stay in the request in any exposure.'),
    approval: z
      .union([...APPROVALS, approvalRules])
      .default('never')
      .description(
        'Which calls ask a person first: `never`, `destructive`, `write` or `always`, or a list of `{match, decision}`.',
      ),
  })
  .description('Which tools are taken.')

const limits = z
  .object({
    resultTextBytes: positiveCount().default(102_400).description('Text of one result that the model sees.'),
    messageBytes: positiveCount()
      .max(MAX_MESSAGE_BYTES)
      .default(67_108_864)
      .description('One message from the server.'),
    tools: positiveCount().default(10_000).description('Tools of one server.'),
    pages: positiveCount().default(1000).description('Pages of one tool list.'),
    stderrBytes: positiveCount()
      .default(8192)
      .description('Last bytes of standard error kept for errors and status.'),
    concurrency: positiveCount().default(16).description('Calls in flight at one server.'),
  })
  .description('Caps on what a server may cost. Bytes are UTF-8 bytes.')

const sampling = z
  .object({
    mode: z
      .union(['off', 'ask', 'allow'])
      .default('off')
      .description('Whether the server may have the model answer: `ask` puts each request before a person.'),
    maxTokens: positiveCount()
      .default(4096)
      .description('Tokens of one answer, whatever the server asks for.'),
    maxRequests: positiveCount().default(10).description('Answers during one call of a tool.'),
    model: z
      .string()
      .default('')
      .description("Model of the calling agent's provider. Empty means the model of the agent."),
  })
  .description('Model calls on behalf of the server.')

export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const

const base = {
  serverName: z
    .string()
    .required()
    .pattern(SERVER_NAME)
    .comment(`1 to 32 letters, digits, _ or - (${SERVER_NAME.source})`)
    .description('Local name of the server, unique among live rows. Tools are called `mcp__NAME__TOOL`.'),
  expandVars: z
    .boolean()
    .default(false)
    .description(
      'Fill `${NAME}` and `${NAME:-default}` from the environment of the host, in values only. `$${` writes `${`.',
    ),
  protocol: z
    .union(['auto', 'legacy', ...REVISIONS])
    .default('auto')
    .description('`auto` asks the server, `legacy` never probes, a revision is pinned.'),
  toolCallTimeoutMs: positiveMs()
    .default(60_000)
    .description('Silence allowed in one call. Progress resets it.'),
  toolCallMaxMs: positiveMs()
    .extra('extra', { fallback: `${DEFAULT_CALL_MAX_MS}, or toolCallTimeoutMs where that is more` })
    .description('Limit of one call, progress or not.'),
  failOnStartupError: z
    .boolean()
    .default(false)
    .description('Refuse the row when the first connection fails within startup.waitMs.'),
  trustAnnotations: z
    .boolean()
    .default(false)
    .description(
      'Believe the hints of the tools: read-only ones run side by side, and those or idempotent ones are sent once ' +
        'more after a lost connection.',
    ),
  pin: z
    .union(['warn', 'hold', 'off'])
    .default('warn')
    .description(
      'A known tool whose definition changed since it was last seen: `warn` reports the difference, `hold` keeps the ' +
        'tool back until it is approved.',
    ),
  resources: z
    .boolean()
    .default(true)
    .description('Offer `list_resources` and `read_resource` where the server has resources.'),
  prompts: z
    .boolean()
    .default(true)
    .description('Offer the prompts of the server as slash commands `/mcp__NAME__PROMPT`.'),
  instructions: z
    .boolean()
    .default(true)
    .description("Put the server's instructions into the system prompt, marked as its words and capped."),
  elicitation: z
    .boolean()
    .default(true)
    .description('Let the server ask the person for input during a call, where the host can ask.'),
  roots: z
    .union(['auto', 'workspace', 'off'])
    .default('auto')
    .description(
      'What a server that asks for roots gets: `auto` the workspace of the agent whose call is in flight and nothing ' +
        'otherwise, `workspace` one at any time, `off` no roots at all.',
    ),
  logLevel: z
    .union([...LOG_LEVELS, 'off'])
    .default('warning')
    .description("Least severe of the server's log messages that reaches the log of the host."),
  sampling,
  startup,
  reconnect,
  tools,
  limits,
}

/** Limit of one call where the row has none: a longer allowed silence lengthens it. */
export function callMaxMs(written: number | undefined, toolCallTimeoutMs: number): number {
  return written ?? Math.max(DEFAULT_CALL_MAX_MS, toolCallTimeoutMs)
}

/** A server that is a child process. */
export const stdioShape = z.object({
  transport: z.const('stdio').description('May be left out where there is a command.'),
  command: z.string().required().description('Program to start, without a shell.'),
  args: z.array(z.string()).description('Arguments of the program.'),
  env: z
    .dict(z.string().role('secret'))
    .description('Variables for the program, over the host environment without its credentials.'),
  cwd: z.string().default('').description('Working directory. Empty means that of the host.'),
  inheritEnv: z
    .array(z.string())
    .description('Names of host variables that the program gets although they look like credentials.'),
  ...base,
})

const secret = () => z.string().role('secret')

const auth = z
  .object({
    mode: z
      .union(['auto', 'off', 'client-credentials', 'jwt-bearer'])
      .default('auto')
      .description(
        '`auto` is OAuth where the server asks for it and the row brings no Authorization header, `client-credentials` ' +
          'and `jwt-bearer` need no person.',
      ),
    clientId: z.string().default('').description('Client that is registered at the authorization server.'),
    clientSecret: secret().default('').description('Its secret.'),
    clientMetadataUrl: z
      .string()
      .default('')
      .description('HTTPS URL of a client metadata document, where the authorization server takes one.'),
    privateKey: secret()
      .default('')
      .description('PEM of the key that signs for the client, in place of a secret.'),
    algorithm: z.string().default('ES256').description('Algorithm of that key.'),
    assertionCommand: z
      .array(z.string())
      .description(
        'For `jwt-bearer`: program and arguments that print a JWT, or an ID token for the idp below.',
      ),
    idp: z.object({
      tokenEndpoint: z.string().default('').description('Where the ID token is exchanged for a grant.'),
      clientId: z.string().default('').description('Client that is registered there.'),
      clientSecret: secret().default('').description('Its secret.'),
    }),
    scopes: z.array(z.string()).description('Scopes to ask for. Left out: those that the server names.'),
    issuer: z.string().default('').description('The only issuer that is accepted.'),
    callbackPort: z
      .number()
      .min(0)
      .max(65_535)
      .step(1)
      .default(0)
      .description('Port on 127.0.0.1 that a login comes back to. 0 is any that is free.'),
  })
  .description('Authorization by OAuth 2.1.')

/** A server at a URL. */
export const httpShape = z.object({
  transport: z
    .union(['streamable-http', 'sse'])
    .description('Left out: Streamable HTTP, and SSE where the server speaks only that.'),
  url: z.string().required().description('Absolute http or https URL without user info.'),
  headers: z.dict(z.string().role('secret')).description('Headers of every request, such as Authorization.'),
  headersCommand: z
    .array(z.string())
    .description(
      'Program and arguments that print further headers, as JSON or as lines `Name: value`. Run again when they are refused.',
    ),
  auth,
  ...base,
})

export const ARMS = { stdio: stdioShape, http: httpShape } as const
export type ArmName = keyof typeof ARMS

/** Transport values of each arm. */
export const TRANSPORTS = { stdio: ['stdio'], http: ['streamable-http', 'sse'] } as const

export type StdioRow = ReturnType<typeof stdioShape>
export type HttpRow = ReturnType<typeof httpShape>

/** The bare schema. It lets unknown keys through and its messages print values: `Config` guards it. */
export const shape = z.union([stdioShape, httpShape])
