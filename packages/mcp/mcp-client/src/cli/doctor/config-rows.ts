/** Owns the diagnoses of a row before anything is started: refused, variables that are not there. Pure. */
import type { ConfigKind, Rows } from './kinds.ts'

export const CONFIG_ROWS: Rows<ConfigKind> = {
  'config-refused'({ fault }) {
    if (fault === undefined) return undefined
    const missing = /needs the environment variable (\S+), which/.exec(fault.text)?.[1]
    return {
      severity: 'error',
      what: `The row is refused: ${fault.text}`,
      next:
        missing === undefined
          ? ['Mend the row at that path. All keys are in the README, "Configuration".']
          : [
              `Set it where the host starts: export ${missing}=...`,
              `Or give a default in the row: \${${missing}:-...}`,
            ],
    }
  },

  'variable-missing'({ findings: { unset } }) {
    if (unset.length === 0) return undefined
    return {
      severity: 'warning',
      what: `${unset.join(', ')} is a !!js expression without a value, so the server gets nothing there.`,
      next: [
        'Set the variable that it reads where the host starts, or remove the key.',
        `With expandVars: true and \${NAME} in place of !!js a missing variable refuses the row and names it.`,
      ],
    }
  },

  'undefined-in-value'({ findings: { undefinedWords } }) {
    if (undefinedWords.length === 0) return undefined
    return {
      severity: 'warning',
      what: `${undefinedWords.join(', ')} holds the word "undefined": a template read a variable that is not set.`,
      next: [
        'Set the variable where the host starts.',
        `Or write it as \${NAME} with expandVars: true: a missing variable then refuses the row and names it.`,
      ],
    }
  },

  'value-empty'({ empty }) {
    if (empty.length === 0) return undefined
    return {
      severity: 'warning',
      what: `${empty.join(', ')} is empty.`,
      next: ['Give it a value, or remove it: an empty credential is refused like a wrong one.'],
    }
  },

  'variable-unexpanded'({ unexpanded }) {
    if (unexpanded.length === 0) return undefined
    return {
      severity: 'warning',
      what: `${unexpanded.join(', ')} still holds \${NAME}, and the server gets it as written.`,
      next: ['Set expandVars: true in the row, or write !!js process.env.NAME.'],
    }
  },
}
