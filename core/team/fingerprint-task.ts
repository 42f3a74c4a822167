/**
 * Fingerprints a task of a leader, so that a repetition is recognised (seed 002, case 10.2).
 *
 * Invariants:
 *   FT1. Executor, text and inputs change it; the order and repetition of inputs do not.
 *   HT1. Case, white space, punctuation at its two ends and Unicode's twins of a character do not change a task's hash;
 *        everything else does.
 */
import { hashText } from '../text/hash-text.ts';

/** @param inputs delegation_ids whose results the task gets. */
export function fingerprintTask(
  executor: string,
  taskHash: string,
  inputs: readonly string[],
): string {
  return hashText(JSON.stringify([executor, taskHash, [...new Set(inputs)].toSorted()]));
}

const edge = /[\p{P}\s]/u;

/** @returns 16 hex digits. */
export function hashTask(task: string): string {
  const even = task.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll(/\s+/gu, ' ');
  // A task of punctuation alone is still a task of its own.
  return hashText(trimEdges(even) || even.trim());
}

/** By hand: an expression for the end of a text looks at every run of punctuation within it, from each of its places. */
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
