/**
 * Owns the shapes in a question that say what it is about without a word for it: an address, a file name, a colour.
 * Pure; each pattern is linear.
 */

/** What a text of this shape hints at. */
interface Shape {
  readonly pattern: RegExp
  readonly concepts: readonly string[]
}

const SHAPES: readonly Shape[] = [
  { pattern: /https?:\/\/\S/, concepts: ['#url', '#web_page'] },
  { pattern: /\bwww\.\w|\b[\w-]{2,40}\.(?:com|org|net|io|dev|cn)\b/, concepts: ['#url', '#web_page'] },
  { pattern: /[\w.+-]{1,64}@[\w-]{1,64}\.\w/, concepts: ['#email'] },
  { pattern: /(?:^|\s)@\w/, concepts: ['#user', '#chat'] },
  { pattern: /(?:^|\s)#[a-z][\w-]*[g-z_-]/, concepts: ['#channel', '#chat'] },
  { pattern: /#(?:[\da-f]{6}|[\da-f]{3})\b/, concepts: ['#color'] },
  { pattern: /\b\d{1,3}(?:\.\d{1,3}){3}\b/, concepts: ['#ip_address'] },
  { pattern: /(?:^|[\s^~v])\d+\.\d+\.\d+(?=$|\s)/, concepts: ['#version', '#semver'] },
  { pattern: /\b[\w-]{1,40}\.(?:png|jpe?g|gif|webp|svg)\b/, concepts: ['#file', '#image', '#media_file'] },
  {
    pattern:
      /\b[\w-]{1,40}\.(?:txt|md|docx?|pdf|csv|json|ya?ml|xml|log|css|html|tsx?|jsx?|py|c|go|rs|java)\b/,
    concepts: ['#file'],
  },
  { pattern: /(?:^|\s)(?:~|\.{1,2})?\/[\w.-]+\/|\b[a-z]:\\/, concepts: ['#path', '#file'] },
  { pattern: /(?:^|\s)(?:[\d*]+(?:[/,-]\d+)?\s+){4}[\d*]+(?=$|\s)/, concepts: ['#cron_expression'] },
  { pattern: /\b\d{1,2}(?::\d\d)?\s?[ap]m\b|\b\d{1,2}:\d\d\b/, concepts: ['#time'] },
  { pattern: /-?\d{1,3}\.\d{2,},\s?-?\d{1,3}\.\d{2,}/, concepts: ['#location', '#reverse_geocode'] },
  { pattern: /\d\s?[-+*/×÷^]\s?\d/, concepts: ['#math'] },
  { pattern: /\b(?:select|insert|update|delete)\s.{1,80}\b(?:from|into|set)\b/, concepts: ['#sql'] },
]
/** Characters of a question that are looked at. */
const MAX_CHARS = 1_024

/** The concepts that the shapes of a question hint at, each once. */
export function shapesOf(question: string): string[] {
  const text = question.slice(0, MAX_CHARS).toLowerCase()
  return [...new Set(SHAPES.flatMap(({ pattern, concepts }) => (pattern.test(text) ? concepts : [])))]
}
