/**
 * Owns the assertions that many rows share.
 */
import assert from 'node:assert/strict'
import type { Outcome, Scene } from './row.ts'

/** The call failed, and its text says why. */
export function failed({ isError, text }: Outcome, why: RegExp): void {
  assert.ok(isError, `the call did not fail: ${text.slice(0, 300)}`)
  assert.match(text, why)
}

export function succeeded({ isError, text }: Outcome, what: RegExp): void {
  assert.ok(!isError, `the call failed: ${text.slice(0, 300)}`)
  assert.match(text, what)
}

/** Some line of the operator says so. */
export function told(scene: Scene, what: RegExp): void {
  assert.ok(
    scene.logs.some((line) => what.test(line)),
    `no line matches ${String(what)}:\n${scene.logs.join('\n').slice(0, 2000)}`,
  )
}

/** Raw names that are registered exactly, for names that need no rewriting. */
export function hasTools(scene: Scene, rawNames: readonly string[]): void {
  assert.deepEqual(scene.tools().toSorted(), rawNames.map((name) => `mcp__fault__${name}`).toSorted())
}

export function hasNoTools(scene: Scene): void {
  assert.deepEqual(scene.tools(), [])
}

/** Wait for a line of the operator. */
export function untilTold(scene: Scene, what: RegExp): Promise<void> {
  return scene.until(() => scene.logs.some((line) => what.test(line)))
}

/** Wait until a public tool of this raw name is there. */
export function untilTool(scene: Scene, rawName: string): Promise<void> {
  return scene.until(() => scene.tools().includes(`mcp__fault__${rawName}`))
}
