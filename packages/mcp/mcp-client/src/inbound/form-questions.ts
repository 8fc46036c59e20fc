/**
 * Owns the questions of a form, as the host's question service shows them, and the way back from an answer to a value.
 * Pure. A client shows `question` and labels as plain text and `detail` as Markdown; it lets a person type where there are
 * options too, and skip any question, which is an answer without a selection.
 */
import type { AskUserQuestionAnswerItem, AskUserQuestionItem } from '@deepseek-ai/dsh-user-questions'
import { fenceLines } from '../marked.ts'
import type { JsonValue } from '../types.ts'
import type { Choice, Field, Form } from './form-schema.ts'
import { defaultOf, kindWords, readChoices, readText } from './form-values.ts'
import type { Reading } from './form-values.ts'
import { headerOf, labelOf, namedBy, quoted } from './question-words.ts'
import type { Asker } from './question-words.ts'
import { looksSecret } from './secret-names.ts'

export const ANSWER = 'Answer'
export const DECLINE = 'Decline'
const USE_DEFAULT = 'Use the default'
const LEAVE_EMPTY = 'Leave empty'
const MAX_MESSAGE_CHARS = 4_096
const MAX_DESCRIPTION_CHARS = 1_024
/** Choices beyond can be typed. */
const MAX_OPTIONS = 100

const SECRET_WARNING =
  'This looks like a secret. A server must not ask for one in this way: what you enter goes to the server as it is. ' +
  'Skip the question or close the dialogue if you do not trust it with that.'

export interface FieldQuestion {
  readonly item: AskUserQuestionItem
  read(answer: AskUserQuestionAnswerItem | undefined): Reading
}

/** The first question: whether to answer at all. */
export function introQuestion({ message, fields }: Form, asker: Asker): AskUserQuestionItem {
  const count = fields.length === 1 ? 'one value' : `${fields.length} values`
  const names = fields.map(({ title }) => labelOf(title, asker)).join('\n')
  const wants =
    fields.length === 0
      ? ['It asks for your consent, and for no values.']
      : [`It asks for ${count}:`, '', ...fenceLines(names, MAX_MESSAGE_CHARS)]
  const warning = fields.some(looksSecret) ? ['', SECRET_WARNING] : []
  return {
    id: 'form',
    header: headerOf(asker),
    question: `MCP server "${asker.serverName}" asks you something. Do you want to answer?`,
    detail: [...quoted(message, MAX_MESSAGE_CHARS, asker), ...wants, ...warning].join('\n'),
    options: [
      {
        label: ANSWER,
        description: fields.length === 0 ? 'The server is told that you agree' : `Go on to ${count}`,
      },
      { label: DECLINE, description: 'The server is told that you do not answer' },
    ],
  }
}

/** One field. `fault` is why the last answer was not taken. */
export function fieldQuestion(
  field: Field,
  id: string,
  { fault, asker }: { readonly fault: string | undefined; readonly asker: Asker },
): FieldQuestion {
  const initial = defaultOf(field)
  const offered = offer(field, initial, asker)
  const need = field.isRequired ? 'required' : 'optional'
  const options = [...offered.values()].map(({ option }) => option)
  return {
    item: {
      id,
      header: headerOf(asker),
      question: `${namedBy(field.title, asker)}: ${kindWords(field)} (${need})`,
      detail: [
        ...(fault === undefined ? [] : [`**Your last answer was not taken: it ${fault}.**`, '']),
        ...quoted(field.description, MAX_DESCRIPTION_CHARS, asker),
        skipWords(field, initial),
        ...hiddenWords(field),
        ...(looksSecret(field) ? ['', SECRET_WARNING] : []),
      ].join('\n'),
      ...(options.length === 0 ? {} : { options }),
      ...(field.kind === 'choices' ? { multiSelect: true } : {}),
    },
    read: (answer) => read(field, initial, offered, answer),
  }
}

