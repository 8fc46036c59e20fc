/** Owns the lines that a person pastes while a login waits: reading them with a cap, and what address they mean. */
import type { Source } from './output.ts'

const MAX_LINE_CHARS = 16_384

/**
 * Hear the lines of a stream until `stop` is called. `onEnd` is called where it ends before that.
 * @returns stop; the stream is left where it is
 */
export function readLines(
  stream: Source,
  { onLine, onEnd }: { readonly onLine: (line: string) => void; readonly onEnd: () => void },
): () => void {
  let rest = ''
  const take = (chunk: unknown): void => {
    const lines = `${rest}${String(chunk)}`.split(/\r?\n|\r/)
    rest = String(lines.pop()).slice(0, MAX_LINE_CHARS)
    for (const line of lines) if (line.trim() !== '') onLine(line.slice(0, MAX_LINE_CHARS).trim())
  }
  const end = (): void => {
    take('\n')
    onEnd()
  }
  stream.on('data', take)
  stream.on('end', end)
  return () => {
    stream.off('data', take)
    stream.off('end', end)
    stream.pause()
    // A terminal that is read from holds the process.
    stream.unref?.()
  }
}

export type Pasted =
  /** Where the login comes back to, with what was pasted. */
  { readonly kind: 'answer'; readonly url: URL } | { readonly kind: 'fault'; readonly text: string }

/**
 * What a pasted text means for the login at `link`: the whole address that the browser ended at, or what stands behind
 * its question mark. Only the parameters are taken; they go to the address of the login itself. Pure.
 */
export function readPasted(text: string, link: string): Pasted {
  const fault = (words: string): Pasted => ({ kind: 'fault', text: words })
  const address = /^https?:\/\//i.test(text) ? URL.parse(text) : undefined
  if (address === null) return fault('That is no address.')
  const params =
    address?.searchParams ?? new URLSearchParams(text.replace(/^[^?]*\?/, '').replace(/#.*$/, ''))
  if (!params.has('code') && !params.has('error')) {
    return fault('It has no code. Paste the whole address that the browser ended at, from its address bar.')
  }
  const asked = new URL(link).searchParams
  if (params.get('state') !== asked.get('state')) {
    return fault('It belongs to another login. Open the link above, and paste the address it ends at.')
  }
  const url = new URL(String(asked.get('redirect_uri')))
  url.search = params.toString()
  return { kind: 'answer', url }
}
