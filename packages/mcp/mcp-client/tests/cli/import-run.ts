/** Owns what the import specs share: a folder that looks like somebody's machine, and a run of the command in it. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runImport } from '../../src/cli/import/command.ts'
import type { ImportOptions } from '../../src/cli/import/command.ts'

const FIXTURES = fileURLToPath(new URL('fixtures/import/', import.meta.url))

export interface Desk {
  readonly folder: string
  readonly home: string
  readonly cwd: string
  /** Put a fixture, or a text, at a path below the folder. */
  place(path: string, fixture: string): Promise<string>
  write(path: string, text: string): Promise<string>
  read(path: string): Promise<string>
  run(options?: Partial<ImportOptions>): Promise<RunResult>
  remove(): Promise<void>
}

export interface RunResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A fresh machine: `home` and, in it, the project `cwd`. */
export async function openDesk(): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'dsh-import-'))
  const home = join(folder, 'home')
  const cwd = join(home, 'project')
  await mkdir(cwd, { recursive: true })
  const hide = (text: string): string => text.replaceAll(folder, '<tmp>')
  const at = async (path: string): Promise<string> => {
    const full = join(folder, path)
    await mkdir(dirname(full), { recursive: true })
    return full
  }
  return {
    folder,
    home,
    cwd,
    place: async (path, fixture) => {
      const full = await at(path)
      await copyFile(join(FIXTURES, fixture), full)
      return full
    },
    write: async (path, text) => {
      const full = await at(path)
      await writeFile(full, text)
      return full
    },
    read: async (path) => hide(await readFile(join(folder, path), 'utf8')),
    run: async (options = {}) => {
      let [out, err] = ['', '']
      const base = { write: false, json: false, env: {}, cwd, home, platform: 'linux' } as const
      const print = { out: (text: string) => (out += text), err: (text: string) => (err += text) }
      const code = await runImport({ ...base, ...options }, print)
      return { code, out: hide(out), err: hide(err) }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Credentials that stand in the fixtures, and their telling parts: none may be printed or written. */
export const FIXTURE_SECRETS = [
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'BSAx7K2mQ9vL4nR8tW3yZ6',
  's3cr3tP4ss',
  'ntn_1234567890abcdefABCDEF',
  'figd_Zk3xQ81mVbN2pLr7TyUw',
  'eyJhbGciOiJIUzI1NiJ9',
  'hunter2hunter2',
  'Zm9vYmFyMTIzNDU2Nzg5MA',
  '4f1c7a52-90ab-4cde-8f01-23456789abcd',
  'p4ssw0rd-x',
  'sk-proj-abcdefghijklmnop1234567890',
  'secret-token-1',
  'abc123def456',
  'value-of-the-first-one',
  'value-of-the-second-one',
]
