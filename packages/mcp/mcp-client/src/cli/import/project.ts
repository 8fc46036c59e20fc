/** Owns where a foreign file belongs: the project whose folder its relative paths are meant in. Pure. */
import { basename, dirname } from 'node:path'

const MARKED_FOLDER = /^\.(?:vscode|cursor|gemini|codex|opencode|windsurf|claude)$/
const MARKED_FILE = /^(?:\.mcp\.json|opencode\.jsonc?)$/

/** The project of a file, or undefined for one of the user: such as `~/.cursor/mcp.json`. */
export function projectOf(path: string, home: string): string | undefined {
  const folder = dirname(path)
  const project = MARKED_FOLDER.test(basename(folder))
    ? dirname(folder)
    : MARKED_FILE.test(basename(path))
      ? folder
      : undefined
  if (project === undefined || project === home || basename(dirname(project)) === '.config') return undefined
  return basename(project) === '.config' ? undefined : project
}
