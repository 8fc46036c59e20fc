/** Owns the judgement of the Node that runs the command. Imports nothing: an old Node could not load it. Pure. */

/** What to tell a person whose Node is too old, in whole lines; `undefined` where it will do. */
export function versionFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  if (major >= 24 || (major === 22 && minor >= 19)) return undefined
  return (
    `dsh-mcp needs Node 22.19 or a later 22, or Node 24 or later; this is ${version}.\n` +
    'Install a newer one, or put it first on the PATH.\n'
  )
}
