/** Owns the headers that a command of the row prints: run at first use, kept, run once more when they are refused. */
import type { Clock } from '../clock.ts'
import { commandFailure, runCommand } from './command.ts'

export interface HeaderSourceOptions {
  readonly serverName: string
  /** Program and arguments; empty for none. */
  readonly headersCommand: readonly string[]
  readonly clock: Clock
  readonly learn: (secret: string) => void
}

type Headers = Readonly<Record<string, string>>

export interface HeaderSource {
  /** Whether there is a command: OAuth does not mix with it. */
  readonly authorizes: boolean
  headers(): Promise<Headers>
  /** Run the command again after a refusal of what was sent; true where it prints something else now. */
  again(sent: Headers): Promise<boolean>
}

export function createHeaderSource(options: HeaderSourceOptions): HeaderSource {
  const authorizes = options.headersCommand.length > 0
  let printed: Headers | undefined
  /** One run for all who ask meanwhile. */
  let running: Promise<Headers> | undefined

  function run(): Promise<Headers> {
    running ??= print(options)
      .then((headers) => (printed = headers))
      .finally(() => (running = undefined))
    return running
  }

  return {
    authorizes,
    async headers() {
      return authorizes ? (printed ?? run()) : {}
    },
    async again(sent) {
      const isSame = (headers: Headers): boolean =>
        Object.entries(headers).every(([name, value]) => sent[name] === value)
      // Somebody else has run it since.
      if (printed !== undefined && !isSame(printed)) return true
      return !isSame(await run())
    },
  }
}

async function print(options: HeaderSourceOptions): Promise<Headers> {
  const command = { ...options, key: 'headersCommand', argv: options.headersCommand }
  const headers = parseHeaders(await runCommand(command))
  if (headers === undefined)
    throw commandFailure(command, 'must print one JSON object of headers, or lines such as Name: value')
  for (const value of Object.values(headers)) {
    options.learn(value)
    const [, credentials] = /^[\w-]+ +(\S+)$/.exec(value) ?? []
    if (credentials !== undefined) options.learn(credentials)
  }
  return headers
}

/** Lower-case names; `undefined` where the output is no headers. */
export function parseHeaders(text: string): Headers | undefined {
  const trimmed = text.trim()
  const pairs = trimmed.startsWith('{') ? jsonPairs(trimmed) : linePairs(trimmed)
  if (pairs === undefined || pairs.length === 0) return undefined
  const isGood = pairs.every(
    ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  )
  return isGood ? Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])) : undefined
}

function jsonPairs(text: string): [string, string][] | undefined {
  try {
    const pairs = Object.entries(JSON.parse(text) as Record<string, unknown>)
    return pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string') ? pairs : undefined
  } catch {
    return undefined // no JSON after all
  }
}

function linePairs(text: string): [string, string][] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const pairs = lines.map((line) => /^([^:\s]+):\s*(.*?)\s*$/.exec(line))
  return pairs.every((pair) => pair !== null)
    ? pairs.map(([, name = '', value = '']) => [name, value])
    : undefined
}
