/**
 * Owns the child process of a scripted stdio server: `node stdio.ts <behaviour name or file> <json options>`. Options
 * `journal` and `state` are files; the rest goes to the behaviour.
 */
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { answer, modernVersion } from '../answer.ts'
import type { Message, Options } from '../behaviour.ts'
import { behaviourNamed } from '../behaviours/index.ts'
import { createConnection, createPeer } from '../peer.ts'
import type { Wire } from '../peer.ts'

/** A server that outlives its client ends here, so that no failed test leaves one behind. */
const LIFE_MS = 120_000
const JOURNALED_CHARS = 8192

const [, , name = 'healthy', json = '{}'] = process.argv
const options = JSON.parse(json) as Options
const journal = typeof options['journal'] === 'string' ? options['journal'] : undefined

function record(kind: string, entry: object): void {
  if (journal === undefined) return
  const line = JSON.stringify({ kind, at: Date.now(), pid: process.pid, ...entry })
  appendFileSync(journal, `${line}\n`)
}

function recordMessage(kind: 'received' | 'sent', message: unknown): void {
  if (journal === undefined) return
  const chars = JSON.stringify(message)?.length ?? 0
  if (chars <= JOURNALED_CHARS) return record(kind, { message })
  const { id, method } = message as Message
  record(kind, { message: { id, method }, chars })
}

function countStart(): number {
  const file = options['state']
  if (typeof file !== 'string') return 1
  const starts = (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0) + 1
  writeFileSync(file, String(starts))
  return starts
}

async function writeOut(data: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(data)) await once(process.stdout, 'drain')
}

const wire: Wire = {
  transport: 'stdio',
  send(message) {
    recordMessage('sent', message)
    process.stdout.write(`${JSON.stringify(message)}\n`)
  },
  broadcast: (message) => wire.send(message),
  raw: writeOut,
  exit(code) {
    record('exit', { code })
    process.exit(code)
  },
  stderr: (text) => void process.stderr.write(text),
  note: (label, data) => record('note', { name: label, data }),
}

const starts = countStart()
record('start', { starts, argv: process.argv.slice(2), env: process.env, cwd: process.cwd() })
const behaviour = (await behaviourNamed(name))(options, { starts })
const connection = createConnection()
const peer = createPeer(wire, connection)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    record('signal', { signal })
    if (behaviour.ignoreSignals !== true) process.exit(0)
  })
}
// A reader that went away is the test's business, not a crash of this server.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const life = setTimeout(() => process.exit(99), LIFE_MS)
if (behaviour.ignoreEof !== true) life.unref()

function take(line: string): void {
  if (line.trim() === '') return
  let message: Message
  try {
    message = JSON.parse(line) as Message
  } catch {
    return record('noise', { text: line.slice(0, JOURNALED_CHARS) })
  }
  recordMessage('received', message)
  if (modernVersion(message) !== undefined && behaviour.era !== 'legacy' && behaviour.era !== undefined) {
    connection.modern = true
  }
  if (message.method === undefined && connection.outgoing.settle(message)) return
  void answer(behaviour, message, { peer, subscriptions: connection.subscriptions })
}

behaviour.onStart?.(peer)

const decoder = new StringDecoder('utf8')
let rest: string[] = []
process.stdin.on('data', (chunk: Buffer) => {
  const lines = decoder.write(chunk).split('\n')
  const last = lines.pop() ?? ''
  for (const line of lines) {
    take(rest.join('') + line)
    rest = []
  }
  if (last !== '') rest.push(last)
})
process.stdin.on('end', () => {
  record('eof', {})
  if (behaviour.ignoreEof !== true) process.exit(0)
})
