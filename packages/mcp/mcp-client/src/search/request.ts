/**
 * Owns keeping tools of search out of requests: one that is registered for the time of a call, or of a question to the
 * registry, is in no request that is put together meanwhile, neither as a definition nor in the SDK of Code Mode.
 */
import type { Context } from '@deepseek-ai/cordis'
import { RUN_CODE_NAME, renderToolsSdk, renderToolsSdkPy } from '@deepseek-ai/dsh-tools'
import type { ToolDefinition, ToolRuntime } from '@deepseek-ai/dsh-tools'

/** Name of the host's section with the SDK. */
const SDK_SECTION = 'tools:sdk'

export interface RequestOptions {
  readonly ctx: Context
  readonly tools: () => Pick<ToolRuntime, 'get' | 'schemas'>
  /** Names that are registered for a moment. */
  readonly lent: () => ReadonlySet<string>
  /** A request was put together. */
  readonly assembled: () => void
}

/** Begin; it ends with the context. */
export function keepOutOfRequests({ ctx, tools, lent, assembled }: RequestOptions): void {
  // First in the chain, it runs in the turn in which the host read its registry: what is lent now is what was read.
  ctx.on(
    'system-prompt/assemble',
    (assembly, { scope }, next) => {
      assembled()
      const names = lent()
      if (names.size > 0) {
        assembly.tools = assembly.tools.filter(({ name }) => !names.has(name))
        const sdk = assembly.sections.find(({ name, text }) => name === SDK_SECTION && text !== '')
        if (sdk !== undefined) sdk.text = sdkWithout(names, { ctx, tools: tools(), scope })
      }
      return next()
    },
    { prepend: true },
  )
}

/** The SDK as the host renders it, of the other tools. */
function sdkWithout(
  names: ReadonlySet<string>,
  {
    ctx,
    tools,
    scope,
  }: {
    readonly ctx: Context
    readonly tools: ReturnType<RequestOptions['tools']>
    readonly scope: object | undefined
  },
): string {
  const schemas = tools
    .schemas(scope)
    .filter(({ name }) => name !== RUN_CODE_NAME && !names.has(name))
    .map((schema) => ({ ...schema, output: (tools.get(schema.name, scope) as ToolDefinition).output.schema }))
  const runtime = ctx.get('codeRuntime') as { readonly language?: string } | undefined
  return runtime?.language === 'python' ? renderToolsSdkPy(schemas) : renderToolsSdk(schemas)
}
