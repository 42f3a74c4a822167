import { createHash } from 'node:crypto';

/** A JSON value as a text that tells whether it is whole: a line with the SHA-256 of what follows, then the JSON. */
export function sealJson(value: unknown): string {
  const body = `${JSON.stringify(value)}\n`;
  return `${computeHash(body)}\n${body}`;
}

/** @returns the value, or undefined when the text is torn or damaged. */
export function openSealed(text: string): unknown {
  const [hash = ''] = text.split('\n', 1);
  const body = text.slice(hash.length + 1);
  return computeHash(body) === hash ? (JSON.parse(body) as unknown) : undefined;
}

export function computeHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
