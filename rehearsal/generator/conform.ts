import { fitsSchema, generateInstance } from './generate-instance.ts';
import { isObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { resolveSchema } from './resolve-schema.ts';

function conformAt(schema: unknown, root: JsonObject, value: unknown, goal: string): unknown {
  const flat = resolveSchema(schema, { root, attempt: 0 }, 0);
  if (Array.isArray(value)) {
    return value.map((item) => conformAt(flat['items'] ?? {}, root, item, goal));
  }
  const properties = flat['properties'];
  if (!isObject(value) || !isObject(properties)) return value;
  const required: readonly unknown[] = Array.isArray(flat['required']) ? flat['required'] : [];
  const result: Record<string, unknown> = {};
  for (const [name, own] of Object.entries(properties)) {
    if (name in value) result[name] = conformAt(own, root, value[name], goal);
    else if (required.includes(name)) {
      const definitions = { $defs: root['$defs'] ?? {}, definitions: root['definitions'] ?? {} };
      result[name] = generateInstance({ ...definitions, allOf: [own] }, goal, name);
    }
  }
  return flat['additionalProperties'] === false ? result : { ...value, ...result };
}

/**
 * Adapts what a rule wrote to the schema that was asked for: fields the rule does not know are generated, fields the
 * schema does not know are dropped. So a shape may grow a field before the rule does.
 */
export function conform(schema: JsonObject, value: unknown, goal: string): unknown {
  return fitsSchema(schema, value) ? value : conformAt(schema, schema, value, goal);
}
