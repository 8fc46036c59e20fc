/**
 * Owns the life of search beside all rows of an app: the two tools, what keeps the others out of requests, and what
 * tells a model that calls one of them directly how it is done.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { ToolRuntime } from '@deepseek-ai/dsh-tools'
import { messageOf } from '../errors.ts'
import { hubOf } from '../hub.ts'
import type { ServerHandle } from '../types.ts'
import { allotmentOf } from './allotment.ts'
import { CALL_NAME, createCallTool } from './call-tool.ts'
import { createDirectory } from './directory.ts'
import type { Directory } from './directory.ts'
import { createFinder } from './finder.ts'
import { createLoans } from './loans.ts'
import { createPairs } from './pairs.ts'
import { keepOutOfRequests } from './request.ts'
import { admitInRestrictions } from './restriction.ts'
import { SEARCH_NAME, createSearchTool } from './search-tool.ts'
import { createVisibility } from './visibility.ts'
import type { Visibility } from './visibility.ts'

/** Plugin name in the loader's diagnostics. */
export const name = 'mcp-client-search'
export const inject = ['tools']

/** Mount search on the root of an app. */
export async function apply(ctx: Context): Promise<void> {
  // Held in a variable: each read of a service through ctx costs a proxy and a stack capture.
  const service: ToolRuntime = ctx.tools
  const tools = (): ToolRuntime => service
  const hub = hubOf(ctx.root)
  const allotment = allotmentOf(ctx.root)
  const directory = createDirectory(hub)
  const loans = createLoans(directory)
  const visibility = createVisibility(tools, loans)
  const finder = createFinder(directory, visibility)
  const pairs = createPairs({
    definitions: [
      createCallTool({ directory, loans, tools, nearest: finder.nearest }),
      createSearchTool(finder, directory.ready),
    ],
    servers: () => hub.servers(),
    isNeeded: ({ serverName }) => allotment.exposureOf(serverName) === 'search',
    failed: (server, error) => ctx.logger.error(failureOf(server, error)),
  })

  ctx.effect(
    () =>
      hub.watch((_server, change) => {
        if (change === 'state') return
        visibility.forget()
        pairs.update()
      }),
    'mcp-client.search.hub',
  )
  ctx.effect(() => pairs.end, 'mcp-client.search.tools')
  ctx.effect(() => admitInRestrictions(service, directory, loans), 'mcp-client.search.restrict')
  ctx.on('tools/change', () => {
    if (!loans.isChanging()) visibility.forget()
  })
  keepOutOfRequests({ ctx, tools, lent: loans.names, assembled: allotment.settle })
  teachDirectCalls(ctx, directory, visibility)
  pairs.update()
}

function failureOf({ serverName }: ServerHandle, error: unknown): string {
  return (
    `mcp-client(${serverName}): ${SEARCH_NAME} and ${CALL_NAME} cannot be registered, tools of search cannot be ` +
    `reached: ${messageOf(error)}`
  )
}

/** A model that calls a tool of search by its name is told by what name it is called. */
function teachDirectCalls(ctx: Context, directory: Directory, visibility: Visibility): void {
  ctx.on('tools/post-execute', async (exec, result, next) => {
    const decision = await next()
    if (decision.kind !== 'accept' || decision.content !== undefined || 'value' in decision) return decision
    if (!result.isError || result.error.info?.code !== 'UNKNOWN_TOOL') return decision
    const found = directory.find(exec.name)
    if (found?.tool.exposure !== 'search' || visibility.of([found], exec.agent).length === 0) return decision
    const text =
      `Error: "${exec.name}" is called through ${CALL_NAME}: pass {"name": "${exec.name}", "arguments": {…}}. ` +
      `${SEARCH_NAME} shows its input schema.`
    return { ...decision, content: [{ type: 'text' as const, text }] }
  })
}
