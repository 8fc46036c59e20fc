/** Owns the telling of a field that looks like a secret, by its names: a form must not ask for one. Pure. */
import type { Field } from './form-schema.ts'

const SECRET =
  /(^|[^a-z])(password|passwd|passphrase|passcode|pwd|secret|token|credentials?|(api|access|private|secret|signing)[^a-z]?key|bearer|otp|pin|cvv|cvc|ssn|social[^a-z]?security([^a-z]?number)?|(credit|debit)?[^a-z]?card[^a-z]?number|iban|seed[^a-z]?phrase)([^a-z]|$)/

/** Whether its name or its title is one of a secret; the words may be joined in any of the usual ways. */
export function looksSecret({ name, title }: Pick<Field, 'name' | 'title'>): boolean {
  return [name, title].some((text) =>
    SECRET.test(
      text
        .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
        .toLowerCase()
        .replaceAll(/\d/g, ''),
    ),
  )
}
