/**
 * Owns results of every kind of content, and what a server can tell about itself.
 */
import { text, tool } from '../behaviour.ts'
import type { BehaviourFactory, Params } from '../behaviour.ts'

/** One red pixel, a valid PNG. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** 44 bytes: the head of a WAV without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

const block = (value: string): Params => ({ type: 'text', text: value })
const IMAGE: Params = { type: 'image', data: PNG, mimeType: 'image/png' }
const AUDIO: Params = { type: 'audio', data: WAV, mimeType: 'audio/wav' }
const RESOURCE: Params = {
  type: 'resource',
  resource: { uri: 'note://one', mimeType: 'text/plain', text: 'the note' },
}
const BLOB: Params = {
  type: 'resource',
  resource: { uri: 'note://two', mimeType: 'application/octet-stream', blob: 'AAEC' },
}
const LINK: Params = {
  type: 'resource_link',
  uri: 'note://three',
  name: 'three',
  description: 'The third note',
}

const SUM_SCHEMA: Params = {
  type: 'object',
  properties: { sum: { type: 'number' } },
  required: ['sum'],
}

/** Result by tool name. */
const RESULTS: Readonly<Record<string, unknown>> = {
  text: text('plain'),
  image: { content: [IMAGE] },
  audio: { content: [AUDIO] },
  resource: { content: [RESOURCE] },
  blob: { content: [BLOB] },
  link: { content: [LINK] },
  mixed: { content: [block('before'), IMAGE, block('between'), RESOURCE, AUDIO, LINK, block('after')] },
  empty: { content: [] },
  error: text('it did not work', { isError: true }),
  structured: text('{"sum":3}', { structuredContent: { sum: 3 } }),
  'structured-only': { content: [], structuredContent: { sum: 3 } },
  'structured-wrong': text('{"sum":"three"}', { structuredContent: { sum: 'three' } }),
  'structured-missing': text('no structure'),
  'content-string': { content: 'just a string' },
  'content-missing': {},
  'unknown-kind': { content: [block('before'), { type: 'hologram', data: 'x' }, block('after')] },
  'text-missing': { content: [{ type: 'text' }, block('after')] },
  'not-base64': { content: [{ type: 'image', data: '***', mimeType: 'image/png' }, block('after')] },
  'null-member': { content: [null, block('after')], isError: null },
  surrogates: { content: [block('lone \uD800 and \uDC00 and nul \u0000 end')] },
}

const WITH_SCHEMA = new Set(['structured', 'structured-only', 'structured-wrong', 'structured-missing'])

/** Names of the tools of `content-kinds`. */
export const CONTENT_TOOLS: readonly string[] = Object.keys(RESULTS)

export const content = {
  /** A tool for each kind of result, healthy and malformed; see RESULTS. Option: era. */
  'content-kinds': (options) => ({
    ...(options['era'] === 'modern' ? { era: 'modern' } : {}),
    tools: CONTENT_TOOLS.map((name) => tool(name, WITH_SCHEMA.has(name) ? { outputSchema: SUM_SCHEMA } : {})),
    callTool: ({ name }) => RESULTS[String(name)],
  }),

  /** `env` tells the environment of the process, `args` its arguments, `cwd` its folder. */
  environment: () => ({
    tools: [tool('env'), tool('args'), tool('cwd')],
    calls: {
      env: () => text(JSON.stringify(process.env)),
      args: () => text(JSON.stringify(process.argv.slice(2))),
      cwd: () => text(process.cwd()),
    },
  }),
} satisfies Record<string, BehaviourFactory>
