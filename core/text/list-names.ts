/**
 * Names in a message, for a model or a person to choose from.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';
import { isRecord } from '../json.ts';
import { cutText } from './cut-text.ts';

const nameCharsMax = 120;

/** `"a", "b" and 3 more`. @param max Names that are shown. */
export function listNames(names: readonly string[], max = 30): string {
  if (names.length === 0) return 'none';
  const shown = names
    .slice(0, max)
    .map((name) => JSON.stringify(cutText(name, nameCharsMax)))
    .join(', ');
  return names.length > max ? `${shown} and ${names.length - max} more` : shown;
}

/**
 * Returns why a payload is refused whose bytes are no JSON, or null. The worker's codec hands such a payload on as
 * `{unreadable, encoding}`.
 */
export function findUnreadable(value: unknown): string | null {
  if (!isRecord(value)) return null;
  const { unreadable, encoding } = value;
  if (typeof unreadable !== 'string' || typeof encoding !== 'string') return null;
  const begin = JSON.stringify(cutText(unreadable, keyCharsMax));
  const what =
    encoding === 'json/plain'
      ? 'the payload is no JSON'
      : `the payload has the encoding ${JSON.stringify(cutText(encoding, keyCharsMax))}`;
  return `${what}: it begins with ${begin}. Expected one JSON object with the encoding "json/plain". Try: quote it for your shell`;
}

/** Most single changes that lead from a mistyped name to the one that is meant. */
const editsMax = 3;

/** Returns why an object with such keys is refused, with the nearest known key, or null when it knows all of them. */
export function findUnknownKey(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
): string | null {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return null;
  const shown = JSON.stringify(cutText(unknown, keyCharsMax));
  const nearest = findNearestKey(unknown, known);
  return nearest === null
    ? `unknown field ${shown}. Fields are: ${listNames(known)}`
    : `unknown field ${shown}. Did you mean "${nearest}"?`;
}

const keyCharsMax = 60;

/** Returns the known key that at most 3 changed letters lead to, in a short one no more than half of them, or null. */
export function findNearestKey(unknown: string, known: readonly string[]): string | null {
  const [nearest] = known
    .map((key) => ({ key, edits: countEdits(unknown.slice(0, keyCharsMax), key) }))
    .toSorted((a, b) => a.edits - b.edits);
  if (nearest === undefined) return null;
  const { key, edits } = nearest;
  return edits <= Math.min(editsMax, Math.ceil(key.length / 2)) ? key : null;
}

/** Words what was expected in the place of a value that is none of a few, with the nearest of them. */
export function describeChoices(given: unknown, choices: readonly string[]): string {
  const nearest = typeof given === 'string' ? findNearestKey(given, choices) : null;
  const expected = `expected one of ${listNames(choices)}`;
  return nearest === null ? expected : `${expected}. Did you mean "${nearest}"?`;
}

/** Counts the characters to insert, delete or replace (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Faults: a list kept short enough to stand beside the task in a prompt, and one as a line. */

/** The first ones, and one that says how many more there are. */
export function capFaults(faults: readonly OutputFault[]): OutputFault[] {
  const max = engineLimits.faultsShownMax;
  if (faults.length <= max) return [...faults];
  return [
    ...faults.slice(0, max - 1),
    {
      path: '',
      reason: `${faults.length - max + 1} more faults are not listed`,
      hint: 'Try: mend the listed ones first; they often have one cause',
    },
  ];
}

/** Words a fault of one call for the model: `path: reason. Try: …`. */
export function describeFault({ path, reason, hint }: OutputFault): string {
  return [path === '' ? reason : `${path}: ${reason}`, hint].filter((one) => one !== '').join('. ');
}
