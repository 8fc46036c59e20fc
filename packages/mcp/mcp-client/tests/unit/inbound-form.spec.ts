/** Owns the tests of forms as values: what a server's schema becomes, what a person is shown, what an answer is worth. */
import { fitsPattern } from '../../src/inbound/form-formats.ts'
import { describe, expect, it } from 'vitest'
import { readForm } from '../../src/inbound/form-schema.ts'
import type { Field } from '../../src/inbound/form-schema.ts'
import { fieldQuestion, introQuestion } from '../../src/inbound/form-questions.ts'
import { defaultOf, kindWords, readText } from '../../src/inbound/form-values.ts'
import { looksSecret } from '../../src/inbound/secret-names.ts'
import type { JsonObject, JsonValue } from '../../src/types.ts'

const asker = { serverName: 'kit', redact: (text: string) => text.replaceAll('s3cret', '***') }

function formOf(properties: JsonObject, required: string[] = []) {
  return readForm({ message: 'Please.', requestedSchema: { type: 'object', properties, required } })
}

function fieldOf(schema: JsonValue, isRequired = false): Field {
  const [field] = formOf({ it: schema }, isRequired ? ['it'] : []).fields
  if (field === undefined) throw new Error('no field')
  return field
}

function ask(schema: JsonValue, { required = false, fault }: { required?: boolean; fault?: string } = {}) {
  return fieldQuestion(fieldOf(schema, required), 'field-1', { fault, asker })
}

const labelsOf = (schema: JsonValue, required = false) =>
  ask(schema, { required }).item.options?.map(({ label, description }) => [label, description])

/** What typed text is for a field: the value, or the fault. */
function typed(schema: JsonValue, text: string): unknown {
  const reading = readText(fieldOf(schema), text)
  return reading.kind === 'value' ? reading.value : reading
}

const fault = (reason: string) => ({ kind: 'fault', reason })

const TITLED = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
]

describe('a form', () => {
  it('has every field of the protocol, with what it may say', () => {
    const base = { title: 'it', description: '', isRequired: false, initial: undefined, name: 'it' }
    const red = [
      { value: 'r', title: 'Red' },
      { value: 'g', title: 'Green' },
    ]
    const plain = [
      { value: 'r', title: 'r' },
      { value: 'g', title: 'g' },
    ]
    const text = {
      ...base,
      kind: 'text',
      minLength: 0,
      maxLength: Infinity,
      pattern: undefined,
      format: undefined,
    }
    const number = { ...base, kind: 'number', isInteger: false, minimum: -Infinity, maximum: Infinity }
    const choices = { ...base, kind: 'choices', choices: plain, minItems: 0, maxItems: Infinity }
    const cases: [JsonObject, object][] = [
      [{ type: 'string' }, text],
      [
        {
          type: 'string',
          title: ' Name ',
          description: 'yours',
          minLength: 1,
          maxLength: 9,
          pattern: '^a',
          format: 'email',
          default: 'a@b',
        },
        {
          ...text,
          title: 'Name',
          description: 'yours',
          minLength: 1,
          maxLength: 9,
          pattern: '^a',
          format: 'email',
          initial: 'a@b',
        },
      ],
      [{ type: 'string', format: 'ipv4', minLength: 'two', title: ' ', description: 4 }, text],
      [
        { type: 'number', minimum: 1, maximum: 2 },
        { ...number, minimum: 1, maximum: 2 },
      ],
      [{ type: 'integer' }, { ...number, isInteger: true }],
      [
        { type: 'boolean', default: true },
        { ...base, kind: 'switch', initial: true },
      ],
      [
        { type: 'string', enum: ['r', 'g', 'r'] },
        { ...base, kind: 'choice', choices: plain },
      ],
      [{ enum: ['r', 'g'] }, { ...base, kind: 'choice', choices: plain }],
      [
        { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
        { ...base, kind: 'choice', choices: red },
      ],
      [
        { type: 'string', oneOf: TITLED },
        { ...base, kind: 'choice', choices: red },
      ],
      [
        { type: 'string', anyOf: [{ const: 'r' }, { const: 'g', title: 5 }] },
        { ...base, kind: 'choice', choices: plain },
      ],
      [{ type: 'array', items: { type: 'string', enum: ['r', 'g'] } }, choices],
      [
        { type: 'array', items: { anyOf: TITLED }, minItems: 1, maxItems: 2 },
        { ...choices, choices: red, minItems: 1, maxItems: 2 },
      ],
    ]
    for (const [schema, field] of cases) expect(fieldOf(schema)).toEqual(field)
    expect(fieldOf({ type: 'boolean' }, true).isRequired).toBe(true)
  })

  it.each<[string, JsonObject, RegExp]>([
    ['no schema', {}, /must be an object schema with properties/],
    ['a schema of a list', { requestedSchema: { type: 'array', properties: {} } }, /object schema/],
    ['no properties', { requestedSchema: { type: 'object' } }, /with properties/],
  ])('is refused that has %s', (_, params, words) => {
    expect(() => readForm(params)).toThrow(words)
  })

  it.each<[string, JsonValue, RegExp]>([
    ['true', true, /property 1 of requestedSchema is no schema/],
    ['an object', { type: 'object', properties: {} }, /of a type that a form cannot have/],
    ['several types', { type: ['string', 'null'] }, /of a type that/],
    ['a list of text', { type: 'array', items: { type: 'string' } }, /a list of something else than choices/],
    ['a list of nothing', { type: 'array' }, /a list of something else/],
    [
      'a list of numbers',
      { type: 'array', items: { type: 'number', enum: [1] } },
      /a list of something else/,
    ],
    ['no choices', { enum: [] }, /no list of 1 to 1000 choices/],
    ['choices that are no list', { type: 'string', enum: 'r' }, /no list of 1 to 1000/],
    ['too many choices', { enum: Array.from({ length: 1001 }, String) }, /no list of 1 to 1000/],
    ['choices of numbers', { enum: ['1', 2] }, /a choice that is no short text/],
    ['long choices', { enum: ['x'.repeat(1025)] }, /no short text/],
    ['titles without values', { oneOf: [{ title: 'Red' }, 'g'] }, /no short text/],
  ])('is refused with a property that is %s', (_, schema, words) => {
    expect(() => fieldOf(schema)).toThrow(words)
    expect(() => fieldOf(schema)).toThrow(expect.objectContaining({ code: -32602 }))
  })

  it('is refused with more than 32 properties, and with a name without end', () => {
    const many = (count: number) =>
      formOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, { type: 'string' }])))
    expect(many(32).fields).toHaveLength(32)
    expect(() => many(33)).toThrow('requestedSchema has more than 32 properties')
    expect(() => formOf({ ['x'.repeat(1025)]: { type: 'string' } })).toThrow('too long a name')
  })
})

