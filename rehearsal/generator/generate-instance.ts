import { Validator } from '@cfworker/json-schema';
import { generateNumber } from './generate-number.ts';
import { generateString } from './generate-string.ts';
import { isObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { quote } from '../quote.ts';
import { depthMax, resolveSchema } from './resolve-schema.ts';
import type { SchemaContext } from './resolve-schema.ts';
import { readHints } from './schema-hints.ts';

interface Context extends SchemaContext {
  readonly goal: string;
}

/** Position of a value: the name of its property, its depth, and its place in a list (from 1). */
interface Spot {
  readonly name: string;
  readonly depth: number;
  readonly index: number;
}

/** Ways through a schema that are tried before the first one is taken as it is. */
const attemptsMax = 8;

/** Deeper than this a schema demands an endless value, which nothing can give. */
const depthLimit = 40;

const within = (spot: Spot, name: string, index = spot.index): Spot => ({
  name,
  depth: spot.depth + 1,
  index,
});

function typeOf(schema: JsonObject): string {
  const type = schema['type'];
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const wanted = types.find((item) => typeof item === 'string' && item !== 'null') ?? types[0];
  if (typeof wanted === 'string') return wanted;
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema || 'minItems' in schema) return 'array';
  return 'minimum' in schema || 'maximum' in schema || 'multipleOf' in schema ? 'number' : 'string';
}

function generateArray(schema: JsonObject, context: Context, spot: Spot): readonly unknown[] {
  const prefix: readonly unknown[] = Array.isArray(schema['prefixItems'])
    ? schema['prefixItems']
    : [];
  const least = Number(schema['minItems'] ?? 0);
  const most = Number(schema['maxItems'] ?? Infinity);
  const { items, contains } = schema;
  const usual = spot.depth < depthMax && items !== false ? Math.max(prefix.length, 1) : 0;
  const length = Math.min(Math.max(least, usual, contains === undefined ? 0 : 1), most);
  return Array.from({ length }, (_, position) => {
    const own = prefix[position] ?? (position === 0 && contains !== undefined ? contains : items);
    return generateAt(own ?? {}, context, within(spot, spot.name, position + 1));
  });
}

function generateObject(schema: JsonObject, context: Context, spot: Spot): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const extra = schema['additionalProperties'];
  const most = Number(schema['maxProperties'] ?? Infinity);
  const optional = spot.depth < depthMax ? Object.keys(properties) : [];
  const names = [...new Set([...required.map(String), ...optional])];
  const allowed = names.filter((name) => properties[name] !== false);
  for (let count = 1; allowed.length < Number(schema['minProperties'] ?? 0); count += 1) {
    allowed.push(`rehearsal_${count}`);
  }
  const kept = allowed.slice(0, Math.max(most, required.length));
  return Object.fromEntries(
    kept.map((name) => [
      name,
      generateAt(properties[name] ?? extra ?? {}, context, within(spot, name)),
    ]),
  );
}

function generateAt(schema: unknown, context: Context, spot: Spot): unknown {
  if (spot.depth > depthLimit) return null;
  const flat = resolveSchema(schema, context, spot.depth);
  const limits = mergeSchemas(readHints(flat), flat);
  if ('const' in limits) return limits['const'];
  const choices = limits['enum'];
  if (Array.isArray(choices) && choices.length > 0) {
    return choices[(spot.index - 1 + context.attempt) % choices.length];
  }
  const text = `Rehearsal: ${spot.name} ${spot.index} for ${quote(context.goal, 60)}`;
  switch (typeOf(limits)) {
    case 'object':
      return generateObject(limits, context, spot);
    case 'array':
      return generateArray(limits, context, spot);
    case 'integer':
      return generateNumber(limits, spot.index, true);
    case 'number':
      return generateNumber(limits, spot.index, false);
    case 'boolean':
      return context.attempt % 2 === 0;
    case 'null':
      return null;
    default:
      return generateString(limits, text, spot.index);
  }
}

/** Returns true when `value` fits `schema`. A schema that can't be read counts as fitted. */
export function fitsSchema(schema: JsonObject, value: unknown): boolean {
  try {
    return new Validator(schema, '2020-12').validate(value).valid;
  } catch {
    return true;
  }
}

/**
 * A value that fits a JSON Schema, whose texts quote the goal and say that they are a rehearsal.
 *
 * Deterministic. Takes the first of several ways through the schema whose value the validator accepts; when none is
 * accepted (`not`, look-arounds, contradictions), the first value is returned although it does not fit.
 *
 * @param name what the value is called in its texts.
 */
export function generateInstance(schema: JsonObject, goal: string, name = 'value'): unknown {
  const spot: Spot = { name, depth: 0, index: 1 };
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const value = generateAt(schema, { root: schema, goal, attempt }, spot);
    if (fitsSchema(schema, value)) return value;
  }
  return generateAt(schema, { root: schema, goal, attempt: 0 }, spot);
}
