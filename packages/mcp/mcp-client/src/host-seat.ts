/** Owns the filling of seats: what a server wants registered in a service of the host, whenever that service is there. */
import type { Context } from '@deepseek-ai/cordis'
import type { Seat } from './seat.ts'

interface Sitting<T> {
  readonly item: T
  readonly refused: ((error: unknown) => void) | undefined
  leave: (() => void) | undefined
}

/**
 * The seat in one service for one row. Ends with the row.
 * @param register registers one item through a context that has the service
 */
export function openSeat<T>(
  ctx: Context,
  service: string,
  register: (ctx: Context, item: T) => () => void,
): Seat<T> {
  const sitting = new Set<Sitting<T>>()
  let present: Context | undefined

  function enter(one: Sitting<T>): void {
    if (present === undefined) return
    try {
      one.leave = register(present, one.item)
    } catch (error) {
      one.refused?.(error)
    }
  }

  ctx.inject([service], (inner) => {
    present = inner
    for (const one of sitting) enter(one)
    inner.effect(
      () => () => {
        present = undefined
        // The service takes away what its context registered.
        for (const one of sitting) one.leave = undefined
      },
      'mcp-client.seat',
    )
  })

  return {
    put(item, refused) {
      const one: Sitting<T> = { item, refused, leave: undefined }
      sitting.add(one)
      enter(one)
      return () => {
        if (!sitting.delete(one)) return
        one.leave?.()
      }
    },
  }
}
