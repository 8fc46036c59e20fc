/** Owns the search itself: which tools an agent gets for a question, page by page, and what comes near a wrong name. */
import { McpError } from '../errors.ts'
import { cleanLine } from '../text.ts'
import type { ServerHandle } from '../types.ts'
import type { Directory, Found } from './directory.ts'
import { pageTools } from './page.ts'
import type { Page } from './page.ts'
import type { Agent, Visibility } from './visibility.ts'

export interface Question {
  readonly query: string
  readonly server?: string | undefined
  readonly limit: number
  /** Place in the ranking at which the page begins. */
  readonly offset: number
  readonly agent: Agent
}

export interface Finder {
  /** @throws McpError MCP_REQUEST_REJECTED for a server that is not there, with those that are */
  page(question: Question): Page
  /** Names an agent may see that are most like this one. */
  nearest(name: string, agent: Agent): string[]
}

/** Hits that can be paged through. */
const MAX_RANKED = 500
const MAX_NEAR = 5
const NAME_LIKE = /^[\w.-]*_[\w.-]*$/

export function createFinder(directory: Directory, visibility: Visibility): Finder {
  function page({ query, server: wanted, limit, offset, agent }: Question): Page {
    const text = query.trim()
    const server = wanted === undefined || wanted === '' ? undefined : serverNamed(wanted, agent)
    if (text === '' && server === undefined) {
      return { tools: [], total: 0, servers: visibleServers(agent).map(({ serverName }) => serverName) }
    }
    const { ranked, total } = text === '' && server !== undefined ? listed(server) : rankedBy(text, server)
    const { taken, next, hidden } = walk(ranked, { offset, limit, agent })
    const near = NAME_LIKE.test(text) || taken.length === 0 ? missed(text, taken, agent) : []
    return {
      tools: pageTools(
        taken.map(({ tool }) => tool),
        text,
      ),
      total: total - hidden,
      ...(next === undefined ? {} : { nextCursor: String(next) }),
      ...(near.length === 0 ? {} : { near }),
    }
  }

  function listed(server: ServerHandle): { ranked: Found[]; total: number } {
    const ranked = foundOf(
      server.offered().map(({ publicName }) => publicName),
      server,
    )
    return { ranked, total: ranked.length }
  }

  /** An exact name comes first, whatever the words in it are worth. */
  function rankedBy(text: string, server: ServerHandle | undefined): { ranked: Found[]; total: number } {
    const { hits, total } = directory.index().search(text, {
      limit: MAX_RANKED,
      ...(server === undefined ? {} : { server: server.serverName }),
    })
    const [exact] = foundOf([text], server)
    const names = hits.map(({ publicName }) => publicName)
    if (exact === undefined) return { ranked: foundOf(names, server), total }
    const others = foundOf(
      names.filter((name) => name !== text),
      server,
    )
    return { ranked: [exact, ...others], total: Math.max(total, others.length + 1) }
  }

  /** The tools of these names, of one server where there is one. */
  function foundOf(names: readonly string[], server?: ServerHandle): Found[] {
    return names.flatMap((name) => {
      const found = directory.find(name)
      return found !== undefined && (server === undefined || found.server === server) ? [found] : []
    })
  }

  /**
   * Fill one page with what the agent may see. Only that page is asked for; once something is hidden the rest is asked
   * for, too, so that nothing tells how much is.
   */
  function walk(
    ranked: readonly Found[],
    { offset, limit, agent }: Pick<Question, 'offset' | 'limit' | 'agent'>,
  ): { taken: Found[]; next: number | undefined; hidden: number } {
    const page = ranked.slice(offset, offset + limit)
    const seen = visibility.of(page, agent)
    if (seen.length === page.length) {
      return { taken: seen, next: offset + limit < ranked.length ? offset + limit : undefined, hidden: 0 }
    }
    const visible = visibility.of(ranked, agent)
    const from = visibility.of(ranked.slice(0, offset), agent).length
    const taken = visible.slice(from, from + limit)
    const last = taken.at(-1)
    const end = last === undefined ? ranked.length : ranked.indexOf(last) + 1
    return {
      taken,
      next: from + limit < visible.length ? end : undefined,
      hidden: ranked.length - visible.length,
    }
  }

  function missed(text: string, taken: readonly Found[], agent: Agent): string[] {
    if (text === '' || taken.some(({ tool }) => tool.publicName === text || tool.rawName === text)) return []
    const shown = new Set(taken.map(({ tool }) => tool.publicName))
    return nearest(text, agent).filter((name) => !shown.has(name))
  }

  function nearest(name: string, agent: Agent): string[] {
    const found = directory.index().nearest(name, MAX_NEAR * 4)
    return visibility
      .of(foundOf(found), agent)
      .slice(0, MAX_NEAR)
      .map(({ tool }) => tool.publicName)
  }

  /** Servers with a tool that the agent may see. */
  function visibleServers(agent: Agent): ServerHandle[] {
    return directory
      .servers()
      .filter((server) =>
        server
          .offered()
          .some(({ publicName }) => visibility.of(foundOf([publicName], server), agent).length > 0),
      )
  }

  function serverNamed(wanted: string, agent: Agent): ServerHandle {
    const servers = visibleServers(agent)
    const found =
      servers.find(({ serverName }) => serverName === wanted) ??
      servers.find(({ serverName }) => serverName.toLowerCase() === wanted.toLowerCase())
    if (found !== undefined) return found
    const names = servers.map(({ serverName }) => serverName).join(', ')
    throw new McpError(`no server "${cleanLine(wanted, 64)}"; servers: ${names === '' ? '(none)' : names}`, {
      code: 'MCP_REQUEST_REJECTED',
      server: '',
      stage: 'execution',
    })
  }

  return { page, nearest }
}
