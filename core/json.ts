/** A JSON object as it came over the wire: no list, and nothing known of its fields. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fields that have a value. */
export function definedOnly<T>(record: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).filter((field): field is [string, T] => field[1] !== undefined),
  );
}

/** Parses a text that may be anything. @returns undefined when it is no JSON, which has no such value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
