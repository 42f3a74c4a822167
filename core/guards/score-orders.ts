/**
 * A score for texts that are to be read as data and give orders to the model that reads them. It can't be proved that
 * a text gives none; this finds what does so plainly, and leaves ordinary texts alone.
 *
 * Invariants:
 *   INJ1. An order is found whatever stands before and behind it, and in whatever disguise `foldDisguise` knows.
 *   INJ2. Signs that are weak alone count together only when they stand near each other, and each kind once.
 *   INJ3. Hidden text counts by itself: tags, long rows of invisible characters, overrides of the direction; and Base64
 *         when what it decodes to gives orders, twice encoded included.
 *   INJ4. Every text has a score, in time that grows with its length; no finding quotes more than a line.
 */
import { cleanLine } from '../text/cut-text.ts';
import { decodeBase64, decodeTags, foldDisguise } from './decode-hidden.ts';
import { injectionPatterns } from './injection-patterns.ts';

export interface OrderFinding {
  /** Words that follow "which", for people. */
  readonly sign: string;
  readonly weight: number;
  /** The passage with a few words around it, without its disguise. */
  readonly excerpt: string;
}

export interface OrderScore {
  /** 0: nothing was found. From `clearScore` on, the case is plain. */
  readonly score: number;
  /** Findings that make the score, strongest first. */
  readonly findings: readonly OrderFinding[];
}

export const clearScore = 3;

/** Greatest distance, in characters, at which two signs count together. */
const nearChars = 400;

/** Score of the decoded text from which Base64 counts. It is below `clearScore`, because hiding makes a text worse. */
const hiddenScoreMin = 2;

/** Base64 inside Base64 is decoded, and no deeper. */
const depthMax = 2;

const excerptChars = { before: 40, after: 80, most: 200 };

interface Placed extends OrderFinding {
  readonly at: number;
}

export function scoreOrders(text: string): OrderScore {
  return pickStrongest([...findHiddenCharacters(text), ...findPlaced(text, 0)]);
}

function findPlaced(text: string, depth: number): Placed[] {
  const folded = foldDisguise(text);
  return [...findSigns(folded), ...findEncoded(text, depth)];
}

function findSigns(folded: string): Placed[] {
  return injectionPatterns.flatMap(({ name, weight, pattern }) =>
    [...folded.matchAll(pattern)].map(({ 0: found, index }) => ({
      sign: name,
      weight,
      at: index,
      excerpt: excerptOf(folded, index, index + found.length),
    })),
  );
}

function findEncoded(text: string, depth: number): Placed[] {
  if (depth === depthMax) return [];
  return decodeBase64(text).flatMap((decoded) => {
    const { score, findings } = pickStrongest(findPlaced(decoded, depth + 1));
    if (score < hiddenScoreMin) return [];
    const [{ sign, excerpt } = { sign: '', excerpt: '' }] = findings;
    return [{ sign: `in Base64 ${sign}`, weight: clearScore, at: 0, excerpt }];
  });
}

/** Such a run has a meaning only for machines; a single one is typography. */
const invisibleRow = /[\u00ad\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff]{6,}/u;
const selectorRow = /[\u{e0100}-\u{e01ef}]{4,}/u;
const directionOverride = /[\u202d\u202e]/u;

function findHiddenCharacters(text: string): Placed[] {
  const said = decodeTags(text);
  const rows = [invisibleRow, selectorRow, directionOverride].map((row) => row.exec(text));
  return [
    ...(said === ''
      ? []
      : [hidden('hides letters that nobody sees', 0, cleanLine(said, excerptChars.most))]),
    ...rows.flatMap((row) => {
      if (row === null) return [];
      const excerpt = excerptOf(text, row.index, row.index + row[0].length);
      return [hidden('holds characters that nobody sees', row.index, excerpt)];
    }),
  ];
}

function hidden(sign: string, at: number, excerpt: string): Placed {
  return { sign, weight: clearScore, at, excerpt };
}

function excerptOf(text: string, start: number, end: number): string {
  const { before, after, most } = excerptChars;
  return cleanLine(text.slice(Math.max(0, start - before), end + after), most);
}

/** Returns the passage whose signs, each kind once, weigh most together. */
function pickStrongest(found: readonly Placed[]): OrderScore {
  const placed = found.toSorted((a, b) => a.at - b.at);
  let best: OrderScore = { score: 0, findings: [] };
  let from = 0;
  for (const [to, last] of placed.entries()) {
    while ((placed[from]?.at ?? 0) < last.at - nearChars) from += 1;
    const findings = pickKinds(placed.slice(from, to + 1));
    const score = findings.reduce((sum, { weight }) => sum + weight, 0);
    if (score > best.score) best = { score, findings };
  }
  return best;
}

function pickKinds(placed: readonly Placed[]): OrderFinding[] {
  const kinds = new Map<string, OrderFinding>();
  for (const { sign, weight, excerpt } of placed) {
    if (weight > (kinds.get(sign)?.weight ?? 0)) kinds.set(sign, { sign, weight, excerpt });
  }
  return [...kinds.values()].toSorted((a, b) => b.weight - a.weight);
}
