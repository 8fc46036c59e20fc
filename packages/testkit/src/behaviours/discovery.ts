/**
 * Owns faults of tools/list and of its change notifications.
 */
import { listPage } from '../answer.ts'
import { numberOption, RpcError, text, tool } from '../behaviour.ts'
import type { Behaviour, BehaviourFactory } from '../behaviour.ts'

export const discovery = {
  /** Two different tools of the same name. */
  'duplicate-names': () => ({
    tools: [
      tool('twin', { description: 'the first' }),
      tool('twin', { description: 'the second' }),
      tool('single'),
    ],
  }),

  /** A fresh cursor and new tools on each page, for ever. Option: perPage (50). */
  'endless-pages': (options) => ({
    listTools({ cursor }) {
      const page = Number(cursor ?? 0)
      const perPage = numberOption(options, 'perPage', 50)
      const tools = Array.from({ length: perPage }, (_, index) => tool(`t${page * perPage + index}`))
      return { tools, nextCursor: String(page + 1) }
    },
  }),

  /** The same cursor on each page, with other tools each time. */
  'repeated-cursor'() {
    let page = 0
    return {
      listTools() {
        page += 1
        return { tools: [tool(`t${page}`)], nextCursor: 'again' }
      },
    }
  },

  /** nextCursor is a number. */
  'number-cursor': () => ({ listTools: () => ({ tools: [tool('a')], nextCursor: 1 }) }),

  /**
   * `storm` changes the list and says so `count` (3000) times; the last list has the one tool `final` besides `storm`.
   */
  'list-storm'(options) {
    let tools = [tool('storm'), tool('start')]
    const count = numberOption(options, 'count', 3000)
    return {
      ...(options['era'] === 'modern' ? { era: 'modern' } : {}),
      tools: () => tools,
      calls: {
        storm(_args, peer) {
          for (let index = 1; index <= count; index++) {
            tools = [tool('storm'), tool(index === count ? 'final' : `step${index}`)]
            peer.listChanged()
          }
          return text(`said ${count} times`)
        },
      },
    }
  },

  /** `set` with `{ names }` puts the list at these tools (and `set`) and says so; `silently: true` says nothing. */
  'settable-list'(options) {
    let tools = [tool('set'), tool('start')]
    const behaviour: Behaviour = {
      ...(options['era'] === 'modern' ? { era: 'modern' } : {}),
      tools: () => tools,
      calls: {
        set({ names, silently }, peer) {
          tools = ['set', ...(Array.isArray(names) ? names.map(String) : [])].map((name) => tool(name))
          if (silently !== true) peer.listChanged()
          return text('set')
        },
      },
    }
    return behaviour
  },

  /** The tool `gone` is listed and refused with -32602, without any notification. */
  'vanishing-tool': () => ({
    tools: [tool('gone'), tool('here')],
    calls: {
      gone() {
        throw new RpcError(-32602, 'Unknown tool: gone')
      },
    },
  }),

  /** `break` says list_changed; from then on tools/list is refused. */
  'list-fails-later'() {
    let broken = false
    const tools = [tool('break'), tool('echo')]
    return {
      tools,
      listTools(params) {
        if (broken) throw new RpcError(-32603, 'The list is out of order')
        return listPage({ tools }, params)
      },
      calls: {
        break(_args, peer) {
          broken = true
          peer.listChanged()
          return text('broken')
        },
      },
    }
  },

  /** Names that no model API takes. */
  'odd-names': () => ({
    tools: [
      '',
      'x'.repeat(300),
      'with space',
      '../../etc/passwd',
      '__proto__',
      'line\nbreak',
      '\u001b[31mred',
      'mcp__other__tool',
      'größe',
      '工具',
      'a.b',
      'a/b',
      'good',
    ].map((name) => tool(name)),
  }),
} satisfies Record<string, BehaviourFactory>
