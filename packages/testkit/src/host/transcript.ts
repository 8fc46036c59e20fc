/**
 * Owns the transcript: session events as readable lines that are the same in every run. Pure.
 */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type { SessionEvent } from '@deepseek-ai/dsh-session'

/** Replaces what varies from run to run. Each id keeps its identity: the same id gets the same number. */
export function normalizer({ folder }: { readonly folder: string }): (text: string) => string {
  const ids = new Map<string, string>()
  const numbered = (kind: string) => (found: string) => {
    const known = ids.get(found) ?? `<${kind}-${ids.size + 1}>`
    ids.set(found, known)
    return known
  }
  return (text) =>
    text
      .replaceAll(folder, '<folder>')
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, numbered('id'))
      .replaceAll(/\bsession-testkit-\d+\b/g, numbered('session'))
      .replaceAll(/\b(?:sha256[:-])?[0-9a-f]{40,}\b/g, numbered('hash'))
      .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z\b/g, '<time>')
      .replaceAll(/\b\d+(?:\.\d+)? ?ms\b/g, '<ms>')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
}

/** One line an event of interest; chunks and headers are left out. */
export function transcriptOf(events: readonly SessionEvent[], options: { readonly folder: string }): string {
  const normalize = normalizer(options)
  return events
    .flatMap((event) => lines(event))
    .map((line) => normalize(line))
    .join('\n')
}

function lines(event: SessionEvent): string[] {
  switch (event.type) {
    case 'request/header':
      return [`request (${event.data.reason}) with tools: ${toolNames(event.data.header)}`]
    case 'user/message':
      return blocks(event.data.source.kind, event.data)
    case 'assistant/message':
      return blocks('model', event.data.message)
    case 'tool/result':
      return blocks('tool', event.data.message)
    case 'turn/end':
      return [`end: ${JSON.stringify(event.data.reason)}`]
    case 'approval/asked' as SessionEvent['type']:
    case 'approval/decided' as SessionEvent['type']:
      return [`${event.type}: ${JSON.stringify(event.data)}`]
    default:
      return []
  }
}

function toolNames({ tools = [] }: { readonly tools?: readonly { readonly name: string }[] }): string {
  return tools.map(({ name }) => name).join(', ') || 'none'
}

function blocks(who: string, { content }: { readonly content: readonly ContentBlock[] }): string[] {
  return content.flatMap((block) => contentLines(who, block))
}

function contentLines(who: string, block: ContentBlock): string[] {
  switch (block.type) {
    case 'text':
      return [`${who}: ${block.text}`]
    case 'tool-call':
      return [`${who} calls ${block.name} ${block.arguments}`]
    case 'tool-result':
      return block.content.flatMap((inner) =>
        contentLines(block.isError === true ? `${who} error` : who, inner),
      )
    case 'image':
      return [`${who}: [image ${block.attachment.mediaType}]`]
    default:
      return [`${who}: [${block.type}]`]
  }
}
