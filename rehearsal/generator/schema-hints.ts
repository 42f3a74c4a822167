import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';

const understood = new Set([
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
]);

/**
 * The limits that the SDK's `zodOutputFormat` moves into a description, because structured output does not take them:
 * `"A name.\n\n{minLength: 1, maxLength: 120}"` gives `{minLength: 1, maxLength: 120}`. Empty when there are none.
 */
export function readHints(schema: JsonObject): JsonObject {
  const description = textOf(schema['description']);
  const list = description.endsWith('}')
    ? (/\{(\w+: .*)$/su.exec(description.slice(0, -1))?.[1] ?? '')
    : '';
  const pairs =
    /(?:^|, )(\w+): ("(?:[^"\\]|\\.)*"|-?[\d.]+(?:e[+-]?\d+)?|true|false)(?=, \w+: |$)/giu;
  const hints: Record<string, unknown> = {};
  for (const [, name, value] of list.matchAll(pairs)) {
    if (name !== undefined && value !== undefined && understood.has(name)) {
      hints[name] = JSON.parse(value);
    }
  }
  return hints;
}
