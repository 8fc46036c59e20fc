/** Owns the scene of the commands' tests: a folder with a cordis.yml, scripted servers, and nothing left behind. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { expectNoLeftovers, leftovers, stdioServer, temporaryFolder } from '@dsh-mcp/testkit'
import type { Leftovers } from '@dsh-mcp/testkit'
import { run } from './fake-io.ts'
import type { FakeOptions } from './fake-io.ts'

export const ODD = join(import.meta.dirname, 'fixtures/odd-lists.ts')

export type Config = Readonly<Record<string, unknown>>

export interface CommandScene {
  /** Of the test that runs. */
  folder(): string
  /** The folder with a home in it, for what is kept there. */
  home(): Required<Pick<FakeOptions, 'cwd' | 'env'>>
  /** Write a cordis.yml of these rows, by server name. */
  rows(configs: Readonly<Record<string, Config>>): void
  /** Run a command line in the folder. */
  here(argv: readonly string[]): ReturnType<typeof run>
}

/** To be called at the top of a spec file. */
export function commandScene(): CommandScene {
  let folder = ''
  let before: Leftovers
  beforeEach(() => {
    before = leftovers()
    folder = temporaryFolder('cli')
  })
  afterEach(async () => {
    rmSync(folder, { recursive: true, force: true })
    await expectNoLeftovers(before)
  })
  return {
    folder: () => folder,
    home: () => ({ cwd: folder, env: { DSH_HOME: join(folder, 'home') } }),
    rows(configs) {
      const list = Object.entries(configs).map(([serverName, { disabled, ...config }]) => ({
        id: `mcp-${serverName}`,
        name: '@deepseek-ai/dsh-mcp-client',
        disabled,
        config: { serverName, ...config },
      }))
      writeFileSync(join(folder, 'cordis.yml'), JSON.stringify(list))
    },
    here: (argv) => run(argv, { cwd: folder }),
  }
}

/** A row of a server whose list is odd in this way. */
export function odd(kind: string, more: Config = {}): Config {
  const { command, args } = stdioServer(ODD, { kind, ...more })
  // Without the probe: on a busy machine its two seconds may be over before the program runs.
  return { command, args, protocol: 'legacy' }
}
