/** Owns the rankings that are compared: ours, and two plain lexical ones. */
import MiniSearch from 'minisearch'
import { createToolIndex } from '../../packages/mcp/mcp-client/src/search/ranking.ts'
import type { ServerTools } from './catalogues.ts'
import type { Ranker } from './measures.ts'

const LIMIT = 50

interface Listed {
  readonly id: string
  readonly publicName: string
  readonly name: string
  readonly description: string
}

export function toolId(serverName: string, rawName: string): string {
  return `${serverName}/${rawName}`
}

/** This package's index. */
export function ours(servers: readonly ServerTools[]): Ranker {
  const ids = new Map(listed(servers).map(({ publicName, id }) => [publicName, id]))
  const index = createToolIndex(
    servers.flatMap(({ serverName, entries }) => entries.map((entry) => ({ ...entry, serverName }))),
  )
  return (question) =>
    index.search(question, { limit: LIMIT }).hits.map(({ publicName }) => ids.get(publicName) ?? '')
}

/** MiniSearch with its defaults over name and description. */
export function plainMiniSearch(servers: readonly ServerTools[]): Ranker {
  const mini = new MiniSearch<Listed>({ fields: ['name', 'description'] })
  mini.addAll(listed(servers))
  return (question) =>
    mini
      .search(question)
      .slice(0, LIMIT)
      .map(({ id }) => String(id))
}

/** How many words of the question stand in name or description. */
export function termOverlap(servers: readonly ServerTools[]): Ranker {
  const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))
  const tools = listed(servers).map(({ id, name, description }) => ({
    id,
    words: wordsOf(`${name.replaceAll(/[_-]/g, ' ')} ${description}`),
  }))
  return (question) => {
    const asked = wordsOf(question)
    return tools
      .map(({ id, words }) => ({ id, score: [...asked].filter((word) => words.has(word)).length }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, LIMIT)
      .map(({ id }) => id)
  }
}

function listed(servers: readonly ServerTools[]): Listed[] {
  return servers.flatMap(({ serverName, entries }) =>
    entries.map(({ rawName, publicName, description }) => ({
      id: toolId(serverName, rawName),
      publicName,
      name: rawName,
      description,
    })),
  )
}
