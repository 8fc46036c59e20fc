/**
 * Owns the tools that an index holds, in MiniSearch and beside it, and the change from one set of tools to the next: only
 * what differs is taken out and put in.
 */
import MiniSearch from 'minisearch'
import { FIELDS, fieldsOf } from './fields.ts'
import type { Fields, SearchableTool } from './fields.ts'
import { nameWords } from './meaning.ts'

type Document = Fields & { readonly publicName: string }

export class Shelf {
  readonly mini = new MiniSearch<Document>({
    idField: 'publicName',
    fields: [...FIELDS],
    // Fields are lists of terms already.
    stringifyField: (terms) => terms as string,
    tokenize: (terms) => terms as unknown as string[],
    processTerm: (term) => term,
    // What is taken out is taken out at once: no work is left behind for a timer.
    autoVacuum: false,
  })
  private readonly tools = new Map<string, SearchableTool>()
  /** The words of the name of each tool. */
  private readonly words = new Map<string, readonly (readonly string[])[]>()
  /** Tools that have a term. */
  private readonly counts = new Map<string, number>()
  private sorted: readonly string[] = []

  /** Hold these tools and no others. */
  hold(tools: readonly SearchableTool[]): void {
    const next = new Map(tools.map((tool) => [tool.publicName, tool]))
    for (const [publicName, tool] of this.tools) {
      if (!isSame(tool, next.get(publicName))) this.takeOut(tool)
    }
    for (const tool of next.values()) if (!this.tools.has(tool.publicName)) this.putIn(tool)
    this.sorted = [...this.tools.keys()].toSorted()
  }

  get size(): number {
    return this.tools.size
  }

  /** Public names in order. */
  get names(): readonly string[] {
    return this.sorted
  }

  serverOf(publicName: string): string {
    return (this.tools.get(publicName) as SearchableTool).serverName
  }

  wordsOf(publicName: string): readonly (readonly string[])[] {
    return this.words.get(publicName) as readonly (readonly string[])[]
  }

  has(term: string): boolean {
    return this.counts.has(term)
  }

  /** How much a term that some tool has tells: more the fewer have it. */
  rarity(term: string): number {
    const count = Number(this.counts.get(term))
    return Math.log(1 + (this.size - count + 0.5) / (count + 0.5))
  }

  private putIn(tool: SearchableTool): void {
    const fields = fieldsOf(tool)
    this.mini.add({ ...fields, publicName: tool.publicName })
    this.tools.set(tool.publicName, tool)
    this.words.set(tool.publicName, nameWords(tool.rawName))
    for (const term of termsOf(fields)) this.counts.set(term, (this.counts.get(term) ?? 0) + 1)
  }

  private takeOut(tool: SearchableTool): void {
    const fields = fieldsOf(tool)
    this.mini.remove({ ...fields, publicName: tool.publicName })
    this.tools.delete(tool.publicName)
    this.words.delete(tool.publicName)
    for (const term of termsOf(fields)) {
      const count = Number(this.counts.get(term)) - 1
      if (count === 0) this.counts.delete(term)
      else this.counts.set(term, count)
    }
  }
}

function termsOf(fields: Fields): ReadonlySet<string> {
  return new Set(FIELDS.flatMap((field) => fields[field]))
}

/** A schema is one frozen object for as long as its tool is unchanged. */
function isSame(tool: SearchableTool, next: SearchableTool | undefined): boolean {
  return (
    next !== undefined &&
    tool.rawName === next.rawName &&
    tool.serverName === next.serverName &&
    tool.title === next.title &&
    tool.description === next.description &&
    tool.inputSchema === next.inputSchema
  )
}
