/** A string in a value: a text, or the name of a field. */
interface Leaf {
  readonly text: string;
  /** The name of its field; for entries of a list, of the list's. Some secrets are recognised by it. */
  readonly field: string;
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
  /** Returns the replacement for parts that are too deep. */
  readonly tooDeep: () => string;
}

/**
 * Redacts the strings and field names of a JSON value. Returns the same value when there was nothing to redact.
 *
 * All strings are searched together first: most values hold no secret, and one search costs a tenth of hundreds. Only a
 * string with a finding is then searched alone, so that no finding crosses its end.
 */
export function redactTree<T>(value: T, rules: TreeRules): T {
  const leaves: Leaf[] = [];
  const parts: string[] = [];
  const isDeep = collectLeaves(value, '', 0, { leaves, parts, length: 0 });
  const found = rules.find(parts.join(''));
  if (found.length === 0 && !isDeep) return value;
  const redacted = redactTouched(leaves, found, rules);
  if (redacted.size === 0 && !isDeep) return value;
  // Same shape with other strings.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return rebuild(value, '', 0, { redacted, tooDeep: rules.tooDeep }) as T;
}

interface Collecting {
  readonly leaves: Leaf[];
  readonly parts: string[];
  length: number;
}

/** Separates strings: no rule matches across it, and none of its characters is a part of a secret. */
const separator = '\n\u0000\n';

/** @returns true when a part is too deep. */
function collectLeaves(value: unknown, field: string, depth: number, into: Collecting): boolean {
  if (typeof value === 'string') {
    addLeaf(value, field, into);
    return false;
  }
  if (typeof value !== 'object' || value === null) return false;
  if (depth === depthMax) return true;
  let isDeep = false;
  if (Array.isArray(value)) {
    for (const entry of value) isDeep = collectLeaves(entry, field, depth + 1, into) || isDeep;
    return isDeep;
  }
  for (const [name, entry] of Object.entries(value)) {
    addLeaf(name, '', into);
    isDeep = collectLeaves(entry, name, depth + 1, into) || isDeep;
  }
  return isDeep;
}

function addLeaf(text: string, field: string, into: Collecting): void {
  const before = beforeOf(field);
  into.leaves.push({ text, field, start: into.length + before.length });
  into.parts.push(before, text, separator);
  into.length += before.length + text.length + separator.length;
}

/** Returns the text in front of a value, as in a settings file, which the rules know. */
function beforeOf(field: string): string {
  return field === '' ? '' : `${field}=`;
}

/**
 * Redacts strings with findings. The results are keyed by `keyOf`: equal strings in fields of one name have one result.
 */
function redactTouched(
  leaves: readonly Leaf[],
  found: readonly { readonly start: number; readonly end: number }[],
  rules: TreeRules,
): Map<string, string> {
  const redacted = new Map<string, string>();
  let next = 0;
  for (const { text, field, start } of leaves) {
    while ((found[next]?.end ?? Infinity) <= start) next += 1;
    if ((found[next]?.start ?? Infinity) >= start + text.length) continue;
    const result = rules.redact(text, beforeOf(field));
    if (result !== text) redacted.set(keyOf(field, text), result);
  }
  return redacted;
}

function keyOf(field: string, text: string): string {
  return `${field}\u0000${text}`;
}

interface Rebuilding {
  readonly redacted: ReadonlyMap<string, string>;
  readonly tooDeep: () => string;
}

function rebuild(value: unknown, field: string, depth: number, by: Rebuilding): unknown {
  if (typeof value === 'string') return by.redacted.get(keyOf(field, value)) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === depthMax) return by.tooDeep();
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
