/**
 * Shapes of tool schemas as public bug reports describe them, rewritten by hand: what servers publish, and what a
 * client broke on. `valid` are arguments that the server takes; `invalid` are arguments that it surely refuses and
 * that can be told without running patterns or negations.
 */
import type { JsonObject } from '../../src/types.ts'

export interface Shape {
  /** What is special about it. */
  readonly title: string
  /** Where such a shape was reported. */
  readonly source: string
  readonly schema: unknown
  readonly valid: readonly JsonObject[]
  readonly invalid?: readonly JsonObject[]
}

const deepSchema = (levels: number): JsonObject => {
  let schema: JsonObject = { type: 'string' }
  for (let level = 0; level < levels; level += 1) {
    schema = { type: 'object', properties: { inner: schema } }
  }
  return schema
}

/** Definitions that each refer twice to the next: 2^levels places. */
const doublingDefinitions = (levels: number, wrap: (ref: JsonObject) => JsonObject): JsonObject => {
  const definitions: JsonObject = { [`d${levels}`]: { type: 'string' } }
  for (let level = 0; level < levels; level += 1)
    definitions[`d${level}`] = wrap({ $ref: `#/$defs/d${level + 1}` })
  return definitions
}

const manyProperties = (count: number): JsonObject => {
  const properties: JsonObject = {}
  for (let index = 0; index < count; index += 1) {
    properties[`field_${index}`] = { type: ['string', 'null'], description: `The value of field ${index}.` }
  }
  return properties
}

