/**
 * Owns the rows of the life of a process: starting, dying, hanging.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { NO_ANSWER, text, tool } from '../behaviour.ts'
import { failed, hasNoTools, hasTools, succeeded, told, untilTold, untilTool } from './checks.ts'
import { named } from './named.ts'
import { SHORT_CALL, SHORT_START } from './row.ts'
import type { FaultRow } from './row.ts'

export const life: readonly FaultRow[] = [
  {
    id: 'no-such-command',
    title: 'the command does not exist',
    right: 'quick failure that names the command; no tools; no retry storm',
    transports: ['stdio'],
    eras: ['legacy'],
    command: 'no-such-program-at-all',
    async check(scene) {
      hasNoTools(scene)
      told(scene, /no-such-program-at-all/)
      assert.equal(scene.logs.filter((line) => line.includes('no-such-program-at-all')).length, 1)
    },
  },
  {
    id: 'exits-on-first-request',
    title: 'exits without answering initialize',
    right: 'fails fast; no tools',
    transports: ['stdio'],
    server: (run) => named('exits-on-first-request', { code: 5 }, run),
    config: { reconnect: { enabled: false } },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /exit code 5/)
    },
  },
  {
    id: 'exits-between-pages',
    title: 'exits between two pages of tools/list',
    right: 'never a half list',
    transports: ['stdio'],
    server: (run) => named('exits-between-pages', {}, run),
    config: { reconnect: { enabled: false } },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /exit code 1/)
    },
  },
  {
    id: 'silent',
    title: 'accepts the connection and never answers initialize',
    right: 'start-up gives up within its limit, kills the child, says so',
    server: (run) => named('silent', {}, run),
    config: { ...SHORT_START, reconnect: { enabled: false } },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /no answer within 1500 ms.*connecting/)
    },
  },
  {
    id: 'silent-list',
    title: 'opens and never answers tools/list',
    right: 'start-up gives up within its limit and says what it waited for',
    server: (run) => named('silent', { methods: ['tools/list'] }, run),
    config: { startup: { waitMs: 9_000, timeoutMs: 4_000 }, reconnect: { enabled: false } },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /no answer within 4000 ms.*listing the tools/)
    },
  },
  {
    id: 'never-answers-a-call',
    title: 'never answers one tools/call',
    right: 'timeout error in time, the server told, the connection stays usable',
    server: (run) => named('never-answers', {}, run),
    config: SHORT_CALL,
    async check(scene) {
      failed(await scene.call('hang'), /brought no answer and no progress for 2000 ms/)
      // A modern server over HTTP is told by the end of the response instead.
      if (scene.transport === 'stdio' || scene.era === 'legacy') {
        await scene.until(async () =>
          (await scene.received()).some(({ method }) => method === 'notifications/cancelled'),
        )
      } else {
        await scene.until(() => scene.http().openResponses.size <= 1)
      }
      succeeded(await scene.call('echo', { message: 'still here' }), /still here/)
    },
  },
  {
    id: 'caller-cancels',
    title: 'the caller cancels a hanging call',
    right: 'settles at once; the server is told',
    server: (run) => named('never-answers', {}, run),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      const controller = new AbortController()
      const call = scene.call('hang', {}, controller.signal)
      await scene.until(async () => (await scene.received()).some(({ method }) => method === 'tools/call'))
      const at = performance.now()
      controller.abort()
      failed(await call, /abort/i)
      assert.ok(performance.now() - at < 2_000, 'the call went on after it was cancelled')
      if (scene.transport === 'stdio' || scene.era === 'legacy') {
        await scene.until(async () =>
          (await scene.received()).some(({ method }) => method === 'notifications/cancelled'),
        )
      } else {
        await scene.until(() => scene.http().openResponses.size <= 1)
      }
    },
  },
  {
    id: 'stubborn',
    title: 'ignores the end of stdin, SIGTERM and SIGINT',
    right: 'dispose escalates to SIGKILL within its limit',
    transports: ['stdio'],
    server: (run) => named('stubborn', {}, run),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'alive' }), /alive/)
    },
  },
  {
    id: 'leaves-a-helper',
    title: 'leaves a helper that holds stdout, then crashes in mid-call',
    right:
      'exit is noticed although the pipe stays open; call fails before its timeout; helper does not survive',
    transports: ['stdio'],
    server: (run) => named('leaves-a-helper', {}, run),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      const outcome = await scene.call('crash')
      failed(outcome, /exit code 1/)
      assert.ok(outcome.ms < 10_000, `noticed after ${outcome.ms} ms`)
      const [helper] = await scene.notes('helper')
      assert.ok(typeof helper === 'number')
      scene.watch(helper)
    },
  },
  {
    id: 'slow',
    title: 'takes 1.8 s to answer initialize and 0.5 s a page',
    right: 'slow is not broken',
    server: (run) => ({
      ...named('slow', {}, run),
      async onMessage({ method }) {
        if (method === 'server/discover') await delay(1_000)
        return false
      },
    }),
    async check(scene) {
      hasTools(scene, ['a', 'b', 'c'])
    },
  },
  {
    id: 'deaf',
    title: 'stops reading stdin; the next call carries 4 MB of arguments',
    right: 'the call settles by its timeout although the write never drains; dispose works',
    transports: ['stdio'],
    server: (run) => named('deaf', {}, run),
    config: SHORT_CALL,
    async check(scene) {
      failed(await scene.call('echo', { message: 'x'.repeat(4 * 2 ** 20) }), /2000 ms/)
    },
  },
  {
    id: 'first-start-exits',
    title: 'the first start exits, the second is healthy',
    right: 'retries and becomes ready',
    transports: ['stdio'],
    server: (run) => named('first-start-exits', { failures: 2 }, run),
    async check(scene) {
      await untilTool(scene, 'echo')
      told(scene, /exit code 3/)
      succeeded(await scene.call('echo', { message: 'second' }), /second/)
    },
  },
  {
    id: 'gives-up',
    title: 'every start exits at once',
    right: 'a bounded number of attempts, then it is given up and said',
    transports: ['stdio'],
    eras: ['legacy'],
    server: (run) => named('exits-at-once', { code: 4, stderr: 'no license\n' }, run),
    config: { reconnect: { initialDelayMs: 20, maxDelayMs: 40, maxAttempts: 2 } },
    async check(scene) {
      await untilTold(scene, /giving up after 2 consecutive failed reconnect attempts.*no license/)
      hasNoTools(scene)
    },
  },
  {
    id: 'other-tools-after-crash',
    title: 'crashes; comes back with a different tool list',
    right: 'registry equals the new list exactly; the call fails at once',
    transports: ['stdio'],
    server: (run) => named('other-tools-after-crash', {}, run),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      const outcome = await scene.call('crash')
      failed(outcome, /exit code 7/)
      assert.ok(outcome.ms < 10_000, `noticed after ${outcome.ms} ms`)
      await untilTool(scene, 'new')
      hasTools(scene, ['both', 'new'])
      succeeded(await scene.call('new', { message: 'again' }), /again/)
    },
  },
  {
    id: 'killed-in-mid-call',
    title: 'is killed by SIGKILL in the middle of a call',
    right: 'a clear error at once, working tools after the back-off',
    transports: ['stdio'],
    server: () => ({
      tools: [tool('die'), tool('echo')],
      calls: {
        die() {
          process.kill(process.pid, 'SIGKILL')
          return NO_ANSWER
        },
      },
    }),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      const outcome = await scene.call('die')
      failed(outcome, /SIGKILL/)
      assert.ok(outcome.ms < 10_000, `noticed after ${outcome.ms} ms`)
      await untilTold(scene, /reconnected and re-synced tools/)
      succeeded(await scene.call('echo', { message: 'again' }), /again/)
    },
  },
  {
    id: 'closes-stdout',
    title: 'closes stdout in mid-call and lives on',
    right: 'the call fails before its timeout, the server is started again',
    transports: ['stdio'],
    server: () => ({
      tools: [tool('mute'), tool('echo')],
      calls: {
        mute() {
          process.stdout.end()
          return NO_ANSWER
        },
      },
    }),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      const outcome = await scene.call('mute')
      failed(outcome, /./)
      assert.ok(outcome.ms < 10_000, `noticed after ${outcome.ms} ms`)
      await untilTold(scene, /reconnected and re-synced tools/)
      succeeded(await scene.call('echo', { message: 'again' }), /again/)
    },
  },
  {
    id: 'exits-between-calls',
    title: 'exits while nothing is asked of it',
    right: 'noticed by itself; tools work again after the back-off, the last good ones stay meanwhile',
    transports: ['stdio'],
    server: ({ starts }) => ({
      tools: [tool('leave'), tool('echo')],
      calls: {
        leave(_args, peer) {
          if (starts === 1) setTimeout(() => peer.exit(6), 100)
          return text('bye')
        },
      },
    }),
    async check(scene) {
      succeeded(await scene.call('leave'), /bye/)
      await untilTold(scene, /connection lost; reconnecting.*exit code 6/)
      hasTools(scene, ['leave', 'echo'])
      await untilTold(scene, /reconnected and re-synced tools/)
      succeeded(await scene.call('echo', { message: 'again' }), /again/)
    },
  },
  {
    id: 'disposed-while-connecting',
    title: 'never answers; the row is disposed while it connects',
    right: 'disposal settles within its limit, twice',
    server: (run) => named('silent', {}, run),
    config: { startup: { waitMs: 100, timeoutMs: 30_000 } },
    async check(scene) {
      told(scene, /goes on connecting/)
      await Promise.all([scene.dispose(), scene.dispose()])
    },
  },
  {
    id: 'disposed-in-backoff',
    title: 'dies at each start; the row is disposed during the back-off',
    right: 'no further start, no timer',
    transports: ['stdio'],
    server: (run) => named('exits-at-once', {}, run),
    config: { reconnect: { initialDelayMs: 20_000, maxDelayMs: 20_000 } },
    async check(scene) {
      told(scene, /retrying in 20000ms/)
      const starts = await scene.starts()
      await scene.dispose()
      assert.equal(await scene.starts(), starts)
    },
  },
  {
    id: 'call-after-dispose',
    title: 'a call after the row is gone',
    right: 'fails clearly; a call in flight settles at once',
    server: (run) => named('never-answers', {}, run),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      const call = scene.call('hang')
      await scene.until(async () => (await scene.received()).some(({ method }) => method === 'tools/call'))
      await scene.dispose()
      const outcome = await call
      failed(outcome, /./)
      assert.ok(outcome.ms < 10_000, `settled after ${outcome.ms} ms`)
      failed(await scene.call('echo'), /mcp__fault__echo|unknown/i)
    },
  },
]
