/**
 * Owns which resources of one server are watched for which agents, and which of them changed since an agent read them.
 * Agents are held weakly: one that is gone watches nothing.
 */
import { cleanLine } from '../text.ts'

/** Resources of one server that are watched at once. */
export const MAX_WATCHED = 64
/** Changed resources that an agent is told of at once. */
const MAX_TOLD = 20
const MAX_URI_CHARS = 512

/** What may be gone when it is looked for. */
export type Ref = Pick<WeakRef<object>, 'deref'>

interface Watcher {
  readonly agent: Ref
  hasNews: boolean
}

export class Watches {
  private readonly byUri = new Map<string, Watcher[]>()
  private readonly refTo: (agent: object) => Ref

  /** @param refTo default: a weak reference */
  constructor(refTo: (agent: object) => Ref = (agent) => new WeakRef(agent)) {
    this.refTo = refTo
  }

  /** @returns `full` where too many are watched already */
  add(uri: string, agent: object): 'added' | 'known' | 'full' {
    this.prune()
    const watchers = this.byUri.get(uri) ?? []
    if (watchers.some((watcher) => watcher.agent.deref() === agent)) return 'known'
    if (!this.byUri.has(uri) && this.byUri.size >= MAX_WATCHED) return 'full'
    this.byUri.set(uri, [...watchers, { agent: this.refTo(agent), hasNews: false }])
    return 'added'
  }

  /** @returns whether the agent watched it */
  delete(uri: string, agent: object): boolean {
    const watchers = this.byUri.get(uri) ?? []
    const rest = watchers.filter((watcher) => watcher.agent.deref() !== agent)
    if (rest.length === 0) this.byUri.delete(uri)
    else this.byUri.set(uri, rest)
    return rest.length < watchers.length
  }

  /**
   * The agent reads it now: what changed before is no news.
   * @returns whether there was any
   */
  read(uri: string, agent: object): boolean {
    let hadNews = false
    for (const watcher of this.byUri.get(uri) ?? []) {
      if (watcher.agent.deref() !== agent) continue
      hadNews ||= watcher.hasNews
      watcher.hasNews = false
    }
    return hadNews
  }

  /** A server may name a part of what is watched. Without an agent: for all that watch it. */
  updated(uri: string, agent?: object): void {
    for (const [watched, watchers] of this.byUri) {
      if (uri !== watched && !uri.startsWith(watched.endsWith('/') ? watched : `${watched}/`)) continue
      for (const watcher of watchers)
        if (agent === undefined || watcher.agent.deref() === agent) watcher.hasNews = true
    }
  }

  /** All that are watched for anybody. */
  uris(): string[] {
    this.prune()
    return [...this.byUri.keys()]
  }

  /** URIs that changed since this agent read them, as they may be shown in a prompt; capped. */
  newsFor(agent: object | undefined): string[] {
    if (agent === undefined) return []
    return [...this.byUri]
      .filter(([, watchers]) =>
        watchers.some((watcher) => watcher.hasNews && watcher.agent.deref() === agent),
      )
      .slice(0, MAX_TOLD)
      .map(([uri]) => promptUri(uri))
  }

  private prune(): void {
    for (const [uri, watchers] of this.byUri) {
      const living = watchers.filter(({ agent }) => agent.deref() !== undefined)
      if (living.length === 0) this.byUri.delete(uri)
      else if (living.length < watchers.length) this.byUri.set(uri, living)
    }
  }
}

/** One line, and no variable of the prompt's template. */
function promptUri(uri: string): string {
  return cleanLine(uri, MAX_URI_CHARS).replaceAll('{', '%7B').replaceAll('}', '%7D')
}
