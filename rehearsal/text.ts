/** A JSON object whose fields were not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in `value`, or an empty list when it is no list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings in `value`, or an empty list when it is no list. */
export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A string as it is, `undefined` and `null` as the empty string, anything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** The parsed JSON, or `undefined` when `text` is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `text` without a high surrogate that lost its other half to a cut at the end. */
export function dropHalfPair(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/u, '');
}

/** One line of at most `lengthMax` UTF-16 units; a cut is marked with `…` and never splits a surrogate pair. */
export function cutText(text: string, lengthMax: number): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length <= lengthMax ? line : `${dropHalfPair(line.slice(0, lengthMax - 1))}…`;
}

/** `text` in quotation marks, cut to `lengthMax` UTF-16 units without them. Default 80. */
export function quote(text: string, lengthMax = 80): string {
  return `“${cutText(text, lengthMax)}”`;
}

/** A name for ids: lower-case letters, digits, `-` and `_`, at most `lengthMax` characters, never empty. */
export function slugOf(text: string, lengthMax = 40): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/gu, '-')
    .replace(/^[-_]+/u, '')
    .slice(0, lengthMax)
    .replace(/(?<!-)-+$/u, '');
  return slug === '' ? 'rehearsal' : slug;
}
