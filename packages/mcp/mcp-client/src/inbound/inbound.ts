/**
 * Owns who answers what a server asks of its client: the person behind the calling agent, its workspace, its model. What
 * nobody here could answer is not declared, and refused where it is asked all the same.
 */
import { SYSTEM_CLOCK } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { InboundRefusal } from '../errors.ts'
import type { Agent, Inbound, ServerSpec } from '../types.ts'
import { createDialogue } from './dialogue.ts'
import { elicit } from './elicitation.ts'
import type { InboundHost, Say } from './host.ts'
import { METHOD_NOT_FOUND } from './refusal.ts'
import { createRoots } from './roots.ts'
import { createSampling } from './sampling.ts'

export interface InboundOptions {
  readonly spec: ServerSpec
  readonly host: InboundHost
  readonly say: Say
  /** Default: the system's. */
  readonly clock?: Clock
}

/** Of one row, for all its connections. */
export interface RowInbound extends Inbound {
  /**
   * To be asked before a call that this agent makes: whether the server was told other roots than its workspace, and is
   * to hear `roots/list_changed` first.
   */
  rootsMoveTo(agent: Agent | undefined): boolean
}

/** `answer` rejects with InboundRefusal, whose `code` and message are the error for the server. */
export function createInbound({ spec, host, say, clock = SYSTEM_CLOCK }: InboundOptions): RowInbound {
  const asker = spec
  const dialogue = createDialogue({ asker, host, say, clock })
  const roots = createRoots(spec, host)
  const sample = createSampling({ asker, spec: spec.sampling, wallMs: spec.toolCallMaxMs, host, say, clock })
  const hasRoots = (): boolean => spec.roots !== 'off' && host.hasAgents()

  const canSample = (): boolean => {
    const { mode } = spec.sampling
    return mode !== 'off' && host.llm() !== undefined && (mode === 'allow' || host.approval() !== undefined)
  }

  return {
    capabilities: () => ({
      elicitation: spec.elicitation && host.questions() !== undefined ? { form: {}, url: {} } : undefined,
      roots: hasRoots() ? (spec.roots === 'workspace' ? { listChanged: true } : {}) : undefined,
      sampling: canSample() ? {} : undefined,
    }),
    async answer({ method, params }, asking) {
      switch (method) {
        case 'elicitation/create':
          if (!spec.elicitation) throw notOffered('Elicitation is')
          return elicit(params, asking, { asker, dialogue, say })
        case 'roots/list':
          if (!hasRoots()) throw notOffered('Roots are')
          return roots.list(asking.caller)
        case 'sampling/createMessage':
          return sample(params, asking)
      }
    },
    rootsMoveTo: roots.moveTo,
  }
}

function notOffered(what: string): InboundRefusal {
  return new InboundRefusal(METHOD_NOT_FOUND, `${what} not offered`)
}
