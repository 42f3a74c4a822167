import { createHash } from 'node:crypto';

/** SHA-256 of a text as UTF-8, 64 lower-case hex digits. */
export function hashBytes(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
