import type { Usage } from '../../contracts/usage.ts';
import { noUsage } from './add-usage.ts';

/** Reads a usage out of something that came over the wire. @returns null when it is none. */
export function readUsage(value: unknown): Usage | null {
  return isUsage(value) ? value : null;
}

function isUsage(value: unknown): value is Usage {
  if (typeof value !== 'object' || value === null) return false;
  const numbers = new Map(Object.entries(value));
  return Object.keys(noUsage).every((name) => typeof numbers.get(name) === 'number');
}
