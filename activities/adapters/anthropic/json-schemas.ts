import type { Anthropic } from '@anthropic-ai/sdk';
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { z } from 'zod';
import { isRecord } from '../../../core/is-record.ts';
import type { ToolSpec } from '../../ports/model-client.ts';

/** A request that can't be expressed for the API. This is a fault in planwave or in a tool, never of the model. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
}

/**
 * Returns the `output_config.format` of a schema.
 *
 * The SDK's own helper turns definitions into references and drops the siblings of a reference, where zod puts the
 * description of a field. Here a reference replaces only schemas that are identical, descriptions included.
 *
 * @throws {RequestRefused} for what the API can't express: tuple, unknown, date, transform, record, open objects.
 */
export function toOutputFormat(schema: z.ZodType): Anthropic.JSONOutputFormat {
  return once(outputFormats, schema, () =>
    refuseAs('The output schema', () => ({ type: 'json_schema', schema: convertOutput(schema) })),
  );
}

/** Returns the format without descriptions, for a provider that finds the schema too large. */
export function toBareFormat(schema: z.ZodType): Anthropic.JSONOutputFormat {
  return once(bareFormats, schema, () => {
    const { type, schema: described } = toOutputFormat(schema);
    return { type, schema: mapDescriptions(described, () => '') };
  });
}

function convertOutput(schema: z.ZodType): Record<string, unknown> {
  const jsonSchema = z.toJSONSchema(schema);
  // The SDK silently turns z.record into an object that allows no keys.
  const open = findOpenObject(jsonSchema, 'output');
  if (open !== null) {
    throw new Error(`${open} is a record or an open object; use an array of {key, value} objects`);
  }
  return shareObjects(mapDescriptions({ ...transformJSONSchema(jsonSchema) }, withoutTrifles));
}

/** Removes trivial limits, which the SDK writes into descriptions: every text has at least one character. */
function withoutTrifles(description: string): string {
  return description.replace('{minLength: 1, ', '{').replace('{minLength: 1}', '').trimEnd();
}

/**
 * Maps the descriptions of a schema; one that becomes empty is left out. A property may also be called "description",
 * but only a text is a description.
 */
function mapDescriptions(
  node: Readonly<Record<string, unknown>>,
  change: (description: string) => string,
): Record<string, unknown> {
  const below = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(below);
    return isRecord(value) ? mapDescriptions(value, change) : value;
  };
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      if (key !== 'description' || typeof value !== 'string') return [[key, below(value)]];
      const changed = change(value);
      return changed === '' ? [] : [[key, changed]];
    }),
  );
}

/** Moves object schemas that occur several times into definitions, so that a question is not described twice. */
function shareObjects(schema: Record<string, unknown>): Record<string, unknown> {
  const counts = new Map<string, number>();
  visitObjects(schema, (text) => counts.set(text, (counts.get(text) ?? 0) + 1));
  const shared = [...counts].flatMap(([text, count]) => (count > 1 ? [text] : []));
  const nameOf = new Map(shared.map((text, at) => [text, `d${at + 1}`]));
  const refer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refer);
    if (!isRecord(value)) return value;
    const name = value['type'] === 'object' ? nameOf.get(JSON.stringify(value)) : undefined;
    return name === undefined ? referIn(value) : { $ref: `#/$defs/${name}` };
  };
  const referIn = (node: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(node).map(([key, value]) => [key, refer(value)]));
  if (shared.length === 0) return schema;
  const definitions = shared.map((text) => [nameOf.get(text), referIn(JSON.parse(text))] as const);
  return { ...referIn(schema), $defs: Object.fromEntries(definitions) };
}

/** Calls `take` with each object schema below a node, as text. */
function visitObjects(node: unknown, take: (text: string) => void): void {
  if (Array.isArray(node)) node.forEach((one) => visitObjects(one, take));
  if (!isRecord(node)) return;
  for (const value of Object.values(node)) {
    if (isRecord(value) && value['type'] === 'object') take(JSON.stringify(value));
    visitObjects(value, take);
  }
}

/**
 * Converts a tool for the API.
 *
 * @throws {RequestRefused} when its input is no object or has parts that JSON Schema can't express.
 */
export function toTool(tool: ToolSpec): Anthropic.Tool {
  return once(tools, tool, () =>
    refuseAs(`The input schema of the tool "${tool.name}"`, () => convertTool(tool)),
  );
}

function convertTool(tool: ToolSpec): Anthropic.Tool {
  const { $schema: _dialect, ...schema } =
    tool.json_schema ?? z.toJSONSchema(tool.input, { io: 'input' });
  if (schema['type'] !== 'object') throw new Error('it must be a z.object');
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...schema, type: 'object' },
  };
}

/** Cached conversions. One took 2 ms of every model call, and a schema never changes. */
const outputFormats = new WeakMap<z.ZodType, Anthropic.JSONOutputFormat>();
const bareFormats = new WeakMap<z.ZodType, Anthropic.JSONOutputFormat>();
const tools = new WeakMap<ToolSpec, Anthropic.Tool>();

function once<K extends object, V>(made: WeakMap<K, V>, key: K, make: () => V): V {
  const known = made.get(key);
  if (known !== undefined) return known;
  const value = make();
  made.set(key, value);
  return value;
}

function refuseAs<T>(what: string, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RequestRefused(`${what} can't be sent to the model: ${reason}.`, { cause: error });
  }
}

/** Returns the path of the first object schema that allows unnamed keys, or null. */
function findOpenObject(node: unknown, path: string): string | null {
  if (typeof node !== 'object' || node === null) return null;
  if ('additionalProperties' in node && node.additionalProperties !== false) return path;
  for (const [key, value] of Object.entries(node)) {
    const found = findOpenObject(value, `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
