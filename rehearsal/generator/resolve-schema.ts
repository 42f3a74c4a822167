import { isObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { mergeSchemas } from './merge-schemas.ts';

/** Position of the generator in a schema. */
export interface SchemaContext {
  readonly root: JsonObject;
  /** Turns choices between branches, so that another attempt takes another way. From 0. */
  readonly attempt: number;
}

/** Deeper than this, recursion is ended by the simplest branch, empty lists and no optional properties. */
export const depthMax = 6;

/** A chain of references longer than this leads nowhere. */
const stepsMax = 40;

/** The schema a JSON pointer such as `#/$defs/node` leads to; an empty schema when it leads nowhere. */
function followRef(root: JsonObject, ref: string): unknown {
  let target: unknown = root;
  for (const part of decodeURIComponent(ref.replace(/^#\/?/u, '')).split('/')) {
    if (part === '') continue;
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    target = isObject(target) || Array.isArray(target) ? Object(target)[name] : undefined;
  }
  return target ?? {};
}

function without(schema: JsonObject, ...keywords: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !keywords.includes(name)));
}

/** Returns the weight of a branch by its recursion: null is the simplest, a reference the least simple. */
function weightOf(branch: unknown): number {
  const text = JSON.stringify(branch) ?? '';
  if (text.includes('"null"')) return 0;
  return text.includes('"$ref"') ? 2 : 1;
}

function isNull(branch: unknown): boolean {
  return isObject(branch) && branch['type'] === 'null';
}

function pickBranch(branches: readonly unknown[], context: SchemaContext, depth: number): unknown {
  const simplestFirst = branches.toSorted((a, b) => weightOf(a) - weightOf(b));
  if (depth > depthMax) return simplestFirst[0];
  const wanted = branches.filter((branch) => !isNull(branch));
  const order = wanted.length > 0 ? wanted : branches;
  return order[context.attempt % order.length];
}

/** Takes one combining keyword out of the schema and merges what it demands into the rest. */
function resolveStep(
  schema: JsonObject,
  context: SchemaContext,
  depth: number,
): readonly [JsonObject, unknown] | null {
  const { $ref: ref, allOf, anyOf, oneOf } = schema;
  if (typeof ref === 'string') return [without(schema, '$ref'), followRef(context.root, ref)];
  if (Array.isArray(allOf)) {
    const [first, ...rest] = allOf as readonly unknown[];
    const open = without(schema, 'allOf');
    return [rest.length > 0 ? { ...open, allOf: rest } : open, first ?? {}];
  }
  if (Array.isArray(anyOf)) return [without(schema, 'anyOf'), pickBranch(anyOf, context, depth)];
  if (Array.isArray(oneOf)) return [without(schema, 'oneOf'), pickBranch(oneOf, context, depth)];
  if ('if' in schema) {
    const keeps = context.attempt % 2 === 0;
    const demanded = keeps ? { allOf: [schema['if'], schema['then'] ?? {}] } : schema['else'];
    return [without(schema, 'if', 'then', 'else'), demanded ?? {}];
  }
  return null;
}

/**
 * Brings a schema to one without `$ref`, `allOf`, `anyOf`, `oneOf` and `if` at its top, by choosing branches.
 *
 * @returns the flat schema; an empty one, which allows anything, for `true` and for references that never end.
 */
export function resolveSchema(schema: unknown, context: SchemaContext, depth: number): JsonObject {
  let flat: JsonObject = isObject(schema) ? schema : {};
  for (let steps = 0; steps < stepsMax; steps += 1) {
    const step = resolveStep(flat, context, depth);
    if (step === null) return flat;
    flat = isObject(step[1]) ? mergeSchemas(step[0], step[1]) : step[0];
  }
  return {};
}
