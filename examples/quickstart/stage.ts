/** Owns what the steps share: what a step is, how it calls a tool, and how it waits. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '@deepseek-ai/cordis'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import type { Host } from './host.ts'
import type { Row } from './report.ts'

/** What a step works with. */
export interface Stage {
  readonly host: Host
  /** Show a labelled line under the step. */
  show(...row: Row): void
}

/** One thing shown to a person. It throws when what it promises does not hold. */
export interface Step {
  readonly title: string
  run(stage: Stage): Promise<void>
}

const CALL_LIMIT_MS = 15_000
const POLL_MS = 50
let calls = 0

/** Call a tool by the name the model knows, through the host's own pipeline. A failed call resolves, too. */
export function callTool(ctx: Context, name: string, args: object): Promise<ToolExecutionResult> {
  calls += 1
  const signal = AbortSignal.timeout(CALL_LIMIT_MS)
  return ctx.tools.execute({ signal, callId: CallId(`tour-${calls}`), name, arguments: args })
}

/** The text that the model reads in a result. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

/** Name of the one tool that starts with `prefix`. */
export function toolStartingWith(ctx: Context, prefix: string): string {
  const found = ctx.tools.schemas().find((tool) => tool.name.startsWith(prefix))
  assert(found, `no tool is called ${prefix}…: is its row still in cordis.yml?`)
  return found.name
}

/** Ask again and again until `ask` brings a value, at most for `limitMs`. */
export async function until<T>(
  what: string,
  limitMs: number,
  ask: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const end = performance.now() + limitMs
  while (performance.now() < end) {
    const value = await ask()
    if (value !== undefined) return value
    await delay(POLL_MS)
  }
  throw new Error(`${what} did not come within ${limitMs} ms`)
}
