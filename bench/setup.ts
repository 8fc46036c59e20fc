/**
 * Owns what must be there before a benchmark: the peers of bench/package-lock.json, this client and the benchmark built.
 * Installs only what the lock does not say is installed already.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const here = import.meta.dirname
const stamp = `${here}/node_modules/.installed-lock`
const lock = createHash('sha256')
  .update(readFileSync(`${here}/package-lock.json`))
  .digest('hex')

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  process.stdout.write('installing the peers (650 MB, once)\n')
  run('npm', ['ci', '--ignore-scripts', '--silent'], here)
  writeFileSync(stamp, lock)
}
run('npm', ['run', '--silent', 'build'], `${here}/..`)
run('npx', ['tsc', '-p', `${here}/tsconfig.json`], `${here}/..`)

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}
