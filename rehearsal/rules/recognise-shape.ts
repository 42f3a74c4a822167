import { isObject } from '../json.ts';
import type { JsonObject } from '../json.ts';

/** planwave's own output shapes: a wave plan, an agent's output, a wave decision, a review of questions. */
export type Shape = 'plan' | 'delegation' | 'decision' | 'review';

const marks: ReadonlyArray<readonly [Shape, readonly string[]]> = [
  ['plan', ['summary', 'delegations', 'needs_user_input']],
  ['delegation', ['compact_md', 'detailed_md', 'status', 'coverage']],
  ['review', ['reviews']],
  ['decision', ['wave_compact', 'wave_detailed', 'planner_decision']],
];

/** Returns the target of a `$ref` at the root, or the schema itself. */
function rootOf(schema: JsonObject): JsonObject {
  const ref = schema['$ref'];
  const path = typeof ref === 'string' ? /^#\/(\$defs|definitions)\/([^/]+)$/u.exec(ref) : null;
  const definitions = path === null ? undefined : schema[path[1] ?? ''];
  const target = isObject(definitions) ? definitions[path?.[2] ?? ''] : undefined;
  return isObject(target) ? target : schema;
}

/** Recognises planwave's shape that a JSON schema asks for, by its property names; null for any other schema. */
export function recogniseShape(schema: JsonObject | null): Shape | null {
  const properties = schema === null ? undefined : rootOf(schema)['properties'];
  if (!isObject(properties)) return null;
  return marks.find(([, names]) => names.every((name) => name in properties))?.[0] ?? null;
}
