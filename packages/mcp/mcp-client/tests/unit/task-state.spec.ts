/** Owns the tests of reading a task's state. */
import { describe, expect, it } from 'vitest'
import {
  MAX_POLL_MS,
  MIN_POLL_MS,
  createdTask,
  isTerminal,
  readTask,
} from '../../src/execution/task-state.ts'

describe('a task', () => {
  const state = { taskId: 'one', status: 'working' }

  it('begins with a result that says so, in either way of the protocol', () => {
    expect(createdTask({ task: state })).toMatchObject({ id: 'one', status: 'working', pollMs: 1_000 })
    expect(createdTask({ resultType: 'task', ...state })).toMatchObject({ id: 'one' })
    expect(createdTask({ resultType: 'task', task: state })).toMatchObject({ id: 'one' })
  })

  it.each([
    [{ content: [] }],
    [{ content: [], task: state }],
    [{ task: 'odd' }],
    [{ task: { ...state, taskId: 7 } }],
    [{ task: { ...state, taskId: '' } }],
    [{ task: { ...state, taskId: 'x'.repeat(2_000) } }],
    [{ task: { ...state, status: 'thinking' } }],
    [{ resultType: 'task' }],
  ])('does not begin with %j', (result) => expect(createdTask(result as never)).toBeUndefined())

  it('is looked at neither too often nor too seldom', () => {
    const pollMs = (more: object) => readTask({ ...state, ...more })?.pollMs
    expect(pollMs({ pollInterval: 0 })).toBe(MIN_POLL_MS)
    expect(pollMs({ pollIntervalMs: 1e9 })).toBe(MAX_POLL_MS)
    expect(pollMs({ pollInterval: 'often' })).toBe(1_000)
    const known = readTask({ ...state, pollInterval: 2_000 })
    expect(readTask({ status: 'working' }, known)).toMatchObject({ id: 'one', pollMs: 2_000 })
  })

  it('is not told of by the state of another', () => {
    const known = readTask(state)
    expect(readTask(state, known)).toMatchObject({ id: 'one' })
    expect(readTask({ ...state, taskId: 'two' }, known)).toBeUndefined()
    expect(readTask({ task: { ...state, taskId: 'two' } }, known)).toBeUndefined()
  })

  it('is over in three states', () => {
    const over = ['working', 'input_required', 'completed', 'failed', 'cancelled'].filter((status) =>
      isTerminal(readTask({ ...state, status }) as never),
    )
    expect(over).toEqual(['completed', 'failed', 'cancelled'])
  })
})
