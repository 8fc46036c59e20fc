/** Owns what answers to a server's requests need of the host: services that are read late, since each comes and goes. */
import type { LlmRuntime } from '@deepseek-ai/dsh-llm'
import type { ApprovalService } from '@deepseek-ai/dsh-user-approval'
import type { UserQuestionService } from '@deepseek-ai/dsh-user-questions'

export interface InboundHost {
  questions(): Pick<UserQuestionService, 'ask'> | undefined
  approval(): Pick<ApprovalService, 'request'> | undefined
  llm(): Pick<LlmRuntime, 'stream'> | undefined
  /** Whether there are agents at all: only they have workspaces. */
  hasAgents(): boolean
  /** Working directory of the host. */
  cwd(): string
}

/** One line for the operator: redacted and clean. */
export type Say = (level: 'debug' | 'info' | 'warn', text: string) => void
