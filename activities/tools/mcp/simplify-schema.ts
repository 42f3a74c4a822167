import { isRecord } from '../../../core/is-record.ts';

/**
 * Keywords that are left to the server: their check could take longer than any call, because patterns are run on other
 * texts, references can multiply, and comparing all pairs is slow.
 */
const leftToServer = new Set([
  '$anchor',
  '$comment',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$recursiveAnchor',
  '$recursiveRef',
  '$ref',
  '$schema',
  '$vocabulary',
  'format',
  'id',
  'pattern',
  'patternProperties',
  'propertyNames',
  'uniqueItems',
]);

/** Keywords whose values are schemas by name. */
const mapsOfSchemas = new Set(['properties', 'dependentSchemas']);

/** Keywords whose values are no schemas. */
const values = new Set(['const', 'default', 'enum', 'examples', 'required']);

/**
 * Returns the part of a server's schema that is checked here before its tool is called, in a time that its size and the
 * arguments' bound.
 */
export function simplifySchema(schema: unknown): Record<string, unknown> {
  if (!isRecord(schema)) return {};
  // A pattern that is not checked may match what "additionalProperties" would refuse.
  const isOpen = 'patternProperties' in schema || '$ref' in schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (leftToServer.has(key) || key === '$defs' || key === 'definitions') return [];
    if (isOpen && (key === 'additionalProperties' || key === 'unevaluatedProperties')) return [];
    if (values.has(key)) return [[key, value]];
    if (mapsOfSchemas.has(key)) return [[key, simplifyMap(value)]];
    return [[key, simplifyBelow(value)]];
  });
  return Object.fromEntries(entries);
}

function simplifyMap(value: unknown): unknown {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, simplifyBelow(schema)]),
  );
}

function simplifyBelow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplifyBelow);
  return isRecord(value) ? simplifySchema(value) : value;
}
