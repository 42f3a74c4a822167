import { createHash } from 'node:crypto';
import { readKeyRing } from '../../encryption/key-ring.ts';
import type { KeyRing } from '../../encryption/key-ring.ts';

/** Returns `PLANWAVE_KEYS` with a key for each id, the same for an id in every test. */
export function keysText(...ids: readonly string[]): string {
  return ids.map((id) => `${id}:${createHash('sha256').update(id).digest('base64')}`).join(',');
}

export function testKeys(...ids: readonly string[]): KeyRing {
  return readKeyRing(keysText(...ids));
}
