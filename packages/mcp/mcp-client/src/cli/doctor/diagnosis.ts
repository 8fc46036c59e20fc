/**
 * Owns what the facts of an examination mean: a closed list of kinds, each a row of a table with its test, its sentence
 * and what to do next. Pure; order is order of importance, and of kinds that exclude each other the first one counts.
 */
import { CATALOG_ROWS } from './catalog-rows.ts'
import { CONFIG_ROWS } from './config-rows.ts'
import type { Facts } from './facts.ts'
import { HTTP_ROWS } from './http-rows.ts'
import type { Diagnosis, DiagnosisKind, Finding, Rows, Severity } from './kinds.ts'
import { FALLBACK_ROWS, STDIO_ROWS } from './stdio-rows.ts'

/** Say what is wrong and what to do. Empty where all is well. */
export function diagnose(facts: Facts): Diagnosis[] {
  const config = found(CONFIG_ROWS, facts)
  if (facts.fault !== undefined) return config
  const causes = [...found(STDIO_ROWS, facts), ...found(HTTP_ROWS, facts)]
  const catalog = found(CATALOG_ROWS, facts)
  // One cause is the cause: what follows from it would only confuse. Warnings stand beside it.
  const errors = [...causes, ...catalog].filter(({ severity }) => severity === 'error')
  const explained = errors.length > 0 || facts.failure === undefined
  const beside = (severity: Severity): Diagnosis[] =>
    [...config, ...causes, ...catalog].filter((diagnosis) => diagnosis.severity === severity)
  return [
    ...errors.slice(0, 1),
    ...(explained ? [] : found(FALLBACK_ROWS, facts).slice(0, 1)),
    ...beside('warning'),
    ...beside('note'),
  ]
}

function found<Kind extends DiagnosisKind>(rows: Rows<Kind>, facts: Facts): Diagnosis[] {
  return (Object.entries(rows) as [Kind, (facts: Facts) => Finding][]).flatMap(([kind, test]) => {
    const finding = test(facts)
    return finding === undefined ? [] : [{ kind, ...finding }]
  })
}