describe('typed text', () => {
  it.each<[JsonObject, string, unknown]>([
    [{ type: 'string' }, ' as it is ', ' as it is '],
    [{ type: 'string', minLength: 2 }, 'a', fault('must have at least 2 characters')],
    [{ type: 'string', maxLength: 2 }, 'abc', fault('must have at most 2 characters')],
    [{ type: 'string', minLength: 2, maxLength: 2 }, 'a', fault('must have exactly 2 characters')],
    [{ type: 'string', minLength: 1, maxLength: 2 }, '😀😀', '😀😀'],
    [{ type: 'string', pattern: '^a+$' }, 'aa', 'aa'],
    [{ type: 'string', pattern: '^a+$' }, 'b', fault('must fit the pattern of the server')],
    [{ type: 'string', pattern: '(' }, 'b', 'b'],
    [{ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`, `${'a'.repeat(40)}!`],
    [{ type: 'number' }, ' 3.5 ', 3.5],
    [{ type: 'number' }, '-.5e1', -5],
    [{ type: 'number' }, '0x10', fault('must be a number')],
    [{ type: 'number' }, '1e999', fault('must be a number')],
    [{ type: 'number' }, 'Infinity', fault('must be a number')],
    [{ type: 'number', minimum: 1, maximum: 9 }, '10', fault('must be a number, 1 to 9')],
    [{ type: 'number', minimum: 1 }, '0.5', fault('must be a number, at least 1')],
    [{ type: 'integer', maximum: 9 }, '10', fault('must be a whole number, at most 9')],
    [{ type: 'integer' }, '1.5', fault('must be a whole number')],
    [{ type: 'integer' }, '2.0', 2],
    [{ type: 'boolean' }, ' Yes', true],
    [{ type: 'boolean' }, 'off', false],
    [{ type: 'boolean' }, 'perhaps', fault('must be yes or no')],
    [{ type: 'string', oneOf: TITLED }, 'g', 'g'],
    [{ type: 'string', oneOf: TITLED }, ' GREEN ', 'g'],
    [{ type: 'string', oneOf: TITLED }, 'blue', fault('must be one of the choices')],
    [{ type: 'string', enum: ['a', 'A'] }, 'A', 'A'],
    [{ type: 'array', items: { anyOf: TITLED } }, 'green, r', ['g', 'r']],
    [{ type: 'array', items: { enum: ['a, b', 'a'] } }, 'a, b', ['a, b']],
    [{ type: 'array', items: { anyOf: TITLED } }, 'green, blue', fault('must be some of the choices')],
    [
      { type: 'array', items: { anyOf: TITLED }, minItems: 2 },
      'r',
      fault('must be at least 2 of the choices'),
    ],
    [
      { type: 'array', items: { anyOf: TITLED }, maxItems: 1 },
      'r,g',
      fault('must be at most 1 of the choices'),
    ],
  ])('for %j: %j', (schema, text, expected) => {
    expect(typed(schema, text)).toEqual(expected)
  })

  it.each<[string, readonly string[], readonly string[]]>([
    ['email', ['a@b', 'a.b+c@d-e.f'], ['a', '@b', 'a@', 'a@b@c', 'a b@c', 'a@b.', 'a@.b', '<a@b>']],
    ['uri', ['https://a.b/c', 'mailto:a@b', 'urn:x:y'], ['a.b', '/a', 'https://', 'https://a b/', '//a']],
    [
      'date',
      ['2026-02-28', '2024-02-29', '0001-01-01'],
      ['2026-02-29', '2026-13-01', '2026-00-01', '2026-01-00', '26-1-1', 'x'],
    ],
    [
      'date-time',
      ['2026-02-28T23:59:60Z', '2026-02-28t01:02:03.5+01:30'],
      [
        '2026-02-28',
        '2026-02-30T00:00:00Z',
        '2026-02-28T24:00:00Z',
        '2026-02-28T01:02:03',
        '2026-02-28T01:02:03ZT',
      ],
    ],
  ])('of the format %s', (format, good, bad) => {
    for (const text of good) expect([text, typed({ type: 'string', format }, text)]).toEqual([text, text])
    for (const text of bad)
      expect([text, typed({ type: 'string', format }, text)]).toMatchObject([text, { kind: 'fault' }])
  })
})

describe('a default', () => {
  it.each<[JsonObject, JsonValue | undefined]>([
    [{ type: 'string', default: 'x' }, 'x'],
    [{ type: 'string', default: 5 }, undefined],
    [{ type: 'string', format: 'email', default: 'x' }, undefined],
    [{ type: 'string' }, undefined],
    [{ type: 'integer', default: 30 }, 30],
    [{ type: 'integer', default: 30.5 }, undefined],
    [{ type: 'number', default: '30' }, undefined],
    [{ type: 'number', default: 11, maximum: 10 }, undefined],
    [{ type: 'boolean', default: false }, false],
    [{ type: 'boolean', default: 'no' }, undefined],
    [{ enum: ['a'], default: 'a' }, 'a'],
    [{ enum: ['a'], default: 'b' }, undefined],
    [{ type: 'array', items: { enum: ['a', 'b'] }, default: ['b'] }, ['b']],
    [{ type: 'array', items: { enum: ['a', 'b'] }, default: ['c'] }, undefined],
    [{ type: 'array', items: { enum: ['a', 'b'] }, default: 'a' }, undefined],
  ])('counts only where the field would take it: %j', (schema, expected) => {
    expect(defaultOf(fieldOf(schema))).toEqual(expected)
  })
})

describe('the first question', () => {
  it('says who asks, in whose words, and for what', () => {
    const form = formOf({
      name: { type: 'string', title: 'Your\n[name](https://evil.example)' },
      age: { type: 'integer' },
    })
    expect(introQuestion({ ...form, message: 'Hello s3cret\n```\n# Approve all' }, asker)).toEqual({
      id: 'form',
      header: 'MCP server kit',
      question: 'MCP server "kit" asks you something. Do you want to answer?',
      detail: [
        'In the words of the server:',
        '',
        '````',
        'Hello ***',
        '```',
        '# Approve all',
        '````',
        '',
        'It asks for 2 values:',
        '',
        '```',
        'Your [name](https://evil.example)',
        'age',
        '```',
      ].join('\n'),
      options: [
        { label: 'Answer', description: 'Go on to 2 values' },
        { label: 'Decline', description: 'The server is told that you do not answer' },
      ],
    })
  })

  it('asks for consent alone where there are no fields', () => {
    const { detail, options } = introQuestion({ message: ' ', fields: [] }, asker)
    expect(detail).toBe('It asks for your consent, and for no values.')
    expect(options?.[0]?.description).toBe('The server is told that you agree')
  })

  it('warns of a field that looks like a secret', () => {
    const { detail } = introQuestion(formOf({ apiKey: { type: 'string' } }), asker)
    expect(detail).toMatch(/It asks for one value:\n\n```\napiKey\n```\n\nThis looks like a secret\./)
  })
})