/** What stands behind a label. */
type Meaning =
  | { readonly kind: 'default' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'value'; readonly value: JsonValue }

interface Offered {
  readonly option: { readonly label: string; readonly description?: string }
  readonly meaning: Meaning
}

/** The options by their labels, ours first: no choice of the server can take the name of one. */
function offer(field: Field, initial: JsonValue | undefined, asker: Asker): ReadonlyMap<string, Offered> {
  const offered = new Map<string, Offered>()
  const add = (label: string, meaning: Meaning, description?: string): void => {
    let free = label
    for (let count = 2; offered.has(free); count += 1) free = `${label} (${count})`
    const option = description === undefined ? { label: free } : { label: free, description }
    offered.set(free, { option, meaning })
  }
  if (initial !== undefined) {
    add(USE_DEFAULT, { kind: 'default' }, labelOf(valueWords(field, initial), asker))
    if (mayBeEmpty(field)) add(LEAVE_EMPTY, { kind: 'empty' })
  }
  if (field.kind === 'switch') {
    add('Yes', { kind: 'value', value: true })
    add('No', { kind: 'value', value: false })
  }
  if (field.kind === 'choice' || field.kind === 'choices')
    for (const { value, title } of field.choices.slice(0, MAX_OPTIONS))
      add(
        labelOf(title, asker),
        { kind: 'value', value },
        title === value ? undefined : labelOf(value, asker),
      )
  return offered
}

/** A required list may be sent without items, where the server asks for none. */
function mayBeEmpty(field: Field): boolean {
  return !field.isRequired || (field.kind === 'choices' && field.minItems <= 0)
}

function read(
  field: Field,
  initial: JsonValue | undefined,
  offered: ReadonlyMap<string, Offered>,
  answer: AskUserQuestionAnswerItem | undefined,
): Reading {
  const values: JsonValue[] = []
  let typed = answer?.custom ?? ''
  for (const label of answer?.selected ?? []) {
    const meaning = offered.get(label)?.meaning
    switch (meaning?.kind) {
      case undefined:
        typed = typed === '' ? label : typed // a client of its own kind: what it calls a selection is what was typed
        break
      case 'value':
        values.push(meaning.value)
        break
      case 'default':
        return { kind: 'value', value: initial as JsonValue }
      case 'empty':
        return emptyOf(field)
    }
  }
  if (values.length === 0 && typed.trim() === '')
    return initial === undefined ? emptyOf(field) : { kind: 'value', value: initial }
  if (field.kind === 'choices') return readChoices(field, values as string[], typed)
  const [value] = values
  return value === undefined ? readText(field, typed) : { kind: 'value', value }
}

function emptyOf(field: Field): Reading {
  if (!field.isRequired) return { kind: 'empty' }
  return field.kind === 'choices' && field.minItems <= 0
    ? { kind: 'value', value: [] }
    : { kind: 'fault', reason: 'is required' }
}

function skipWords(field: Field, initial: JsonValue | undefined): string {
  if (initial !== undefined) return 'Skip the question to take the default.'
  return mayBeEmpty(field) ? 'Skip the question to leave it empty.' : 'The server requires an answer.'
}

function hiddenWords(field: Field): string[] {
  if (field.kind !== 'choice' && field.kind !== 'choices') return []
  const rest = field.choices.length - MAX_OPTIONS
  return rest > 0 ? [`${rest} more choices are not shown: you can type one.`] : []
}

/** A default in the words of the options. */
function valueWords(field: Field, value: JsonValue): string {
  const titleOf = (item: JsonValue, choices: readonly Choice[]): string =>
    String(choices.find((choice) => choice.value === item)?.title)
  switch (field.kind) {
    case 'switch':
      return value === true ? 'Yes' : 'No'
    case 'choice':
      return titleOf(value, field.choices)
    case 'choices':
      return (value as JsonValue[]).map((item) => titleOf(item, field.choices)).join(', ')
    default:
      return String(value)
  }
}
