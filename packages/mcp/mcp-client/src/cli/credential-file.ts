/**
 * Owns the reading and writing of the host's file of credentials without a host: as its provider does it, under the same
 * lock, with every other entry and comment left as it is.
 */
import { readFile } from 'node:fs/promises'
import { withFileLock, writeFileAtomic } from '@deepseek-ai/dsh-atomic-write'
import { parseDocument } from 'yaml'
import type { CredentialService } from '../bridge-safe.ts'

/** Its name in the folder of the harness. */
export const CREDENTIALS_FILE = '.credentials.yaml'

/** The file at `path`, which need not be there. Rejects where it is no mapping, and where it cannot be written. */
export function createCredentialFile(path: string): CredentialService {
  async function change(ref: string, value: string | undefined): Promise<void> {
    await withFileLock(path, async () => {
      const document = await read(path)
      if (value === undefined) document.delete(ref)
      else document.set(ref, value)
      await writeFileAtomic(path, document.toString(), { mode: 0o600, dirMode: 0o700 })
    })
  }
  return {
    async resolve(ref) {
      const value = (await read(path)).get(ref)
      return typeof value === 'string' ? { value } : undefined
    },
    set: change,
    async unset(ref) {
      if ((await read(path)).has(ref)) await change(ref, undefined)
    },
  }
}

async function read(path: string): Promise<ReturnType<typeof parseDocument>> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    text = ''
  }
  const document = parseDocument(text)
  // The parser's own words quote the line, which holds a secret.
  if (document.errors.length > 0) throw new Error(`${path} is no YAML`)
  return document
}