export const SHAPES: readonly Shape[] = [
  {
    title: 'draft 04 with boolean exclusive bounds and definitions',
    source: 'Java and OpenAPI 3.0 generators',
    schema: {
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'http://example.test/search',
      type: 'object',
      definitions: { page: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 100 } },
      properties: {
        page: { $ref: '#/definitions/page' },
        ratio: { type: 'number', maximum: 1, exclusiveMaximum: true },
      },
      required: ['page'],
    },
    valid: [{ page: 1 }, { page: 100, ratio: 0.5 }],
    invalid: [{ page: 0 }, { page: 101 }, { page: 1, ratio: 1 }, {}],
  },
  {
    title: 'draft 06 with const and propertyNames',
    source: 'hand-written servers',
    schema: {
      $schema: 'http://json-schema.org/draft-06/schema#',
      type: 'object',
      properties: { kind: { const: 'issue' }, labels: { type: 'object', propertyNames: { maxLength: 3 } } },
      required: ['kind'],
    },
    valid: [{ kind: 'issue', labels: { abc: 1 } }],
    invalid: [{ kind: 'pull' }],
  },
  {
    title: 'draft 07 reference whose siblings do not count',
    source: 'zod-to-json-schema',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        from: { type: 'string', description: 'Start' },
        to: { $ref: '#/properties/from', description: 'End', maxLength: 1 },
      },
      additionalProperties: false,
    },
    valid: [{ from: 'a', to: 'much longer' }],
    invalid: [{ from: 1 }, { other: 'a' }],
  },
  {
    title: 'draft 07 conditions',
    source: 'a server that moved its root allOf into if, then and else (kenn-io/kata#365)',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { reason: { type: 'string', enum: ['done', 'duplicate'] } },
      required: ['reason'],
      if: { properties: { reason: { const: 'duplicate' } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword's name
      then: { properties: { of: { type: 'integer' } }, required: ['of'] },
      else: { properties: { evidence: { type: 'string', minLength: 1 } } },
    },
    valid: [
      { reason: 'duplicate', of: 4 },
      { reason: 'done', evidence: 'x' },
    ],
    invalid: [{ reason: 'other' }, {}],
  },
  {
    title: '2019-09 dependentRequired and $anchor',
    source: 'the specification',
    schema: {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      type: 'object',
      $defs: {
        money: {
          $anchor: 'money',
          type: 'object',
          properties: { amount: { type: 'number' } },
          required: ['amount'],
        },
      },
      properties: { price: { $ref: '#money' }, currency: { type: 'string' } },
      dependentRequired: { price: ['currency'] },
    },
    valid: [{}, { price: { amount: 1 }, currency: 'EUR' }],
    invalid: [{ price: { amount: 1 } }, { price: {}, currency: 'EUR' }],
  },
  {
    title: '2020-12 tuple, closed',
    source: 'pydantic Tuple fields; providers that want items to be an object (MoonshotAI/kimi-code#830)',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        point: {
          type: 'array',
          prefixItems: [{ type: 'number' }, { type: 'number' }],
          items: false,
          minItems: 2,
        },
      },
      required: ['point'],
    },
    valid: [{ point: [1, 2.5] }],
    invalid: [{ point: [1, 'b'] }, { point: [1, 2, 3] }, { point: [1] }],
  },
  {
    title: 'draft 07 tuple by a list of items',
    source: 'zod tuples',
    schema: {
      type: 'object',
      properties: {
        range: {
          type: 'array',
          items: [{ type: 'string' }, { type: 'integer' }],
          additionalItems: { type: 'boolean' },
        },
      },
    },
    valid: [{ range: ['a', 1] }, { range: ['a', 1, true, false] }, { range: [] }],
    invalid: [{ range: [1, 1] }, { range: ['a', 1, 'c'] }],
  },
  {
    title: '$defs and $ref of pydantic',
    source: 'anomalyco/opencode#32829, github/copilot-cli#1876',
    schema: {
      $defs: {
        Query: {
          properties: {
            text: { type: 'string', default: null, title: 'Text' },
            team_ids: { type: 'array', default: null, title: 'Team Ids' },
            limit: { type: 'integer', default: 20, title: 'Limit' },
          },
          title: 'Query',
          type: 'object',
        },
      },
      properties: { query_model: { $ref: '#/$defs/Query' } },
      required: ['query_model'],
      title: 'list_schedulesArguments',
      type: 'object',
    },
    valid: [{ query_model: {} }, { query_model: { text: 'x', team_ids: ['a', 1], limit: 3 } }],
    invalid: [{ query_model: { limit: 'many' } }, {}],
  },
  {
    title: 'a tree that refers to itself',
    source: 'anthropics/claude-code#77106, mastra-ai/mastra#15400',
    schema: {
      type: 'object',
      $defs: {
        node: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
          required: ['name'],
        },
      },
      properties: { root: { $ref: '#/$defs/node' } },
    },
    valid: [{ root: { name: 'a', children: [{ name: 'b', children: [{ name: 'c' }] }] } }],
    invalid: [{ root: { name: 'a', children: [{ name: 'b', children: [{}] }] } }],
  },
  {
    title: 'a root that refers to itself',
    source: 'Softeria/ms-365-mcp-server#571: references relative to the root',
    schema: {
      type: 'object',
      properties: {
        displayName: { type: 'string' },
        childFolders: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              childFolders: { type: 'array', items: { $ref: '#/properties/childFolders/items' } },
            },
          },
        },
        parent: { $ref: '#' },
      },
    },
    valid: [{ childFolders: [{ childFolders: [{ childFolders: [] }] }], parent: { displayName: 'x' } }],
    invalid: [{ parent: { displayName: 1 } }, { childFolders: [{ childFolders: [{ childFolders: [3] }] }] }],
  },
  {
    title: 'anyOf at the root without properties',
    source: 'makenotion/notion-mcp-server#340',
    schema: {
      type: 'object',
      anyOf: [
        {
          type: 'object',
          properties: { content: { type: 'string' } },
          required: ['content'],
          additionalProperties: false,
        },
        {
          type: 'object',
          properties: { source_url: { type: 'string', format: 'uri' } },
          required: ['source_url'],
          additionalProperties: false,
        },
      ],
    },
    valid: [{ content: 'x' }, { source_url: 'https://example.test/' }],
    invalid: [{}, { content: 'x', source_url: 'y' }],
  },
  {
    title: 'oneOf at the root without a type, told apart by a constant',
    source: 'maxkle1nz/m1nd#389, opentokenz/mcpx#28',
    schema: {
      oneOf: [
        {
          type: 'object',
          title: 'Create',
          properties: { op: { const: 'create' }, name: { type: 'string' } },
          required: ['op', 'name'],
        },
        {
          type: 'object',
          title: 'Delete',
          properties: { op: { const: 'delete' }, id: { type: 'integer' } },
          required: ['op', 'id'],
        },
      ],
    },
    valid: [
      { op: 'create', name: 'a' },
      { op: 'delete', id: 3 },
    ],
    invalid: [{ op: 'create' }, { op: 'delete', id: 'x' }, { op: 'move' }],
  },
  {
    title: 'anyOf at the root that only says what is required',
    source: 'redhat-et/ripwire#48',
    schema: {
      type: 'object',
      properties: { kind: { type: 'string' }, task: { type: 'string' } },
      anyOf: [{ required: ['kind'] }, { required: ['task'] }],
    },
    valid: [{ kind: 'a' }, { task: 'b' }, { kind: 'a', task: 'b' }],
    invalid: [{}, { kind: 1 }],
  },
  {
    title: 'a root union with a branch that is no object',
    source: 'MoonshotAI/kimi-code#2328: an id or an options object',
    schema: { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'string' }] },
    valid: [{ a: 'x' }],
    invalid: [{ a: 1 }],
  },
  {
    title: 'allOf at the root from a zod intersection',
    source: 'langfuse/langfuse#13839',
    schema: {
      allOf: [
        { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        { type: 'object', properties: { value: { type: 'number', minimum: 0 } }, required: ['value'] },
      ],
    },
    valid: [{ name: 'a', value: 1 }],
    invalid: [{ name: 'a' }, { name: 'a', value: -1 }],
  },
  {
    title: 'one union inside another at the root',
    source: 'discriminated unions of unions',
    schema: {
      type: 'object',
      properties: { dry: { type: 'boolean' } },
      oneOf: [
        {
          properties: { a: { type: 'string' } },
          required: ['a'],
          oneOf: [{ required: ['x'], properties: { x: { type: 'integer' } } }, { required: ['y'] }],
        },
        { required: ['b'], properties: { b: { enum: [1, 2] } } },
      ],
    },
    valid: [{ a: 'q', x: 1 }, { a: 'q', y: null, dry: true }, { b: 2 }],
    invalid: [{ a: 'q' }, { b: 3 }, { a: 'q', x: 'no' }],
  },
  {
    title: 'nullable by a list of types and by anyOf',
    source: 'pydantic Optional; Teamwork/mcp#404',
    schema: {
      type: 'object',
      properties: {
        name: { type: ['string', 'null'] },
        ids: { anyOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'null' }], default: null },
        tags: { type: ['array', 'null'], items: { type: ['string', 'null'] } },
      },
    },
    valid: [
      { name: null, ids: null, tags: [null, 'a'] },
      { name: 'x', ids: [1], tags: null },
    ],
    invalid: [{ name: 1 }, { ids: ['a'] }, { tags: [3] }],
  },
  {
    title: 'nullable of OpenAPI, with an enum',
    source: 'OpenAPI 3.0 bridges',
    schema: {
      type: 'object',
      properties: {
        state: { type: 'string', nullable: true, enum: ['open', 'closed'] },
        at: { type: 'string', nullable: true, format: 'date-time' },
      },
    },
    valid: [
      { state: null, at: null },
      { state: 'open', at: '2026-01-01T00:00:00Z' },
    ],
    invalid: [{ state: 'other' }, { at: 4 }],
  },
  {
    title: 'enum of mixed types, and a const of each type',
    source: 'MoonshotAI/kimi-code#830',
    schema: {
      type: 'object',
      properties: {
        size: { enum: [1, 'auto', null, true, 2.5] },
        mode: {
          oneOf: [
            { const: 'fast', title: 'Fast' },
            { const: 'slow', description: 'Takes hours' },
          ],
        },
        never: { const: null },
        preset: { enum: [{ width: 1 }, [1, 2], 'none'] },
      },
    },
    valid: [
      { size: 'auto', mode: 'fast', never: null, preset: { width: 1 } },
      { size: 2.5, preset: [1, 2] },
    ],
    invalid: [{ size: 'big' }, { mode: 'medium' }, { preset: { width: 2 } }],
  },
  {
    title: 'boolean subschemas',
    source: 'json-schema.org test shapes',
    schema: {
      type: 'object',
      properties: { any: true, none: false, list: { type: 'array', items: true } },
      additionalProperties: true,
    },
    valid: [{ any: [1], list: [1, 'a'] }, { other: 1 }],
    invalid: [{ none: 1 }],
  },
  {
    title: 'missing pieces: no type, null type, required null',
    source: 'end-4/dots-hyprland#3640, openai/codex#36441, esengine/DeepSeek-Reasonix#4086',
    schema: {
      type: null,
      properties: { path: { description: 'Where' }, flag: null, list: { type: 'array' } },
      required: null,
    },
    valid: [{}, { path: 1, flag: 'x', list: [1] }],
    invalid: [{ list: 'x' }],
  },
  {
    title: 'types of other languages and required as a boolean',
    source: 'hand-written Python servers; draft 03',
    schema: {
      type: 'OBJECT',
      properties: {
        n: { type: 'int', required: true },
        f: { type: 'float' },
        any: { type: 'any' },
        d: { type: 'dict' },
      },
    },
    valid: [{ n: 1, f: 1.5, any: null, d: {} }],
    invalid: [{ n: 'x' }],
  },
  {
    title: 'a list of types at the root, and keywords that are malformed',
    source: 'hand-written servers',
    schema: {
      type: ['object', 'null'],
      properties: {
        a: { type: 'string', enum: 'x' },
        b: { anyOf: {} },
        c: { items: 3 },
        d: 'string',
        e: { type: ['string', 'wat'] },
      },
      required: ['a', 7, 'ghost'],
    },
    valid: [{ a: 'anything', ghost: 1, b: 1, c: [1], d: 1, e: 5 }],
    invalid: [{ a: 1, ghost: 1 }, { a: 'x' }],
  },
  {
    title: 'three hundred properties',
    source: 'CRM and ERP bridges',
    schema: { type: 'object', properties: manyProperties(300) },
    valid: [{ field_7: 'x', field_299: null }],
    invalid: [{ field_7: 3 }],
  },
  {
    title: 'formats, look-behind and catastrophic patterns',
    source: 'pleaseai/shunt#558, apify-mcp-server#991',
    schema: {
      type: 'object',
      properties: {
        email: { type: 'string', format: 'email', pattern: '^(?!\\.)(?=.*@).+$' },
        slug: { type: 'string', pattern: '(?<=a+)b', maxLength: 20 },
        evil: { type: 'string', pattern: '^(a+)+$' },
        broken: { type: 'string', pattern: '[' },
        when: {
          type: 'string',
          format: 'date-time',
          contentEncoding: 'base64',
          contentMediaType: 'image/png',
        },
      },
    },
    valid: [{ email: 'a@example.test', evil: 'a'.repeat(40) }],
    invalid: [{ slug: 'x'.repeat(21) }, { evil: 3 }],
  },
  {
    title: 'maps: schemas for names that are not known',
    source: 'environment variables, HTTP headers',
    schema: {
      type: 'object',
      properties: {
        env: { type: 'object', additionalProperties: { type: 'string' } },
        headers: {
          type: 'object',
          patternProperties: { '^x-': { type: 'string' } },
          additionalProperties: false,
        },
        closed: { type: 'object', additionalProperties: false },
      },
    },
    valid: [{ env: { A: 'b' }, headers: { 'x-a': 'b' }, closed: {} }],
    invalid: [{ env: { A: 1 } }, { closed: { a: 1 } }],
  },
  {
    title: 'negations, contains, sizes',
    source: 'the specification',
    schema: {
      type: 'object',
      minProperties: 1,
      maxProperties: 3,
      properties: {
        a: {
          type: 'array',
          contains: { type: 'integer', minimum: 5 },
          uniqueItems: true,
          minItems: 1,
          maxItems: 3,
        },
        b: { type: 'integer', multipleOf: 5, not: { const: 10 } },
      },
      not: { required: ['forbidden'] },
      unevaluatedProperties: false,
      dependentSchemas: { a: { properties: { c: { type: 'string' } } } },
      dependencies: { b: ['a'], c: { required: ['a'] } },
    },
    valid: [{ a: [5, 6], b: 5, c: 'x' }],
    invalid: [{}, { a: [] }, { a: [1, 2, 3, 4] }, { b: 5 }],
  },
  {
    title: 'references that lead nowhere or elsewhere',
    source: 'SEP-2106; servers that publish OpenAPI fragments',
    schema: {
      $id: 'https://schemas.example.test/tool.json',
      type: 'object',
      properties: {
        far: { $ref: 'https://elsewhere.example.test/evil.json#/a' },
        file: { $ref: 'file:///etc/passwd' },
        gone: { $ref: '#/$defs/gone' },
        own: { $ref: 'https://schemas.example.test/tool.json#/$defs/local' },
        relative: { $ref: 'part.json' },
        odd: { $ref: '#/$defs/a%2Fb~1c' },
        proto: { $ref: '#/__proto__' },
      },
      $defs: {
        local: { type: 'integer' },
        part: { $id: 'part.json', type: 'boolean' },
        'a/b/c': { type: 'number' },
      },
    },
    valid: [{ far: 1, file: 'x', gone: null, own: 3, relative: true, odd: 1.5, proto: [] }],
    invalid: [{ own: 'x' }, { relative: 1 }, { odd: 'x' }],
  },
  {
    title: 'properties with the names of prototypes and of keywords',
    source: 'sanitisers that took properties for keywords',
    schema: JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"},"type":{"type":"string"},' +
        '"$ref":{"type":"string"},"properties":{"type":"object"},"toString":{"type":"boolean"},"items":{"type":"array","items":{"type":"string"}}},' +
        '"required":["__proto__","constructor"]}',
    ),
    valid: [
      JSON.parse('{"__proto__":"a","constructor":1,"type":"x","$ref":"y","properties":{},"toString":true}'),
    ],
    invalid: [{ constructor: 1 } as unknown as JsonObject, JSON.parse('{"__proto__":1,"constructor":1}')],
  },
  {
    title: 'texts that attack the prompt, the typings and the reader',
    source: 'tool poisoning reports; template braces in descriptions',
    schema: {
      type: 'object',
      description: 'Use {{name}} here */ ```\nimport x\n``` \u202Eevil\u202C \u{E0041}\u{E0042}',
      properties: {
        template: {
          type: 'string',
          description: 'Such as {{{user}}} or {"a":{"b":1}} \u001b[31mred\u001b[0m \u200bzero',
        },
        pick: { enum: ['{{a}}', 'b'], description: 'one' },
        hidden: { enum: ['ok', 'o\u200bk'] },
        '{{name}}': { type: 'string' },
        'a\u200bb': { type: 'string' },
        glob: { type: 'string', description: 'src/**/*.ts', default: '{{x}}', examples: ['**/*'] },
      },
    },
    valid: [{ template: '{{x}}', pick: '{{a}}', hidden: 'ok', '{{name}}': 'x' }],
    invalid: [{ pick: 'c' }],
  },
  {
    title: 'three thousand levels',
    source: 'schema bombs',
    schema: deepSchema(3_000),
    valid: [{ inner: { inner: {} } }],
    invalid: [{ inner: { inner: 1 } }],
  },
  {
    title: 'references that double',
    source: 'schema bombs',
    schema: {
      type: 'object',
      properties: { root: { $ref: '#/$defs/d0' } },
      $defs: doublingDefinitions(60, (ref) => ({ type: 'object', properties: { x: ref, y: ref } })),
    },
    valid: [{ root: { x: { y: {} } } }],
    invalid: [{ root: { x: { y: 'no' } } }],
  },
  {
    title: 'unions that double',
    source: 'schema bombs',
    schema: {
      type: 'object',
      properties: { root: { $ref: '#/$defs/d0' } },
      $defs: doublingDefinitions(40, (ref) => ({ anyOf: [ref, ref] })),
    },
    valid: [{ root: 'x' }],
  },
  {
    title: 'references to references, and to themselves',
    source: 'schema bombs',
    schema: {
      type: 'object',
      properties: {
        a: { $ref: '#/properties/b' },
        b: { $ref: '#/properties/a' },
        c: { allOf: [{ $ref: '#' }] },
      },
      allOf: [{ $ref: '#' }],
    },
    valid: [{ a: 1, b: 2, c: {} }],
  },
]
