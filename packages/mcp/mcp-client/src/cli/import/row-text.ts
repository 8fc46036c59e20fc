/**
 * Owns the YAML of rows. The host reads a dialect in which more plain words are numbers, booleans or null than in YAML
 * 1.2, so only a text that is plainly a word goes without quotes. Pure.
 */
import { Document, isMap, isScalar, isSeq, visit } from 'yaml'
import type { Pair } from 'yaml'
import type { Row } from './row.ts'

const PLAIN = /^(?:[A-Za-z/][A-Za-z0-9_./-]*|https?:\/\/[a-z0-9./:-]*[a-z0-9/])$/
const WORDS = /^(?:true|false|yes|no|on|off|null|y|n)$/i
/** Longest list of arguments that stands in one line. */
const MAX_LINE = 96

/** The rows as a YAML list, with an empty line between them. Ends with a line break. */
export function rowsText(rows: readonly Row[]): string {
  const document = new Document(rows)
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string') node.type = isPlain(node.value) ? 'PLAIN' : 'QUOTE_SINGLE'
    },
    Pair: (_key, pair) => flowLists(pair),
  })
  if (isSeq(document.contents)) {
    document.contents.items.forEach((item, index) => {
      if (isMap(item)) item.spaceBefore = index > 0
    })
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

function isPlain(text: string): boolean {
  return PLAIN.test(text) && !WORDS.test(text)
}

function flowLists({ key, value }: Pair): void {
  if (!isScalar(key) || !['args', 'inheritEnv', 'allow', 'deny'].includes(String(key.value)) || !isSeq(value))
    return
  const length = value.items.reduce<number>((sum, item) => sum + String(item).length + 4, 0)
  value.flow = length <= MAX_LINE
}
