#!/usr/bin/env node
/**
 * The command `dsh-mcp`. Owns the order of things: the version of Node is judged before anything is loaded that an old
 * one cannot load.
 */
export {}

const { versionFault } = await import('./node-version.ts')
const fault = versionFault(process.version)
if (fault === undefined) {
  const { runProcess } = await import('./process.ts')
  process.exitCode = await runProcess(process.argv.slice(2))
} else {
  process.stderr.write(fault)
  process.exitCode = 2
}
