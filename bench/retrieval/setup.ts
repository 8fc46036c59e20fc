/**
 * Owns what must be there before the measurement: the public servers of package-lock.json, without their install
 * scripts. Installs only what the lock does not say is installed already.
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
  process.stdout.write('installing the public servers (1.9 GB, once)\n')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--silent'], {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
  writeFileSync(stamp, lock)
}
