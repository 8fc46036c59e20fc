/**
 * Owns what becomes of the messages of a prompt: the content of one user turn, by the projection that shows results. Who
 * is quoted stands before each part where it is not simply the user.
 */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { isJsonObject } from '../json.ts'
import { readBlocks } from '../projection/blocks.ts'
import { stageMessages } from '../projection/stage.ts'
import type { StageContext } from '../projection/stage.ts'
import { projectResult } from '../projection/result.ts'
import type { JsonObject, JsonValue } from '../types.ts'

/** Messages of one prompt that are taken. */
const MAX_MESSAGES = 500

export interface Turn {
  readonly content: ContentBlock[]
  readonly messages: number
}

export interface TurnContext extends StageContext {
  /** Public name of the tool that reads a resource link, where there is one. */
  readonly linkReader?: (() => string | undefined) | undefined
}

/** The turn that a result of prompts/get makes; undefined where it has nothing to say. */
export async function turnOf(
  result: JsonObject,
  { linkReader, ...context }: TurnContext,
): Promise<Turn | undefined> {
  const messages = messagesOf(result)
  if (!messages.some(({ blocks }) => saysAnything(blocks))) return undefined
  const source = { toolName: context.exec.name, outputSchema: undefined, linkReader: () => linkReader?.() }
  const projection = projectResult({ content: blocksOf(messages) }, source)
  return { content: await stageMessages(projection, source, context), messages: messages.length }
}

interface Message {
  readonly role: 'user' | 'assistant'
  readonly blocks: readonly JsonValue[]
}

/** One content block to a message by the protocol; a list of them is what some servers send. */
function messagesOf({ messages }: JsonObject): readonly Message[] {
  if (!Array.isArray(messages)) return []
  return messages.slice(0, MAX_MESSAGES).flatMap((message): Message[] => {
    if (!isJsonObject(message)) return []
    const { role, content } = message
    const blocks = Array.isArray(content) ? content : content === undefined ? [] : [content]
    return blocks.length === 0 ? [] : [{ role: role === 'assistant' ? 'assistant' : 'user', blocks }]
  })
}

function saysAnything(blocks: readonly JsonValue[]): boolean {
  return readBlocks(blocks).parts.some((part) => part.kind !== 'text' || part.text.trim() !== '')
}

/** Marked as soon as anybody but the user speaks: the model must not take an example for its own words. */
function blocksOf(messages: readonly Message[]): JsonValue[] {
  const isPlain = messages.every(({ role }) => role === 'user')
  return messages.flatMap(({ role, blocks }) => [
    ...(isPlain ? [] : [{ type: 'text', text: `[${role}]` }]),
    ...blocks,
  ])
}
