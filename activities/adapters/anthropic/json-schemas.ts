import type { Anthropic } from '@anthropic-ai/sdk';
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { z } from 'zod';
import { isRecord } from '../../../core/json.ts';
import type { ContentBlock } from '../../../contracts/transcript.ts';
import type { ToolSpec, ModelRequest } from '../../ports/model-client.ts';
import { messageOf } from '../../../core/text/message-of.ts';

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
    throw new RequestRefused(`${what} can't be sent to the model: ${messageOf(error)}.`, {
      cause: error,
    });
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

/** Shortest run of characters that counts as a quotation. */
const quoteMinLength = 16;
const textMaxLength = 300;
/** Longer texts are cut before the search, whose cost grows with their length times the prompt's. */
const searchedMaxLength = 1_000;

interface QuoteRemoverOptions {
  readonly apiKey: string;
  /** Function that takes out other secrets. If undefined, only the key is taken out. */
  readonly redact?: (text: string) => string;
}

/**
 * A function that makes a text of the API fit for logs, history and people: one line, at most 300 characters, without
 * the API key, without any other secret and without any run of 16 characters or more that also stands in the prompt. Error texts of the API and
 * of proxies quote what they were sent.
 */
export function createQuoteRemover(
  { apiKey, redact = (text) => text }: QuoteRemoverOptions,
  request: ModelRequest,
): (text: string) => string {
  return (text) => {
    const searched = redact(text)
      .slice(0, searchedMaxLength)
      .replaceAll(apiKey, '…')
      // oxlint-disable-next-line no-control-regex -- control characters must not reach terminals
      .replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
      .trim();
    const sources = collectTexts(request);
    const shown = removeShort(removeRuns(searched, sources), sources);
    return shown.length > textMaxLength ? `${shown.slice(0, textMaxLength - 1)}…` : shown;
  };
}

function removeRuns(text: string, sources: readonly string[]): string {
  const quoted = Array.from({ length: text.length }, () => false);
  for (let start = 0; start + quoteMinLength <= text.length; start += 1) {
    const run = text.slice(start, start + quoteMinLength);
    if (sources.some((source) => source.includes(run))) {
      quoted.fill(true, start, start + quoteMinLength);
    }
  }
  return text
    .split('')
    .map((char, index) => {
      if (quoted[index] !== true) return char;
      return quoted[index - 1] === true ? '' : '…';
    })
    .join('');
}

/** A prompt that is shorter than a quotation is one as a whole. Below 6 characters it would hit ordinary words. */
function removeShort(text: string, sources: readonly string[]): string {
  return sources
    .filter((source) => source.length >= 6 && source.length < quoteMinLength)
    .reduce((rest, source) => rest.replaceAll(source, '…'), text);
}

/** Every text of the request, with white space as in a text that is one line. */
function collectTexts(request: ModelRequest): string[] {
  return [
    ...request.system.map((block) => block.text),
    ...request.messages.flatMap((message) => message.content.map(toText)),
  ].map((text) => text.replaceAll(/\s+/g, ' '));
}

function toText(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_result') return block.content;
  return JSON.stringify(block.type === 'tool_use' ? block.input : block.raw) ?? '';
}
