import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { Validator } from '@cfworker/json-schema';
import { z } from 'zod';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import { WrittenDelegation } from '../../../contracts/delegation.ts';
import { AskedQuestion } from '../../../contracts/question.ts';
import { conform, generateInstance } from '../../../rehearsal/generator.ts';
import { WaveDecision, WrittenPlan } from '../../../contracts/wave-plan.ts';

type Schema = Record<string, unknown>;

const object = (properties: Schema, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const list = (items: unknown, more: Schema = {}): Schema => ({ type: 'array', items, ...more });

/** Written as JSON, because an object with `then` looks like a promise to the linter. */
const ifThenElse: Schema = {
  ...JSON.parse(`{
    "if": { "properties": { "kind": { "const": "a" } } },
    "then": { "properties": { "x": { "type": "string" } }, "required": ["x"] },
    "else": { "properties": { "y": { "type": "string" } }, "required": ["y"] }
  }`),
};

const schemas: Record<string, Schema> = {
  anything: {},
  'a string': { type: 'string' },
  'a short string': { type: 'string', maxLength: 3 },
  'a long string': { type: 'string', minLength: 500 },
  'a nullable string': { type: ['null', 'string'], minLength: 1 },
  null: { type: 'null' },
  boolean: { type: 'boolean' },
  'an integer between': { type: 'integer', minimum: 7, maximum: 7 },
  'an integer strictly between': { type: 'integer', exclusiveMinimum: 4, exclusiveMaximum: 6 },
  'a negative number': { type: 'number', exclusiveMaximum: 0 },
  'a fraction': { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 },
  'a multiple': { type: 'number', minimum: 10, multipleOf: 7 },
  'a negative multiple': { type: 'integer', maximum: -3, multipleOf: 4 },
  enum: { enum: ['a', 1, null] },
  const: { const: { a: [1] } },
  'a list with a minimum': list({ type: 'string' }, { minItems: 4 }),
  'an empty list': list({ type: 'string' }, { maxItems: 0 }),
  'a list of unlike strings': list({ type: 'string' }, { minItems: 12, uniqueItems: true }),
  'a list of unlike numbers': list(
    { type: 'number', minimum: 5 },
    { minItems: 3, uniqueItems: true },
  ),
  'a list of unlike integers': list(
    { type: 'integer', maximum: 2 },
    { minItems: 5, uniqueItems: true },
  ),
  'a list of unlike choices': list({ enum: ['x', 'y', 'z'] }, { minItems: 3, uniqueItems: true }),
  'a list that contains': list({ type: ['number', 'string'] }, { contains: { const: 5 } }),
  'a tuple': {
    type: 'array',
    prefixItems: [{ type: 'number' }, { type: 'string' }],
    items: false,
    minItems: 2,
  },
  'an object': object({ a: { type: 'string' }, b: object({ c: { type: 'number' } }) }),
  'a map': { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 3 },
  'required without properties': { required: ['a', 'b'] },
  'few properties': {
    type: 'object',
    properties: { a: {}, b: {}, c: {} },
    required: ['c'],
    maxProperties: 1,
  },
  'a forbidden property': { type: 'object', properties: { a: false, b: { type: 'string' } } },
  anyOf: { anyOf: [{ type: 'null' }, { type: 'string', format: 'date' }] },
  'oneOf with a tag': {
    oneOf: [
      object({ kind: { const: 'a' }, x: { type: 'number' } }),
      object({ kind: { const: 'b' } }),
    ],
  },
  'oneOf that overlaps': { oneOf: [{ type: 'integer' }, { type: 'number', minimum: 100 }] },
  allOf: {
    allOf: [
      { type: 'object', properties: { a: { type: 'number', minimum: 3 } }, required: ['a'] },
      {
        properties: { a: { type: 'integer', minimum: 5 }, b: { type: 'string' } },
        required: ['b'],
      },
    ],
  },
  'allOf beside its own keywords': {
    type: 'string',
    minLength: 3,
    allOf: [{ maxLength: 3 }, { minLength: 2 }],
  },
  not: { type: 'boolean', not: { const: true } },
  'if and then': {
    type: 'object',
    properties: { kind: { enum: ['a', 'b'] } },
    required: ['kind'],
    ...ifThenElse,
  },
  'a reference': { $ref: '#/$defs/name', $defs: { name: { type: 'string', minLength: 2 } } },
  'a reference with definitions': {
    ...object({ a: { $ref: '#/definitions/a~1b' } }),
    definitions: { 'a/b': { type: 'integer' } },
  },
  'a tree': {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: list({ $ref: '#/$defs/node' }),
          parent: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
        },
        required: ['name', 'children', 'parent'],
      },
    },
  },
  'a reference to the root': { type: 'object', properties: { next: { $ref: '#' } } },
  'draft 7 items': {
    type: 'array',
    items: { type: 'string' },
    additionalItems: false,
    minItems: 2,
  },
};
for (const format of [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uuid',
]) {
  schemas[`format ${format}`] = list(
    { type: 'string', format },
    { minItems: 2, uniqueItems: true },
  );
}
for (const pattern of [
  '^[a-z0-9][a-z0-9_-]{0,39}$',
  '^\\d{3}-\\d{2}$',
  '^(?:cat|dog)s?$',
  '^[A-Z]{2}[^a-z]+\\.(json|md)$',
  '^#[0-9a-fA-F]{6}$',
  '^.{10,}$',
  '^sha256:[a-f0-9]{64}$',
  'x',
]) {
  schemas[`pattern ${pattern}`] = { type: 'string', pattern };
}

