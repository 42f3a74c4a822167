/**
 * Hashes a task of a leader, independent of its member.
 *
 * Invariants:
 *   HT1. Case, white space, punctuation at both ends and Unicode variants of a character do not change a task's hash;
 *        everything else does.
 */
import { hashText } from '../text/hash-text.ts';

const edge = /[\p{P}\s]/u;

/** @returns 16 hex digits. */
export function hashTask(task: string): string {
  const even = task.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll(/\s+/gu, ' ');
  // A task that is only punctuation keeps it, and so differs from others.
  return hashText(trimEdges(even) || even.trim());
}

/**
 * Trims by hand, because a pattern for the end of a text would test each run of punctuation from each of its places.
 */
function trimEdges(text: string): string {
  const characters = Array.from(text);
  const first = characters.findIndex(isInner);
  return first === -1
    ? ''
    : characters.slice(first, characters.findLastIndex(isInner) + 1).join('');
}

function isInner(character: string): boolean {
  return !edge.test(character);
}
