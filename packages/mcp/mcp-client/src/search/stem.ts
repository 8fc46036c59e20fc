/**
 * Owns the stem of an English word: what a plural, a past and an -ing form have in common. Light on purpose: it must
 * bring "files" to "file" and "merged" to "merge", and never two words of a tool's name together. Pure.
 */

const VOWEL = /[aeiouy]/
/** Consonant, vowel, consonant: "mov" of "moving" wants its e back. */
const SHORT = /^[^aeiou]+[aeiou][^aeiouwxy]$/
const DOUBLED = /([^aeiouylsz])\1$/
const PLAIN = /^[a-z]+$/
/** The longest word that is stemmed, in characters. */
const MAX_CHARS = 32

/** The stem of a lower-case word; other scripts, digits and very short words stay. */
export function stemOf(word: string): string {
  if (word.length <= 3 || word.length > MAX_CHARS || !PLAIN.test(word)) return word
  return withoutE(withoutSuffix(withoutPlural(word)))
}

function withoutPlural(word: string): string {
  if (/(ss|us|is)$/.test(word)) return word
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
  if (/(x|ch|sh|ss|zz)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}

function withoutSuffix(word: string): string {
  const suffix = /(ing|ed)$/.exec(word)?.[0]
  if (suffix === undefined || word.endsWith('eed')) return word
  const stem = word.slice(0, -suffix.length)
  if (stem.length < 3 || !VOWEL.test(stem)) return word
  if (stem.length > 3 && DOUBLED.test(stem)) return stem.slice(0, -1)
  return stem.length === 3 && SHORT.test(stem) ? `${stem}e` : stem
}

/** "create" and "creating" meet without the e; a short word keeps it: "file" is not "fil". */
function withoutE(word: string): string {
  return word.length > 4 && word.endsWith('e') ? word.slice(0, -1) : word
}
