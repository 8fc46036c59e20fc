/**
 * Owns one elicitation from the server's request to its result: the question whether to answer, the form in rounds, or the
 * address. A chosen refusal declines; a dialogue that was closed, withdrawn or left alone cancels; where nobody can be
 * asked it declines at once.
 */
import type { Asking, JsonObject, JsonValue } from '../types.ts'
import { DECLINE_ADDRESS, DONE, addressQuestion, readAddress } from './address.ts'
import { NobodyToAsk } from './dialogue.ts'
import type { Answers, Ask, Dialogue } from './dialogue.ts'
import { ANSWER, DECLINE, fieldQuestion, introQuestion } from './form-questions.ts'
import { readForm } from './form-schema.ts'
import type { Form } from './form-schema.ts'
import type { Say } from './host.ts'
import type { Asker } from './question-words.ts'
import { invalid } from './refusal.ts'

/** A form with faults is asked again; a person who cannot please it three times is let go. */
const MAX_ROUNDS = 3

export interface ElicitationOptions {
  readonly asker: Asker
  readonly dialogue: Dialogue
  readonly say: Say
}

type Outcome =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }

/**
 * The result of one elicitation/create.
 * @throws InboundRefusal for what is no elicitation
 */
export async function elicit(
  params: JsonObject,
  asking: Asking,
  { asker, dialogue, say }: ElicitationOptions,
): Promise<JsonObject> {
  const request = requestOf(params, asker)
  let outcome: Outcome
  try {
    outcome = await dialogue.run(asking, request)
  } catch (error) {
    if (!(error instanceof NobodyToAsk)) throw error
    say('debug', `elicitation: declined, nobody can be asked: ${error.message}`)
    return { action: 'decline' }
  }
  say('info', `elicitation: ${WORDS[outcome.action]}`)
  return { ...outcome }
}

const WORDS: Readonly<Record<Outcome['action'], string>> = {
  accept: 'answered by the person',
  decline: 'declined by the person',
  cancel: 'closed without an answer',
}

function requestOf(params: JsonObject, asker: Asker): (ask: Ask) => Promise<Outcome> {
  switch (params['mode'] ?? 'form') {
    case 'form': {
      const form = readForm(params)
      return (ask) => fillIn(form, ask, asker)
    }
    case 'url': {
      const question = addressQuestion(readAddress(params), params['message'], asker)
      return async (ask) => decided(await ask([question]), { yes: DONE, no: DECLINE_ADDRESS })
    }
    default:
      throw invalid('mode must be form or url')
  }
}

async function fillIn(form: Form, ask: Ask, asker: Asker): Promise<Outcome> {
  const consent = decided(await ask([introQuestion(form, asker)]), { yes: ANSWER, no: DECLINE })
  if (consent.action !== 'accept') return consent
  const content = new Map<string, JsonValue>()
  /** What is still to be answered, by position, and why it was not taken. */
  let open = new Map<number, string | undefined>(form.fields.map((_, at) => [at, undefined]))
  for (let round = 0; open.size > 0; round += 1) {
    if (round === MAX_ROUNDS) return { action: 'cancel' }
    const questions = form.fields.flatMap((field, at) => {
      const question = fieldQuestion(field, `field-${at + 1}`, { fault: open.get(at), asker })
      return open.has(at) ? [{ at, name: field.name, ...question }] : []
    })
    const answers = await ask(questions.map(({ item }) => item))
    if (answers === undefined) return { action: 'cancel' }
    open = new Map()
    for (const { at, name, item, read } of questions) {
      const reading = read(answers.get(item.id))
      if (reading.kind === 'value') content.set(name, reading.value)
      else if (reading.kind === 'fault') open.set(at, reading.reason)
    }
  }
  // In the order of the form, and as own properties, whatever their names.
  const names = form.fields.map(({ name }) => name).filter((name) => content.has(name))
  return {
    action: 'accept',
    content: Object.fromEntries(names.map((name) => [name, content.get(name) as JsonValue])),
  }
}

/** Of a question with two options. Anything but one of them, a skipped question too, is no answer. */
function decided(answers: Answers | undefined, { yes, no }: { yes: string; no: string }): Outcome {
  const [answer] = answers?.values() ?? []
  const said = (answer?.selected[0] ?? answer?.custom ?? '').trim().toLowerCase()
  if (said === yes.toLowerCase()) return { action: 'accept' }
  return said === no.toLowerCase() ? { action: 'decline' } : { action: 'cancel' }
}
