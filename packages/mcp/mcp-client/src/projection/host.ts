/**
 * Owns what a result needs of the host: the services, read late since each comes and goes with its own plugin, and the
 * limit on waiting for any of them.
 */
import type { AttachmentStore } from '@deepseek-ai/dsh-attachment'
import type { LlmRuntime } from '@deepseek-ai/dsh-llm'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'

type Agent = NonNullable<ToolExecution['agent']>

/** The part of `ctx.spillStore` that is used; the package of that service is no peer of this one. */
export interface SpillStore {
  saveText(input: {
    readonly owner: { readonly sessionId: Agent['session']['header']['id'] }
    readonly source: {
      readonly toolName: string
      readonly callId: ToolExecution['callId']
      readonly label: string
    }
    readonly suggestedName: string
    readonly content: string
  }): Promise<{ readonly locator: string; readonly bytes: number; readonly retrievalHint: string }>
}

export interface HostServices {
  attachments(): AttachmentStore | undefined
  llm(): Pick<LlmRuntime, 'resolveModelInfo'> | undefined
  spillStore(): SpillStore | undefined
  /** One line for the operator. Clean and redacted by the caller. */
  log(level: 'debug' | 'info' | 'warn', text: string): void
}

/** What the projection must know of the call whose result it shows. */
export type Execution = Readonly<Pick<ToolExecution, 'agent' | 'callId' | 'name' | 'signal'>>

/** The promise of a host service, or a rejection after `limitMs`. The promise is not cancelled; its late outcome is ignored. */
export async function withLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
