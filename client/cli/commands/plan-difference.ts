/**
 * Describes a difference between two plans by the lines that only one of them has.
 *
 * Invariants:
 *   PDL1. Nothing that differs is left out: a long line is cut only where both sides are equal.
 *   PDL2. Lines that look equal are shown as JSON, which shows what differs.
 */
import type { PlanDifference } from '../../../core/design/diff-plans.ts';
import { isRecord } from '../../../core/json.ts';
import { cleanText, safeJson } from '../terminal-text.ts';

/** Characters of a line that is shown whole, and those of an equal begin or end that stay beside a difference. */
const lineCharsMax = 300;
const besideChars = 80;

/** Most pairs of lines that are compared; where there are more, all of both sides is shown. */
const pairsMax = 1_000_000;

/** @returns lines that begin with "-" for the earlier side and "+" for the later one. */
export function describeDifference({ before, after }: PlanDifference): string[] {
  const hunks = findHunks(...linesOfBoth(before, after));
  return hunks.flatMap(({ removed, added }) => [
    ...removed.map((line, at) => `- ${show(line, added[at])}`.trimEnd()),
    ...added.map((line, at) => `+ ${show(line, removed[at])}`.trimEnd()),
  ]);
}

type Lines = readonly string[];

/** Only where one side has nothing does the other hold an entry of the plan; all else is text, also text that looks like JSON. */
function linesOfBoth(before: string | null, after: string | null): readonly [Lines, Lines] {
  const isAlone = [before, after].some((side) => side === null || side === '' || side === 'null');
  const read = isAlone ? linesOf : (text: string | null): Lines => text?.split('\n') ?? [];
  return [read(before), read(after)];
}

/** Splits a text into lines, and an entry into its fields, each with its name. */
function linesOf(text: string | null): Lines {
  if (text === null) return [];
  const entry = readEntry(text);
  if (entry === null || Object.keys(entry).length === 0) return text.split('\n');
  return Object.entries(entry).flatMap(([name, value]) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name}: ${shown}`.split('\n');
  });
}

function readEntry(text: string): Record<string, unknown> | null {
  if (!text.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // A text that begins like JSON.
    return null;
  }
}

interface Hunk {
  readonly removed: string[];
  readonly added: string[];
}

/** Finds the lines that differ, between those of a longest common subsequence. */
function findHunks(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  if (before.length * after.length > pairsMax) return [{ removed: [...before], added: [...after] }];
  const lengths = countCommon(before, after);
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  const hunks: Hunk[] = [];
  let hunk: Hunk = { removed: [], added: [] };
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [one, other] = [before[i], after[j]];
    if (one === other) {
      hunks.push(hunk);
      hunk = { removed: [], added: [] };
      i += 1;
      j += 1;
    } else if (
      other === undefined ||
      (one !== undefined && lengthAt(i + 1, j) >= lengthAt(i, j + 1))
    ) {
      hunk.removed.push(one ?? '');
      i += 1;
    } else {
      hunk.added.push(other);
      j += 1;
    }
  }
  return [...hunks, hunk];
}

/** Returns for each pair of places how many lines the rests have in common, in their order. */
function countCommon(before: readonly string[], after: readonly string[]): readonly number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () =>
    Array.from({ length: after.length + 1 }, () => 0),
  );
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const [row = [], below = []] = [lengths[i], lengths[i + 1]];
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] =
        before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

/** @param other The line in its place on the other side; undefined for none. */
function show(line: string, other: string | undefined): string {
  const cut = other === undefined || line.length <= lineCharsMax ? line : cutCommon(line, other);
  const shown = cleanText(cut);
  return shown === cut && cut.trimEnd() === cut ? shown : safeJson(cut);
}

/** Cuts the begin and the end that a line has in common with another one. */
function cutCommon(line: string, other: string): string {
  const shorter = Math.min(line.length, other.length);
  let begin = 0;
  while (begin < shorter && line[begin] === other[begin]) begin += 1;
  let end = 0;
  while (end < shorter - begin && line.at(-1 - end) === other.at(-1 - end)) end += 1;
  const from = Math.max(0, begin - besideChars);
  const to = line.length - Math.max(0, end - besideChars);
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`;
}
