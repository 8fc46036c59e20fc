/** Owns the test of two host processes over one store of credentials. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { afterEach, expect, it } from 'vitest'
import { follow, openAuthScene } from './auth-scene.ts'
import type { AuthScene } from './auth-scene.ts'

let scene: AuthScene | undefined

afterEach(() => scene?.close())

const PROGRAM = new URL('fixtures/auth-host.ts', import.meta.url).pathname

interface Program {
  /** Resolves when it printed that. */
  says(text: string): Promise<void>
  go(): void
  readonly ended: Promise<number | null>
}

function start(...args: string[]): Program {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  let out = ''
  let words = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (words += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    async says(text) {
      while (!out.includes(text)) {
        const end = await Promise.race([once(child.stdout, 'data').then(() => undefined), ended])
        if (end !== undefined && !out.includes(text)) throw new Error(`ended with ${end}: ${out}${words}`)
      }
    },
    go: () => void child.stdin.write('go\n'),
    ended,
  }
}

it('renews an expired token once, and all calls of both succeed', async () => {
  scene = await openAuthScene()
  await (await scene.open({}, { person: follow })).close()
  const [file = ''] = await readdir(scene.folder)
  const args = [scene.server.url, scene.folder, file.replace(/\.json$/, '')]
  const programs = [start(...args), start(...args)]
  await Promise.all(programs.map((program) => program.says('ready')))
  scene.auth.expire()
  const before = scene.auth.count('refresh_token')
  for (const program of programs) program.go()
  await Promise.all(programs.map((program) => program.says('called 3')))
  expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0])
  expect(scene.auth.count('refresh_token') - before).toBe(1)
  expect(await readdir(scene.folder)).toEqual([file])
}, 60_000)