test.each(Object.entries(schemas))('%s: the value fits', (_, schema) => {
  const value = generateInstance(schema, 'Open a bakery');
  const { valid, errors } = new Validator(schema, '2020-12', false).validate(value);
  expect({ value, errors }).toEqual({ value, errors: [] });
  expect(valid).toBe(true);
});

const shapes: Record<string, z.ZodType> = {
  WrittenPlan,
  WrittenDelegation,
  AgentOutput,
  AskedQuestion,
  WaveDecision,
  formats: z.object({
    email: z.email(),
    url: z.url(),
    uuid: z.uuid(),
    when: z.iso.datetime(),
    base64: z.base64(),
    cuid: z.cuid2(),
  }),
  limits: z.object({
    count: z.int().min(3).max(9),
    ratio: z.number().gt(0).lt(1),
    names: z.array(z.string().min(3).max(5)).min(2).max(3),
    slug: z.string().regex(/^[a-z]{3}-\d{4}$/u),
    maybe: z.string().optional(),
    nothing: z.null(),
  }),
  union: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), a: z.number() }),
    z.object({ kind: z.literal('b'), b: z.boolean() }),
  ]),
};

test.each(Object.entries(shapes))(
  '%s: the value fits what zodOutputFormat asks for',
  (_, shape) => {
    const { schema } = zodOutputFormat(shape);
    const value = generateInstance(schema, 'Open a bakery');
    expect(new Validator(schema, '2020-12').validate(value).valid).toBe(true);
  },
);

test.each(Object.entries(shapes))(
  '%s: limits that moved into descriptions are kept',
  (_, shape) => {
    const { schema } = zodOutputFormat(shape);
    expect(() => shape.parse(generateInstance(schema, 'Open a bakery'))).not.toThrow();
  },
);

test.each(Object.entries(shapes))('%s: the value fits zod’s own JSON Schema', (_, shape) => {
  const schema: Schema = { ...z.toJSONSchema(shape) };
  expect(() => shape.parse(generateInstance(schema, 'Open a bakery'))).not.toThrow();
});

test('texts quote the goal and say that they are a rehearsal', () => {
  const value = generateInstance(object({ reason: { type: 'string' } }), 'Open a bakery');
  expect(value).toEqual({ reason: expect.stringMatching(/Rehearsal: reason .*“Open a bakery”/u) });
});

test('the same schema has the same value', () => {
  const schema = object({ a: { type: 'number' }, b: { type: 'string', pattern: '^[a-z]{9}$' } });
  expect(generateInstance(schema, 'goal')).toEqual(generateInstance(schema, 'goal'));
});

test('a schema that nothing fits still gets a value', () => {
  const endless = { $ref: '#/$defs/a', $defs: { a: object({ a: { $ref: '#/$defs/a' } }) } };
  expect(generateInstance(endless, 'goal')).toBeDefined();
  expect(generateInstance({ $ref: '#' }, 'goal')).toBeDefined();
  const wide = object({ a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/a' } });
  expect(generateInstance({ $ref: '#/$defs/a', $defs: { a: wide } }, 'goal')).toBeDefined();
  expect(generateInstance({ type: 'string', pattern: '(' }, 'goal')).toBeDefined();
});

test('a rule’s output grows the fields that its schema demands and loses those it forbids', () => {
  const schema = object({
    kept: { type: 'string' },
    grown: { type: 'integer', minimum: 4, maximum: 4 },
  });
  expect(conform(schema, { kept: 'as it is', lost: 1 }, 'goal')).toEqual({
    kept: 'as it is',
    grown: 4,
  });
});