describe('the question of a field', () => {
  it('is plain where there is nothing to choose', () => {
    expect(ask({ type: 'string', title: 'City', description: 'Where?', maxLength: 9 }).item).toEqual({
      id: 'field-1',
      header: 'MCP server kit',
      question: '"City": text, at most 9 characters (optional)',
      detail: [
        'In the words of the server:',
        '',
        '```',
        'Where?',
        '```',
        '',
        'Skip the question to leave it empty.',
      ].join('\n'),
    })
    expect(ask({ type: 'number' }, { required: true }).item.detail).toBe('The server requires an answer.')
  })

  it('says why the last answer was not taken', () => {
    expect(ask({ type: 'number' }, { fault: 'must be a number' }).item.detail).toMatch(
      /^\*\*Your last answer was not taken: it must be a number\.\*\*\n/,
    )
  })

  it('warns where the name is one of a secret', () => {
    expect(ask({ type: 'string', title: 'Password' }).item.detail).toContain(
      'must not ask for one in this way',
    )
    expect(ask({ type: 'string', title: 'Passage' }).item.detail).not.toContain('secret')
  })

  it('offers the default, nothing, and the choices, ours first', () => {
    expect(labelsOf({ type: 'string', default: 'x  y' })).toEqual([
      ['Use the default', 'x y'],
      ['Leave empty', undefined],
    ])
    expect(labelsOf({ type: 'string', default: '' }, true)).toEqual([['Use the default', '(empty)']])
    expect(labelsOf({ type: 'boolean', default: false }, true)).toEqual([
      ['Use the default', 'No'],
      ['Yes', undefined],
      ['No', undefined],
    ])
    expect(labelsOf({ type: 'boolean', default: true }, true)?.[0]).toEqual(['Use the default', 'Yes'])
    expect(labelsOf({ type: 'string', oneOf: TITLED, default: 'g' }, true)).toEqual([
      ['Use the default', 'Green'],
      ['Red', 'r'],
      ['Green', 'g'],
    ])
    const list = { type: 'array', items: { enum: ['a', 'b', 'c'] }, default: ['a', 'b'] }
    expect(labelsOf(list, true)).toEqual([
      ['Use the default', 'a, b'],
      ['Leave empty', undefined],
      ['a', undefined],
      ['b', undefined],
      ['c', undefined],
    ])
    expect(labelsOf({ ...list, minItems: 1 }, true)?.[1]).toEqual(['a', undefined])
    expect(ask(list).item.multiSelect).toBe(true)
  })

  it('has labels that are all different, clean and short, whatever the server calls its choices', () => {
    const choices = ['Use the default', 'same', ' same', 's3cret', 'a\u200bb', 'x'.repeat(200), ' ']
    const labels = labelsOf({ enum: choices, default: 'same' }, true)?.map(([label]) => label)
    expect(labels).toEqual([
      'Use the default',
      'Use the default (2)',
      'same',
      'same (2)',
      '***',
      'a\\u200bb',
      `${'x'.repeat(119)}…`,
      '(empty)',
    ])
  })

  it('shows 100 choices, and takes the others typed', () => {
    const field = { enum: Array.from({ length: 102 }, (_, at) => `c${at}`) }
    const { item, read } = ask(field)
    expect(item.options).toHaveLength(100)
    expect(item.detail).toContain('2 more choices are not shown: you can type one.')
    expect(read({ id: 'field-1', selected: [], custom: 'c101' })).toEqual({ kind: 'value', value: 'c101' })
  })
})

