/** Owns the blocks of docs/context.md that a run writes; the words around them stay. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PAGE = fileURLToPath(new URL('../../docs/context.md', import.meta.url))
const FIRST_WORDS = `# What tools cost in a request

\`npm run bench:retrieval -- --publish\` measures how well search finds tools and what definitions weigh, and writes the tables below.

<!-- retrieval:begin -->
<!-- retrieval:end -->

<!-- bytes:begin -->
<!-- bytes:end -->
`

/** Replace the text between the two marks of each name. */
export function publish(blocks: Readonly<Record<'retrieval' | 'bytes', string>>): void {
  let page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : FIRST_WORDS
  for (const [name, text] of Object.entries(blocks)) {
    const begin = `<!-- ${name}:begin -->`
    const from = page.indexOf(begin)
    const to = page.indexOf(`<!-- ${name}:end -->`)
    if (from === -1 || to < from) throw new Error(`docs/context.md lacks the marks of ${name}`)
    page = `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`
  }
  writeFileSync(PAGE, page)
}
