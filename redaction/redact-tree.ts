import { findPrivateKeys } from './private-keys.ts';
import { markOf, replaceSpans, settleSpans, type Span } from './span.ts';

/** A string in a value: a text, or the name of a field. */
interface Leaf {
  readonly text: string;
  /** The name of its field; for entries of a list, of the list's. Some secrets are recognised by it. */
  readonly field: string;
  /** Number of the list of which it is an entry; 0 for others. */
  readonly list: number;
  /** Offset in the joined text. */
  readonly start: number;
}

/** Most levels of a value. Deeper parts are replaced as a whole. */
const depthMax = 200;

export interface TreeRules {
  /** Finds spans in a text, in order. */
  readonly find: (text: string) => readonly { readonly start: number; readonly end: number }[];
  /** @param before Text in front, for rules that need it; it is not a part of the text. */
  readonly redact: (text: string, before: string) => string;
  /** Counts what `redact` does not: a secret that is divided among several strings, and a part that is too deep. */
  readonly count: (rule: string) => void;
}

/**
 * Redacts the strings and field names of a JSON value. Returns the same value when there was nothing to redact.
 *
 * All strings are searched together first: most values hold no secret, and one search costs a tenth of hundreds. Only a
 * string with a finding is then searched alone, so that no finding crosses its end. Only a private key may be divided among
 * the strings of a list, one for each of its lines.
 */
export function redactTree<T>(value: T, rules: TreeRules): T {
  const leaves: Leaf[] = [];
  const parts: string[] = [];
  const isDeep = collectLeaves(value, '', 0, { leaves, parts, length: 0, lists: 0 });
  const text = parts.join('');
  const divided = redactLists(text.includes('PRIVATE KEY') ? leaves : [], rules);
  const found = rules.find(text);
  if (found.length === 0 && divided.size === 0 && !isDeep) return value;
  const redacted = redactTouched(leaves, found, divided, rules);
  if (redacted.size === 0 && !isDeep) return value;
  // Same shape with other strings.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return rebuild(value, '', 0, { redacted, count: rules.count }) as T;
}

interface Collecting {
  readonly leaves: Leaf[];
  readonly parts: string[];
  length: number;
  /** Number of lists that have been found. */
  lists: number;
}

/** Separates strings: no rule matches across it, and none of its characters is a part of a secret. */
const separator = '\n\u0000\n';

/** @returns true when a part is too deep. */
function collectLeaves(value: unknown, field: string, depth: number, into: Collecting): boolean {
  if (typeof value === 'string') {
    addLeaf(value, field, 0, into);
    return false;
  }
  if (typeof value !== 'object' || value === null) return false;
  if (depth === depthMax) return true;
  let isDeep = false;
  if (Array.isArray(value)) {
    const list = (into.lists += 1);
    for (const entry of value) {
      if (typeof entry === 'string') addLeaf(entry, field, list, into);
      else isDeep = collectLeaves(entry, field, depth + 1, into) || isDeep;
    }
    return isDeep;
  }
  for (const [name, entry] of Object.entries(value)) {
    addLeaf(name, '', 0, into);
    isDeep = collectLeaves(entry, name, depth + 1, into) || isDeep;
  }
  return isDeep;
}

function addLeaf(text: string, field: string, list: number, into: Collecting): void {
  const before = beforeOf(field);
  into.leaves.push({ text, field, list, start: into.length + before.length });
  into.parts.push(before, text, separator);
  into.length += before.length + text.length + separator.length;
}

/** Returns the text in front of a value, as in a settings file, which the rules know. */
function beforeOf(field: string): string {
  return field === '' ? '' : `${field}=`;
}

/** Stands between the strings of a list as in code, where short strings beside the first line of a key are names. */
const seam = '",\n"';

/**
 * Redacts private keys whose lines are strings of a list: alone, most of them are no secret.
 *
 * @returns the results, keyed by `keyOf`: equal strings in fields of one name have one result.
 */
function redactLists(leaves: readonly Leaf[], rules: TreeRules): Map<string, string> {
  const lists = new Map<number, Leaf[]>();
  for (const leaf of leaves) {
    const entries = lists.get(leaf.list);
    if (entries !== undefined) entries.push(leaf);
    else if (leaf.list > 0) lists.set(leaf.list, [leaf]);
  }
  const redacted = new Map<string, string>();
  for (const entries of lists.values()) redactList(entries, rules, redacted);
  return redacted;
}

function redactList(
  entries: readonly Leaf[],
  rules: TreeRules,
  redacted: Map<string, string>,
): void {
  const joined = `"${entries.map(({ text }) => text).join(seam)}"`;
  // A key in one string is found there.
  const divided = settleSpans(joined, findPrivateKeys(joined)).filter((span) =>
    joined.slice(span.start, span.end).includes(seam),
  );
  for (const { rule } of divided) rules.count(rule);
  let start = 1;
  let next = 0;
  for (const { text, field } of entries) {
    const end = start + text.length;
    while ((divided[next]?.end ?? Infinity) <= start) next += 1;
    const parts = partsIn(divided, next, { start, end });
    if (parts.length > 0) redacted.set(keyOf(field, text), replaceSpans(text, parts));
    start = end + seam.length;
  }
}

/** Returns the parts of spans, from the `first` on, that lie in a string. */
function partsIn(
  spans: readonly Span[],
  first: number,
  { start, end }: Pick<Span, 'start' | 'end'>,
): readonly Span[] {
  const parts: Span[] = [];
  for (let at = first; at < spans.length; at += 1) {
    const span = spans[at];
    if (span === undefined || span.start >= end) break;
    const [from, to] = [Math.max(start, span.start), Math.min(end, span.end)];
    if (from < to) parts.push({ ...span, start: from - start, end: to - start });
  }
  return parts;
}

/**
 * Redacts strings with findings.
 *
 * @param divided Strings with parts of a divided key, without them. They may hold another secret.
 * @returns the results of both, keyed by `keyOf`.
 */
function redactTouched(
  leaves: readonly Leaf[],
  found: readonly { readonly start: number; readonly end: number }[],
  divided: ReadonlyMap<string, string>,
  rules: TreeRules,
): Map<string, string> {
  const redacted = new Map(divided);
  let next = 0;
  for (const { text, field, start } of leaves) {
    while ((found[next]?.end ?? Infinity) <= start) next += 1;
    if ((found[next]?.start ?? Infinity) >= start + text.length) continue;
    const key = keyOf(field, text);
    const result = rules.redact(divided.get(key) ?? text, beforeOf(field));
    if (result !== text) redacted.set(key, result);
  }
  return redacted;
}

function keyOf(field: string, text: string): string {
  return `${field}\u0000${text}`;
}

interface Rebuilding {
  readonly redacted: ReadonlyMap<string, string>;
  readonly count: TreeRules['count'];
}

function rebuild(value: unknown, field: string, depth: number, by: Rebuilding): unknown {
  if (typeof value === 'string') return by.redacted.get(keyOf(field, value)) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === depthMax) {
    by.count('too-deep');
    return markOf('too-deep');
  }
  if (Array.isArray(value)) {
    return value.map((entry: unknown) => rebuild(entry, field, depth + 1, by));
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      by.redacted.get(keyOf('', name)) ?? name,
      rebuild(entry, name, depth + 1, by),
    ]),
  );
}
