import { Validator } from '@cfworker/json-schema';
import { generateSync } from 'json-schema-faker';
import {
  dropHalfPair,
  isObject,
  objectsOf,
  quote,
  stringsOf,
  textOf,
  type JsonObject,
} from './messages-api.ts';

/** Ways to generate a value, tried one after the other: with all optional fields, without them, without our texts. */
const ways = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((nth) => ({
  seed: nth + 1,
  alwaysFakeOptionals: nth < 2,
  optionalsProbability: nth < 2 ? 1 : 0,
  hasTexts: nth < 6,
}));

/** Levels below which the library ends a value: deep enough for our own shapes, too few for a schema to explode. */
const depthMax = 14;

/** Keywords of the limits that `zodOutputFormat` moves into a description. */
const limits = new Set(
  (
    'minLength maxLength pattern format minItems maxItems uniqueItems ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'
  ).split(' '),
);

/**
 * Generates a value that fits a JSON Schema, whose texts quote the goal and say that they are a rehearsal. The same schema
 * has the same value.
 *
 * A schema that nothing fits gets a value that does not fit, or null.
 *
 * @param name name of the value in its texts.
 */
export function generateInstance(schema: JsonObject, goal: string, name = 'value'): unknown {
  const explicit = makeExplicit(schema);
  let fallback: unknown = null;
  for (const { hasTexts, ...way } of ways) {
    try {
      const value = generateSync(explicit, {
        ...way,
        maxDefaultItems: 1,
        maxDepth: depthMax,
        ...(hasTexts && {
          outputTransform: (made, place, path) => writeText(made, Object(place), path, goal, name),
        }),
      });
      if (fitsSchema(schema, value)) return value;
      fallback ??= value;
    } catch {
      // A way through the schema that ends nowhere.
    }
  }
  return fallback;
}

/** Replaces letters at random where any text would do. */
function writeText(
  value: unknown,
  schema: JsonObject,
  path: string,
  goal: string,
  rootName: string,
): unknown {
  const isFree = !['pattern', 'format', 'enum', 'const'].some((keyword) => keyword in schema);
  if (typeof value !== 'string' || !isFree) return value;
  const steps = path.split('/').filter((step) => step !== '');
  const name = steps.findLast((step) => !/^\d+$/.test(step)) ?? rootName;
  const place = 1 + Number(steps.findLast((step) => /^\d+$/.test(step)) ?? 0);
  const text = `Rehearsal: ${name} ${place} for ${quote(goal, 60)}`;
  const cut = dropHalfPair(text.slice(0, Number(schema['maxLength'] ?? text.length)));
  return cut.padEnd(Number(schema['minLength'] ?? 0), '.');
}

/**
 * Says in keywords what a schema says otherwise: limits in a description, such as `"A name.\n\n{minLength: 1}"`, because
 * structured output takes no others; and that an integer is one, which the library forgets when it merges types.
 */
function makeExplicit(schema: JsonObject): JsonObject {
  const inner = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === 'enum' || keyword === 'const') return [keyword, value];
    return [keyword, mapObjects(value)];
  });
  return {
    ...(schema['type'] === 'integer' && { multipleOf: 1 }),
    ...readLimits(textOf(schema['description'])),
    ...Object.fromEntries(inner),
  };
}

function mapObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapObjects);
  return isObject(value) ? makeExplicit(value) : value;
}

function readLimits(description: string): JsonObject {
  const list = description.endsWith('}')
    ? (/\{(\w+: .*)$/su.exec(description.slice(0, -1))?.[1] ?? '')
    : '';
  const pairs =
    /(?:^|, )(\w+): ("(?:[^"\\]|\\.)*"|-?[\d.]+(?:e[+-]?\d+)?|true|false)(?=, \w+: |$)/giu;
  const found = [...list.matchAll(pairs)].filter(([, keyword = '']) => limits.has(keyword));
  return Object.fromEntries(found.map(([, keyword, value = '']) => [keyword, JSON.parse(value)]));
}

/** Returns true when `value` fits `schema`. A schema that can't be read counts as fitted. */
function fitsSchema(schema: JsonObject, value: unknown): boolean {
  try {
    return new Validator(schema, '2020-12').validate(value).valid;
  } catch {
    return true;
  }
}

/**
 * Adapts what a rule wrote to the schema that was asked for: fields the rule does not know are generated, fields the
 * schema does not know are dropped. So a shape may grow a field before the rule does.
 */
export function conform(schema: JsonObject, value: unknown, goal: string): unknown {
  return fitsSchema(schema, value) ? value : conformAt(schema, schema, value, goal);
}

function conformAt(schema: unknown, root: JsonObject, value: unknown, goal: string): unknown {
  const parts = listParts(schema, root);
  if (Array.isArray(value)) {
    const items = parts.find((part) => 'items' in part)?.['items'];
    return value.map((item) => conformAt(items, root, item, goal));
  }
  const known = parts.map((part) => part['properties']).filter(isObject);
  if (!isObject(value) || known.length === 0) return value;
  const definitions = { $defs: root['$defs'] ?? {}, definitions: root['definitions'] ?? {} };
  const required = new Set(parts.flatMap((part) => stringsOf(part['required'])));
  const result: Record<string, unknown> = {};
  for (const [name, own] of known.flatMap(Object.entries<unknown>)) {
    if (name in value) result[name] = conformAt(own, root, value[name], goal);
    else if (required.has(name)) {
      result[name] = generateInstance({ ...definitions, allOf: [own] }, goal, name);
    }
  }
  const isClosed = parts.some((part) => part['additionalProperties'] === false);
  return isClosed ? result : { ...value, ...result };
}

/** Lists all that a schema demands together: itself, what it refers to, and the first of its alternatives that is not null. */
function listParts(schema: unknown, root: JsonObject, depth = 0): readonly JsonObject[] {
  if (!isObject(schema) || depth > 20) return [];
  const { $ref: ref, allOf, anyOf, oneOf } = schema;
  const choices = [...objectsOf(anyOf), ...objectsOf(oneOf)];
  const choice = choices.find((one) => one['type'] !== 'null');
  const others = [typeof ref === 'string' ? followRef(root, ref) : null, choice];
  return [
    schema,
    ...[...others, ...objectsOf(allOf)].flatMap((part) => listParts(part, root, depth + 1)),
  ];
}

/** Follows a JSON pointer such as `#/$defs/node`. */
function followRef(root: JsonObject, ref: string): unknown {
  const names = decodeURIComponent(ref.replace(/^#\/?/u, '')).split('/');
  return names.reduce<unknown>((target, name) => {
    if (name === '') return target;
    return isObject(target) ? target[name.replaceAll('~1', '/').replaceAll('~0', '~')] : null;
  }, root);
}
