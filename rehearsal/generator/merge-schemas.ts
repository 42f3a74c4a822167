import { isObject } from '../json.ts';
import type { JsonObject } from '../json.ts';

type Merge = (a: unknown, b: unknown) => unknown;

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const larger: Merge = (a, b) => Math.max(Number(a), Number(b));
const smaller: Merge = (a, b) => Math.min(Number(a), Number(b));
const union: Merge = (a, b) => [...new Set([...asList(a), ...asList(b)])];
const both: Merge = (a, b) => asList(a).filter((item) => asList(b).includes(item));

function withIntegers(types: readonly unknown[]): readonly unknown[] {
  return types.includes('number') ? [...types, 'integer'] : types;
}

/** `integer` is a part of `number`, so it survives the meeting with it. */
const sharedTypes: Merge = (a, b) => both(withIntegers(asList(a)), withIntegers(asList(b)));

const mergeProperties: Merge = (a, b) => {
  if (!isObject(a) || !isObject(b)) return b;
  const shared = Object.keys(b).map((name) => [
    name,
    name in a ? { allOf: [a[name], b[name]] } : b[name],
  ]);
  return { ...a, ...Object.fromEntries(shared) };
};

const bothSchemas: Merge = (a, b) => ({ allOf: [a, b] });

const merges: Readonly<Record<string, Merge>> = {
  properties: mergeProperties,
  required: union,
  type: sharedTypes,
  enum: both,
  items: bothSchemas,
  allOf: (a, b) => [...asList(a), ...asList(b)],
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
};

/** One schema that demands what both demand. Keywords without a rule for both are taken from `b`. */
export function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const merge = keyword in a ? merges[keyword] : undefined;
    merged[keyword] = merge === undefined ? value : merge(a[keyword], value);
  }
  return merged;
}
