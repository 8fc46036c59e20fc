/** Owns what of a request a provider's cache is keyed by: the system prompt and the tool definitions, as bytes. */
import { runTurn } from '@dsh-mcp/testkit'
import type { Host } from '@dsh-mcp/testkit'

export interface Prefix {
  /** System prompt and tool definitions as JSON. */
  readonly bytes: string
  /** Lines of the system prompt. */
  readonly lines: readonly string[]
  /** The JSON of each tool definition, by name and in order. */
  readonly tools: ReadonlyMap<string, string>
}

/** The prefix of the first request of a full turn, which must end well. */
export async function prefixOf(host: Host): Promise<Prefix> {
  const { requests, transcript } = await runTurn(host, { script: [{ text: 'done' }] })
  const [request] = requests
  if (request === undefined || !transcript.endsWith('end: {"kind":"completed"}')) throw new Error(transcript)
  const { system, tools = [] } = request
  return {
    bytes: JSON.stringify({ system, tools }).replaceAll(host.folder, '<folder>'),
    lines: (JSON.stringify(system) ?? '').split(String.raw`\n`),
    tools: new Map(tools.map((tool) => [tool.name, JSON.stringify(tool)])),
  }
}

/** How the tool definitions differ: names that came, went, or whose definition is another. */
export function differences(before: Prefix, after: Prefix): string[] {
  return [
    ...[...before.tools.keys()].filter((name) => !after.tools.has(name)).map((name) => `-${name}`),
    ...[...after.tools]
      .filter(([name, json]) => before.tools.get(name) !== json)
      .map(([name]) => (before.tools.has(name) ? `~${name}` : `+${name}`)),
  ]
}

/** The lines of the system prompt that only one of the two has. */
export function otherLines(before: Prefix, after: Prefix): string[] {
  const [old, now] = [new Set(before.lines), new Set(after.lines)]
  return [...[...old].filter((line) => !now.has(line)), ...[...now].filter((line) => !old.has(line))]
}
