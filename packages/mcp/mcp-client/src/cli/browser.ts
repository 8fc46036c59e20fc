/**
 * Owns the opening of a login page in a person's browser: by an argument vector, never by a shell, and only addresses of
 * the web. Nobody's process opens one unless a person sits at its terminal.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Io } from './output.ts'

/** The program that opens an address, with its arguments; `undefined` for what is no address of the web. */
export function browserCommand(
  link: string,
  platform: NodeJS.Platform,
): readonly [command: string, ...args: string[]] | undefined {
  const url = URL.parse(link)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  // As it was read: escaped, and with a scheme in front, so that no program takes it for an option.
  const { href } = url
  if (platform === 'darwin') return ['open', href]
  return platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler', href] : ['xdg-open', href]
}

/** Whether a person is there to see a browser: at a terminal, on a screen, and not in an automatic run. */
export function hasPerson({ stdin, stderr, env, platform }: Io): boolean {
  if (stdin?.isTTY !== true || stderr.isTTY !== true || env['CI'] !== undefined) return false
  const isDesktop = platform === 'darwin' || platform === 'win32'
  return isDesktop || ['DISPLAY', 'WAYLAND_DISPLAY'].some((name) => (env[name] ?? '') !== '')
}

/** Open it, and say whether the program for that started. Never rejects. */
export async function openBrowser(link: string, { env, platform }: Io): Promise<boolean> {
  const words = browserCommand(link, platform)
  if (words === undefined) return false
  const [command, ...args] = words
  const child = spawn(command, args, { env, stdio: 'ignore', detached: true })
  try {
    await once(child, 'spawn')
  } catch {
    return false // there is no such program
  }
  child.unref()
  return true
}
