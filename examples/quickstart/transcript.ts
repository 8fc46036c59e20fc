/** Owns how a session's events read as a conversation: who says what, in lines. */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import type {} from '@deepseek-ai/dsh-tools'
import { cut, inline, size } from './report.ts'
import type { Row } from './report.ts'

const LINE = 200

/** The lines of one event; none for what a reader does not need. */
export function rowsOf(event: SessionEvent): Row[] {
  switch (event.type) {
    case 'user/message': {
      const { content, source } = event.data as SessionEvent<'user/message'>['data']
      return [[source.kind === 'user' ? 'user' : 'forwarded', shown(content)]]
    }
    case 'assistant/message': {
      const { message } = event.data as SessionEvent<'assistant/message'>['data']
      return message.content.flatMap(ofAssistant)
    }
    case 'tool/code-dispatch': {
      const { name, content } = event.data as SessionEvent<'tool/code-dispatch'>['data']
      return [['  in code', `${name}: ${shown(content)}`]]
    }
    case 'tool/result': {
      const { message } = event.data as SessionEvent<'tool/result'>['data']
      return message.content.flatMap((block) => (block.type === 'tool-result' ? [ofResult(block)] : []))
    }
    default:
      return []
  }
}

/** Blocks as one line of at most LINE characters; an image as its size, type and place. */
export function shown(content: readonly ContentBlock[]): string {
  return cut(content.map(ofBlock).join(' '), LINE)
}

function ofAssistant(block: ContentBlock): Row[] {
  if (block.type === 'text') return [['model', cut(block.text, LINE)]]
  if (block.type !== 'tool-call') return []
  const input = argumentsOf(block.arguments)
  if (block.name !== 'run_code') return [['model', `calls ${block.name} ${cut(inline(input), LINE)}`]]
  return [
    ['model', 'calls run_code'],
    ...String(input.code ?? '')
      .split('\n')
      .map((line): Row => ['', line]),
  ]
}

/** Parsed arguments; those that a model broke off half-way as they are. */
function argumentsOf(json: string): { readonly code?: string } {
  try {
    return JSON.parse(json) as { code?: string }
  } catch {
    return { code: json }
  }
}

function ofResult(block: Extract<ContentBlock, { type: 'tool-result' }>): Row {
  return [block.isError === true ? 'error' : 'result', shown(block.content)]
}

function ofBlock(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type !== 'image') return `[${block.type}]`
  const { mediaType, width, height, bytes } = block.attachment
  return `[${mediaType} ${width}x${height}, ${size(bytes)}]`
}
