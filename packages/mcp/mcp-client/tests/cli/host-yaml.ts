/** Owns the reading of YAML as the host reads it: by its own parser, with its own schema. */
import { createRequire } from 'node:module'
import { entryListSchema } from '@deepseek-ai/cordis-plugin-include'

interface HostParser {
  load(text: string, options: { readonly schema: unknown }): unknown
}

const own = createRequire(import.meta.url)
const beside = createRequire(own.resolve('@deepseek-ai/cordis-plugin-include/package.json'))
const parser = beside('js-yaml') as HostParser

/** A text as the host reads it; `!!js` values are objects with the expression. */
export function hostYaml(text: string): unknown {
  return parser.load(text, { schema: entryListSchema })
}
