import { hashBytes } from '../../tools/hash-bytes.ts';

/** Writes a JSON value as a text whose integrity can be checked: a line with the SHA-256 of the rest, then the JSON. */
export function sealJson(value: unknown): string {
  const body = `${JSON.stringify(value)}\n`;
  return `${hashBytes(body)}\n${body}`;
}

/** @returns the value, or undefined when the text is torn or damaged. */
export function openSealed(text: string): unknown {
  const [hash = ''] = text.split('\n', 1);
  const body = text.slice(hash.length + 1);
  return hashBytes(body) === hash ? (JSON.parse(body) as unknown) : undefined;
}