describe('an answer', () => {
  const read = (
    schema: JsonValue,
    answer: { selected?: string[]; custom?: string } | undefined,
    required = false,
  ) => ask(schema, { required }).read(answer && { id: 'field-1', selected: [], ...answer })
  const value = (it: JsonValue) => ({ kind: 'value', value: it })
  const COLOUR = { type: 'string', oneOf: TITLED, default: 'g' }
  const COLOURS = { type: 'array', items: { anyOf: TITLED }, default: ['g'] }

  it('that gives nothing is the default, else nothing, else a fault', () => {
    for (const nothing of [undefined, {}, { custom: ' ' }]) {
      expect(read(COLOUR, nothing, true)).toEqual(value('g'))
      expect(read({ type: 'string' }, nothing)).toEqual({ kind: 'empty' })
      expect(read({ type: 'string' }, nothing, true)).toEqual(fault('is required'))
      expect(read({ type: 'array', items: { enum: ['a'] } }, nothing, true)).toEqual(value([]))
      expect(read({ type: 'array', items: { enum: ['a'] }, minItems: 1 }, nothing, true)).toEqual(
        fault('is required'),
      )
    }
  })

  it('is what stands behind the label', () => {
    expect(read(COLOUR, { selected: ['Red'] })).toEqual(value('r'))
    expect(read(COLOUR, { selected: ['Use the default'] })).toEqual(value('g'))
    expect(read(COLOUR, { selected: ['Leave empty'] })).toEqual({ kind: 'empty' })
    expect(read({ type: 'boolean' }, { selected: ['No'] })).toEqual(value(false))
    expect(read(COLOURS, { selected: ['Red', 'Green'] })).toEqual(value(['r', 'g']))
    expect(read(COLOURS, { selected: ['Leave empty'] }, true)).toEqual(value([]))
  })

  it('may be typed, beside labels too', () => {
    expect(read(COLOUR, { custom: 'red' })).toEqual(value('r'))
    expect(read(COLOURS, { selected: ['Red'], custom: 'green' })).toEqual(value(['r', 'g']))
    expect(read({ type: 'string', default: 'x' }, { custom: 'Leave empty' })).toEqual(value('Leave empty'))
  })

  it('of a client with labels of its own is read as typed', () => {
    expect(read(COLOUR, { selected: ['red'] })).toEqual(value('r'))
    expect(read(COLOUR, { selected: ['blue'], custom: 'red' })).toEqual(value('r'))
  })
})

