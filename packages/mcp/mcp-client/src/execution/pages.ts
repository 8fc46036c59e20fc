/**
 * Owns the pages that a server wants a person to open before it takes a call: revision 2025-11-25 refuses the call with
 * them, so that nothing ran, and takes it when it is sent again.
 */
import { isMcpError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { Asking, Inbound } from '../types.ts'

/** A person is not led through more for one call. */
const MAX_PAGES = 8

/** What a failed call says of pages, as the server has it; undefined where it failed for another reason. */
export function pagesOf(error: unknown): readonly unknown[] | undefined {
  const pages = isMcpError(error) ? error.data['elicitations'] : undefined
  return Array.isArray(pages) && pages.length > 0 ? pages : undefined
}

/**
 * Ask for one page after the other.
 * @throws Error where not each was opened; its message is for the model
 */
export async function visitPages(
  pages: readonly unknown[],
  ask: Inbound['answer'],
  asking: Asking,
): Promise<void> {
  if (pages.length > MAX_PAGES) throw new Error('The server wants too many pages opened first')
  for (const page of pages) {
    const params = isJsonObject(page) ? { ...page, mode: 'url' } : { mode: 'url' }
    const { action } = await ask({ method: 'elicitation/create', params }, asking)
    if (action !== 'accept')
      throw new Error(
        'A person must open a page of the server first, and that was not done. The call did not run',
      )
  }
}
