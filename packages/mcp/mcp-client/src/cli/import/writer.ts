/** Owns the writing of the target: a backup beside it that never replaces another, then the whole file at once. */
import { constants } from 'node:fs'
import { chmod, copyFile, realpath, stat } from 'node:fs/promises'
import { writeFileAtomic } from '@deepseek-ai/dsh-atomic-write'
import { ImportFault } from './foreign-server.ts'
import { codeOf, readText } from './source.ts'

const MAX_BACKUPS = 1000
/** Like a file that an editor makes; the umask narrows it. */
const NEW_FILE_MODE = 0o644

/**
 * Write `text` over a file that still holds `expected`; undefined means that it is not there yet. Returns the path of the
 * backup, if there was something to back up. Throws ImportFault; then the file is as it was.
 */
export async function writeTarget(
  path: string,
  text: string,
  expected: string | undefined,
): Promise<string | undefined> {
  if ((await readText(path, 'keep')) !== expected)
    throw new ImportFault('It was changed in the meantime: run the command again.')
  try {
    if (expected === undefined) {
      await writeFileAtomic(path, text, { mode: NEW_FILE_MODE })
      return undefined
    }
    // Through a link to the file it names, so that the link stays one.
    const file = await realpath(path)
    const mode = (await stat(file)).mode & 0o7777
    const backup = await backUp(file)
    await writeFileAtomic(file, text, { mode })
    await chmod(file, mode)
    return backup
  } catch (error) {
    if (error instanceof ImportFault) throw error
    throw new ImportFault(`It cannot be written (${codeOf(error)}).`)
  }
}

async function backUp(file: string): Promise<string> {
  for (let number = 0; number < MAX_BACKUPS; number += 1) {
    const backup = number === 0 ? `${file}.bak` : `${file}.bak.${number}`
    try {
      await copyFile(file, backup, constants.COPYFILE_EXCL)
      return backup
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
  throw new ImportFault(`It has ${MAX_BACKUPS} backups already: remove some.`)
}
