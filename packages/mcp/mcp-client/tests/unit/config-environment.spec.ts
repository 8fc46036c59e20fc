/** The environment of a stdio child. */
import { spawnSync } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { childEnvironment } from '../../src/environment.ts'
import type { StdioTarget } from '../../src/types.ts'

const PLANTED = ['PLANTED_API_KEY', 'planted_token', 'PLANTED_PASSWORD', 'DSH_PLANTED', 'PLANTED_PLAIN']

function target(env: Record<string, string>): StdioTarget {
  return { kind: 'stdio', command: process.execPath, args: [], env, inheritEnv: [] }
}

describe('childEnvironment', () => {
  afterEach(() => {
    for (const name of PLANTED) Reflect.deleteProperty(process.env, name)
  })

  it('gives a real child the scrubbed base and the row over it, and no credential of the host', () => {
    for (const name of PLANTED) process.env[name] = 'planted'
    const env = childEnvironment(target({ OWN_TOKEN: 'mine', PLANTED_PASSWORD: 'row' }))
    const print = ['-e', 'process.stdout.write(JSON.stringify(process.env))']
    const child = JSON.parse(spawnSync(process.execPath, print, { env }).stdout.toString()) as typeof env
    expect(child).toMatchObject({ OWN_TOKEN: 'mine', PLANTED_PASSWORD: 'row', PLANTED_PLAIN: 'planted' })
    expect(child['PATH']).toBe(process.env['PATH'])
    for (const name of ['PLANTED_API_KEY', 'planted_token', 'DSH_PLANTED'])
      expect(child).not.toHaveProperty(name)
  })

  it('replaces a variable in any case of letters on Windows only', () => {
    const parent = { Path: 'a', Other: 'b' }
    expect(childEnvironment(target({ pAth: 'c' }), parent, 'win32')).toEqual({ Other: 'b', pAth: 'c' })
    expect(childEnvironment(target({ PATH: 'c' }), parent, 'linux')).toEqual({
      Path: 'a',
      Other: 'b',
      PATH: 'c',
    })
  })
})
