/**
 * Owns faults in the life of the process: starting, dying, hanging. All of them stdio.
 */
import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { initializeResult, listPage } from '../answer.ts'
import { NO_ANSWER, numberOption, text, tool } from '../behaviour.ts'
import type { Behaviour, BehaviourFactory, Options, Tool } from '../behaviour.ts'

function toolsNamed(names: unknown, fallback: readonly string[]): readonly Tool[] {
  return (Array.isArray(names) ? names.map(String) : fallback).map((name) => tool(name))
}

/** Era of a behaviour that has one by option. */
function era(options: Options): Pick<Behaviour, 'era'> {
  const value = options['era']
  return value === 'modern' || value === 'dual' ? { era: value } : {}
}

export const life = {
  /** Nothing wrong. Options: era, tools (names), pageSize. */
  healthy: (options) => ({
    ...era(options),
    ...(options['tools'] === undefined ? {} : { tools: toolsNamed(options['tools'], []) }),
    ...(typeof options['pageSize'] === 'number' ? { pageSize: options['pageSize'] } : {}),
  }),

  /** Never answers a request; option `methods` silences only these, for instance `['server/discover']`. */
  silent: (options) => ({
    onMessage({ method }) {
      const methods = options['methods']
      return !Array.isArray(methods) || methods.includes(method)
    },
  }),

  /** Exits before it reads anything. Options: code (1), stderr. */
  'exits-at-once': (options) => ({
    onStart(peer) {
      if (typeof options['stderr'] === 'string') peer.stderr(options['stderr'])
      peer.exit(numberOption(options, 'code', 1))
    },
  }),

  /** Reads initialize (or discover) and exits instead of answering. */
  'exits-on-first-request': (options) => ({
    onMessage(_message, peer) {
      peer.exit(numberOption(options, 'code', 1))
      return true
    },
  }),

  /** Answers the first page of tools/list and exits when asked for the second. */
  'exits-between-pages': () => ({
    tools: ['a', 'b', 'c', 'd'].map((name) => tool(name)),
    pageSize: 2,
    onMessage({ method, params }, peer) {
      if (method !== 'tools/list' || params?.['cursor'] === undefined) return false
      peer.exit()
      return true
    },
  }),

  /** Lives on after the end of stdin, SIGTERM and SIGINT. */
  stubborn: () => ({ ignoreEof: true, ignoreSignals: true }),

  /** `crash` starts a helper that holds stdout and stderr, notes its pid as `helper`, and exits in mid-call. */
  'leaves-a-helper': (options) => ({
    tools: [tool('crash'), tool('echo')],
    calls: {
      crash(_args, peer) {
        const helper = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], {
          stdio: ['ignore', 'inherit', 'inherit'],
          detached: options['detached'] === true,
        })
        helper.unref()
        peer.note('helper', helper.pid)
        peer.exit()
        return NO_ANSWER
      },
    },
  }),

  /** Slow, not broken. Options: initializeMs (1800), pageMs (500), callMs (0). */
  slow(options) {
    const behaviour: Behaviour = {
      ...era(options),
      tools: ['a', 'b', 'c'].map((name) => tool(name)),
      pageSize: 1,
    }
    return {
      ...behaviour,
      async initialize(params) {
        await delay(numberOption(options, 'initializeMs', 1800))
        return initializeResult(behaviour, params)
      },
      async listTools(params) {
        await delay(numberOption(options, 'pageMs', 500))
        return listPage(behaviour, params)
      },
      async callTool() {
        await delay(numberOption(options, 'callMs', 0))
        return text('done')
      },
    }
  },

  /** Stops reading stdin when its tools have been listed. */
  deaf: () => ({
    ignoreEof: true,
    listTools(params) {
      setImmediate(() => process.stdin.pause())
      return listPage({}, params)
    },
  }),

  /** The first start exits (option `failures`: how many do); later ones are healthy. */
  'first-start-exits': (options, { starts }) =>
    starts > numberOption(options, 'failures', 1) ? {} : { onStart: (peer) => peer.exit(3) },

  /** `crash` exits in mid-call; the next start has other tools. Options: first, next (names). */
  'other-tools-after-crash': (options, { starts }) => ({
    tools:
      starts === 1
        ? toolsNamed(options['first'], ['crash', 'old', 'both'])
        : toolsNamed(options['next'], ['both', 'new']),
    calls: {
      crash(_args, peer) {
        peer.exit(7)
        return NO_ANSWER
      },
    },
  }),
} satisfies Record<string, BehaviourFactory>
