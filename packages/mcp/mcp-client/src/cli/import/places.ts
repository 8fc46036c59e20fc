/** Owns where the known clients keep their files: those of the project first, then those of the user. Pure. */
import { posix, win32 } from 'node:path'

export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  readonly platform: NodeJS.Platform
}

/** The paths to look at for one dialect, in order. */
export function placesOf(dialect: string, machine: Machine): string[] {
  const { cwd, home, env, platform } = machine
  const { join } = platform === 'win32' ? win32 : posix
  const config = env['XDG_CONFIG_HOME'] || join(home, '.config')
  const programs = programFolder(machine, config)
  switch (dialect) {
    case 'claude-desktop':
      return [join(programs, 'Claude', 'claude_desktop_config.json')]
    case 'claude-code':
      return [join(cwd, '.mcp.json'), join(home, '.claude.json')]
    case 'vscode':
      return [
        join(cwd, '.vscode', 'mcp.json'),
        join(cwd, '.vscode', 'settings.json'),
        join(programs, 'Code', 'User', 'mcp.json'),
        join(programs, 'Code', 'User', 'settings.json'),
      ]
    case 'cursor':
      return [join(cwd, '.cursor', 'mcp.json'), join(home, '.cursor', 'mcp.json')]
    case 'windsurf':
      return [
        join(home, '.codeium', 'windsurf', 'mcp_config.json'),
        join(home, '.codeium', 'mcp_config.json'),
      ]
    case 'codex':
      return [
        join(cwd, '.codex', 'config.toml'),
        join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
      ]
    case 'gemini':
      return [join(cwd, '.gemini', 'settings.json'), join(home, '.gemini', 'settings.json')]
    default:
      return [cwd, join(cwd, '.opencode'), join(config, 'opencode')].flatMap((folder) => [
        join(folder, 'opencode.json'),
        join(folder, 'opencode.jsonc'),
      ])
  }
}

function programFolder({ env, home, platform }: Machine, config: string): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env['APPDATA'] || win32.join(home, 'AppData', 'Roaming')
  return config
}
