/** Owns the few numbers about numbers. Pure. */

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

/** A number as people read it: three digits that count. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (value === 0) return '0'
  if (Math.abs(value) >= 100)
    return Math.round(value)
      .toString()
      .replace(/\B(?=(\d{3})+$)/g, ' ')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
