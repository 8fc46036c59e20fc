/** Owns the look at what a host has pinned: a command compares with it and changes nothing of it. */
import { join } from 'node:path'
import { resolveDshHome } from '@deepseek-ai/dsh-home-paths'
import { openPinFile } from '../discovery/pin-file.ts'
import type { PinFile } from '../discovery/pin-file.ts'
import { shellWord } from '../discovery/pin-review.ts'
import type { ServerSpec } from '../types.ts'
import type { Io } from './output.ts'

export function pinFolder(env: Io['env']): string {
  return join(resolveDshHome(undefined, env), 'mcp-client')
}

/** What the hosts on this machine know of the server; undefined where the row pins nothing. Never rejects. */
export async function lookAtPins(
  { serverName, target, pin }: ServerSpec,
  { env }: Pick<Io, 'env'>,
): Promise<PinFile | undefined> {
  if (pin === 'off') return undefined
  // A damaged file is told by the host, and by `dsh-mcp pins`.
  const note = (): void => undefined
  return openPinFile({ folder: pinFolder(env), serverName, target, note, isReadOnly: true })
}

/** How a person trusts what is withheld: only a host writes down that something waits. */
export function approvalAdvice(serverName: string, tool: string): string {
  return `A host that has listed it takes: dsh-mcp pins approve ${serverName} ${shellWord(tool)}`
}
