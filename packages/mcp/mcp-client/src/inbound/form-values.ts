/** Owns what a field of a form takes: whether a value fits, and which value a typed text is. Pure. */
import type { JsonValue } from '../types.ts'
import { FORMATS, fitsPattern } from './form-formats.ts'
import type { Choice, ChoicesField, Field, NumberField, TextField } from './form-schema.ts'

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const YES: ReadonlySet<string> = new Set(['yes', 'y', 'true', 'on', '1'])
const NO: ReadonlySet<string> = new Set(['no', 'n', 'false', 'off', '0'])

/** What became of an answer. A fault is a sentence for the person, without a full stop. */
export type Reading =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'empty' }
  | { readonly kind: 'fault'; readonly reason: string }

/** The default of a field, where it is one that the field would take. */
export function defaultOf(field: Field): JsonValue | undefined {
  const { initial } = field
  return initial === undefined || faultOf(field, initial) !== undefined ? undefined : initial
}

/** A text that a person typed, as the value that it is for the field. */
export function readText(field: Field, text: string): Reading {
  switch (field.kind) {
    case 'text':
      return checked(field, text)
    case 'number': {
      const typed = text.trim()
      return NUMBER.test(typed) ? checked(field, Number(typed)) : fault(`must be ${numberWords(field)}`)
    }
    case 'switch': {
      const word = text.trim().toLowerCase()
      if (YES.has(word)) return { kind: 'value', value: true }
      return NO.has(word) ? { kind: 'value', value: false } : fault('must be yes or no')
    }
    case 'choice': {
      const choice = choiceOf(field.choices, text)
      return choice === undefined
        ? fault('must be one of the choices')
        : { kind: 'value', value: choice.value }
    }
    case 'choices':
      return readChoices(field, [], text)
  }
}

/** Chosen values, and others that were typed between commas or as one. */
export function readChoices(field: ChoicesField, chosen: readonly string[], text: string): Reading {
  const one = choiceOf(field.choices, text)
  const typed = text.trim() === '' ? [] : one !== undefined ? [text] : text.split(/[,\n]/)
  const values = new Set(chosen)
  for (const part of typed) {
    const choice = choiceOf(field.choices, part)
    if (choice === undefined) return fault('must be some of the choices')
    values.add(choice.value)
  }
  return checked(field, [...values])
}

/** By its value first: a title is not bound to be another than a value. */
function choiceOf(choices: readonly Choice[], text: string): Choice | undefined {
  const word = text.trim().toLowerCase()
  return (
    choices.find(({ value }) => value === text) ??
    choices.find(({ value, title }) => value.toLowerCase() === word || title.toLowerCase() === word)
  )
}

function checked(field: Field, value: JsonValue): Reading {
  const reason = faultOf(field, value)
  return reason === undefined ? { kind: 'value', value } : fault(reason)
}

function fault(reason: string): Reading {
  return { kind: 'fault', reason }
}

/** Why a field does not take a value; undefined where it does. */
function faultOf(field: Field, value: JsonValue): string | undefined {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? textFault(field, value) : 'must be text'
    case 'number': {
      const { isInteger, minimum, maximum } = field
      const fits = typeof value === 'number' && value >= minimum && value <= maximum
      const isKind = isInteger ? Number.isSafeInteger(value) : Number.isFinite(value)
      return fits && isKind ? undefined : `must be ${numberWords(field)}`
    }
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'must be yes or no'
    case 'choice':
      return field.choices.some((choice) => choice.value === value) ? undefined : 'must be one of the choices'
    case 'choices': {
      const { choices, minItems, maxItems } = field
      if (!Array.isArray(value) || !value.every((item) => choices.some((choice) => choice.value === item)))
        return 'must be some of the choices'
      return value.length >= minItems && value.length <= maxItems ? undefined : `must be ${itemWords(field)}`
    }
  }
}

function textFault(field: TextField, value: string): string | undefined {
  const { minLength, maxLength, pattern, format } = field
  const length = [...value].length
  if (length < minLength || length > maxLength) return `must have ${lengthWords(field)}`
  if (format !== undefined && !FORMATS[format].fits(value)) return `must be ${FORMATS[format].words}`
  return pattern === undefined || fitsPattern(pattern, value)
    ? undefined
    : 'must fit the pattern of the server'
}

/** What a field takes, for the person who fills it in. */
export function kindWords(field: Field): string {
  switch (field.kind) {
    case 'text': {
      const what = field.format === undefined ? 'text' : FORMATS[field.format].words
      const length = lengthWords(field)
      return length === '' ? what : `${what}, ${length}`
    }
    case 'number':
      return numberWords(field)
    case 'switch':
      return 'yes or no'
    case 'choice':
      return 'one of the choices'
    case 'choices':
      return itemWords(field)
  }
}

function numberWords({ isInteger, minimum, maximum }: NumberField): string {
  const range = rangeWords(minimum, maximum)
  return `${isInteger ? 'a whole number' : 'a number'}${range === '' ? '' : `, ${range}`}`
}

function lengthWords({ minLength, maxLength }: TextField): string {
  const range = countWords(minLength, maxLength)
  return range === '' ? '' : `${range} characters`
}

function itemWords({ minItems, maxItems }: ChoicesField): string {
  return `${countWords(minItems, maxItems) || 'any'} of the choices`
}

/** At least none is no bound. */
function countWords(from: number, to: number): string {
  return rangeWords(from <= 0 ? -Infinity : from, to)
}

function rangeWords(from: number, to: number): string {
  if (from === -Infinity) return to === Infinity ? '' : `at most ${to}`
  if (to === Infinity) return `at least ${from}`
  return from === to ? `exactly ${from}` : `${from} to ${to}`
}