describe('the words for what a field takes', () => {
  it.each<[JsonObject, string]>([
    [{ type: 'string' }, 'text'],
    [{ type: 'string', minLength: 3, maxLength: 9 }, 'text, 3 to 9 characters'],
    [{ type: 'string', format: 'email' }, 'an email address'],
    [{ type: 'boolean' }, 'yes or no'],
    [{ enum: ['a'] }, 'one of the choices'],
    [{ type: 'array', items: { enum: ['a'] } }, 'any of the choices'],
    [{ type: 'array', items: { enum: ['a'] }, minItems: 1, maxItems: 3 }, '1 to 3 of the choices'],
  ])('%j', (schema, words) => {
    expect(kindWords(fieldOf(schema))).toBe(words)
  })
})

describe('a name', () => {
  it.each([
    'password',
    'dbPassword',
    'API key',
    'api_key',
    'APIKey',
    'accessToken',
    'token2',
    'client-secret',
    'SSN',
    'Card number',
    'PIN',
  ])('of a secret: %s', (name) => {
    expect(looksSecret({ name, title: 'x' })).toBe(true)
    expect(looksSecret({ name: 'x', title: name })).toBe(true)
  })

  it.each(['name', 'maxTokens', 'keyboard', 'pink', 'passage', 'secretary', 'primary key'])(
    'of none: %s',
    (name) => {
      expect(looksSecret({ name, title: name })).toBe(false)
    },
  )
})

describe('a pattern of a server', () => {
  it('that backtracks for ever is given up soon, and does not keep a person from answering', () => {
    const start = performance.now()
    expect(fitsPattern('^(a+)+$', `${'a'.repeat(40)}!`)).toBe(true)
    expect(performance.now() - start).toBeLessThan(5_000)
    expect(fitsPattern('^a+$', 'b')).toBe(false)
  })

  it('holds the host up for little, in each field of a form too', () => {
    const evil = { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(40)}!` }
    const properties = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`field-${at}`, evil]))
    const { fields } = readForm({ requestedSchema: { type: 'object', properties } })
    const start = performance.now()
    for (const field of fields) expect(defaultOf(field)).toBe(evil.default)
    expect(performance.now() - start).toBeLessThan(2_000)
  })
})
