/** Types of JSON as it travels. No runtime code. */
import type { JsonValue } from '@deepseek-ai/dsh-tools'

export type { JsonValue }
export type JsonObject = { [key: string]: JsonValue }
