/** A JSON object as it came over the wire: no list, and nothing known of its fields. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of T, each left out where it is undefined. */
type Defined<T> = string extends keyof T
  ? Record<string, Exclude<T[keyof T], undefined>>
  : { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the fields that have a value, in their order. */
export function definedOnly<T extends object>(fields: T): Defined<T>;
export function definedOnly(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Returns the variables of an environment that are set. An empty one, as compose files make them, is not. */
export function setVariables(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => (text ? [[name, text] as const] : [])),
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
