/**
 * Reads `.gitignore` files and tells which paths they exclude, as git does, without starting a process.
 *
 * Invariants:
 *   IG1. The last matching pattern decides; a file nearer to the path counts after one further up.
 *   IG2. Nothing below an ignored folder can be taken back.
 *   IG3. A match takes time in proportion to pattern × path: there is no regular expression and no recursion.
 */

interface IgnorePattern {
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  /** One matcher for each part of a path; `star` stands for `**`. */
  readonly parts: readonly (Matcher<string> | typeof star)[];
  /** The text of each of them. */
  readonly names: readonly string[];
}

/** The patterns of one `.gitignore`. */
export interface IgnoreFile {
  /** Parts of the folder that contains it, from the workspace down. */
  readonly folder: readonly string[];
  readonly patterns: readonly IgnorePattern[];
}

type Matcher<T> = (item: T) => boolean;

/** Matches any number of items. */
const star = Symbol('star');

export function parseIgnoreFile(folder: readonly string[], text: string): IgnoreFile {
  const lines = text.replace(/^\uFEFF/u, '').split('\n');
  return {
    folder,
    patterns: lines.flatMap((line) => parsePattern(line.replace(/\r$/u, '')) ?? []),
  };
}

/**
 * Tells whether a path is ignored.
 *
 * @param files Those of all folders above it, the outermost first.
 */
export function isIgnored(
  files: readonly IgnoreFile[],
  parts: readonly string[],
  isFolder: boolean,
): boolean {
  return parts.some((_part, at) => {
    const isLast = at === parts.length - 1;
    return decide(files, parts.slice(0, at + 1), !isLast || isFolder);
  });
}

/**
 * Returns true for a result of an agent of a plan, and for the folders that lead there. Other tasks read it, whatever an ignore file
 * says.
 */
export function isResult(parts: readonly string[], isFolder: boolean): boolean {
  const [top, , folder = 'task_output'] = parts;
  if (top !== 'agents' || folder !== 'task_output' || parts.includes('node_modules')) return false;
  return isFolder || parts.length > 3;
}

/** Returns a test for paths by one pattern with the rules of an ignore file, such as `*.ts` or `src/**`. */
export function matchPattern(pattern: string): (parts: readonly string[]) => boolean {
  const file = parseIgnoreFile([], pattern);
  return (parts) => isIgnored([file], parts, false);
}

/**
 * Returns the lines of an ignore file for a folder that mean there what the files above it, its own and those below it mean.
 *
 * @param files The outermost first.
 * @param parts Of the folder, which they do not ignore, from the workspace down.
 */
export function listPatternsBelow(
  files: readonly IgnoreFile[],
  parts: readonly string[],
): readonly string[] {
  return files.flatMap(({ folder, patterns }) => {
    const way = parts.slice(folder.length);
    const below = folder.slice(parts.length).map((name) => `/${escapeName(name)}`);
    return patterns.flatMap((pattern) => narrow(pattern, way, below.join('')));
  });
}

/** Returns true for an ignore file in which ripgrep, but not git, reads alternatives between braces. */
export function hasBraces({ patterns }: IgnoreFile): boolean {
  return patterns.some(({ names }) => names.some((name) => escapeBraces(name) !== name));
}

/** Escapes a path, so that as a pattern it means itself. */
export function escapeName(path: string): string {
  return path.replaceAll(/[\\*?[\]{} ]/gu, String.raw`\$&`);
}

/** Returns what is left of a pattern behind a way: a line for each part at which the rest of a path may begin. */
function narrow(
  { isNegated, foldersOnly, parts, names }: IgnorePattern,
  way: readonly string[],
  below: string,
): string[] {
  const [sign, end] = [isNegated ? '!' : '', foldersOnly ? '/' : ''];
  let reached = skipStars(parts, [0]);
  for (const name of way) {
    const next = [...reached].flatMap((at) => {
      const part = parts[at];
      if (part === star) return at;
      return part?.(name) === true ? at + 1 : [];
    });
    reached = skipStars(parts, next);
  }
  // A rest that begins with stars includes the one without them. Where none is left, the pattern names the folder only.
  return [...reached]
    .filter((at) => at < names.length && !(parts[at - 1] === star && reached.has(at - 1)))
    .map((at) => `${sign}${below}/${escapeBraces(names.slice(at).join('/'))}${end}`);
}

/** Git takes braces literally; ripgrep reads alternatives between them, unless they are escaped. */
function escapeBraces(pattern: string): string {
  return pattern.replaceAll(/\\.|[{}]/gsu, (part) => (part.length === 1 ? `\\${part}` : part));
}

/** Adds the parts behind each `star`, which may match nothing. */
function skipStars(parts: IgnorePattern['parts'], from: readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const begin of from) {
    for (let at = begin; !found.has(at); at += 1) {
      found.add(at);
      if (parts[at] !== star) break;
    }
  }
  return found;
}

function decide(
  files: readonly IgnoreFile[],
  parts: readonly string[],
  isFolder: boolean,
): boolean {
  let ignored = false;
  for (const { folder, patterns } of files) {
    if (!folder.every((part, at) => parts[at] === part) || folder.length >= parts.length) continue;
    const inside = parts.slice(folder.length);
    for (const pattern of patterns) {
      if (pattern.foldersOnly && !isFolder) continue;
      if (matches(pattern.parts, inside)) ignored = !pattern.isNegated;
    }
  }
  return ignored;
}

function parsePattern(line: string): IgnorePattern | null {
  if (line.startsWith('#')) return null;
  const isNegated = line.startsWith('!');
  const trimmed = trimEnd(isNegated ? line.slice(1) : line);
  const foldersOnly = trimmed.endsWith('/');
  const body = foldersOnly ? trimmed.slice(0, -1) : trimmed;
  const names = body.replace(/^\//u, '').split('/');
  if (names.includes('')) return null;
  // Behind the last slash, "everything" does not include the folder itself.
  if (isStars(names.at(-1) ?? '') && names.length > 1) names.push('*');
  // A pattern without a slash in it matches a name at any depth.
  if (!body.includes('/')) names.unshift('**');
  const parts = names.map((name) => (isStars(name) ? star : matchName(name)));
  return { isNegated, foldersOnly, parts, names };
}

/** Returns true for two stars or more, which git reads alike. */
function isStars(name: string): boolean {
  return /^\*\*+$/u.test(name);
}

/** Removes spaces at the end, except one behind a backslash. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && line[end - 2] !== '\\') end -= 1;
  return line.slice(0, end);
}

function matchName(pattern: string): Matcher<string> {
  const tokens = readTokens(Array.from(pattern));
  return tokens === null ? () => false : (name) => matches(tokens, Array.from(name));
}

/** @returns null for a pattern that git never matches: a class without end, or a backslash at the end. */
function readTokens(chars: readonly string[]): (Matcher<string> | typeof star)[] | null {
  const tokens: (Matcher<string> | typeof star)[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at];
    if (char === '*') tokens.push(star);
    else if (char === '?') tokens.push(() => true);
    else if (char === '[') {
      const read = readClass(chars, at + 1);
      if (read === null) return null;
      tokens.push(read.test);
      at = read.end;
    } else {
      if (char === '\\') at += 1;
      const literal = chars[at];
      if (literal === undefined) return null;
      tokens.push((other) => other === literal);
    }
  }
  return tokens;
}

/** Reads a class such as `[a-z_]` or `[!0-9]`. @returns the test, and where the closing bracket is. */
function readClass(
  chars: readonly string[],
  begin: number,
): { readonly test: Matcher<string>; readonly end: number } | null {
  const isNegated = chars[begin] === '!' || chars[begin] === '^';
  const first = isNegated ? begin + 1 : begin;
  const ranges: (readonly [low: string, high: string])[] = [];
  let at = first;
  // A closing bracket in first place is an ordinary character.
  while (at < chars.length && (chars[at] !== ']' || at === first)) {
    const range = readRange(chars, chars[at] === '\\' ? at + 1 : at);
    ranges.push(range.ends);
    at = range.next;
  }
  const test = (char: string): boolean =>
    ranges.some(([low, high]) => low <= char && char <= high) !== isNegated;
  return at < chars.length ? { test, end: at } : null;
}

/** Reads one character of a class, or two with a dash between them. */
function readRange(
  chars: readonly string[],
  at: number,
): { readonly ends: readonly [low: string, high: string]; readonly next: number } {
  const [low = '', dash, high = ']'] = chars.slice(at, at + 3);
  const isRange = dash === '-' && high !== ']';
  return { ends: [low, isRange ? high : low], next: at + (isRange ? 3 : 1) };
}

/** Matches tokens against items; after a mismatch, the last `star` takes one item more. */
function matches<T>(tokens: readonly (Matcher<T> | typeof star)[], items: readonly T[]): boolean {
  let token = 0;
  let item = 0;
  let back: { readonly token: number; item: number } | null = null;
  while (item < items.length) {
    const next = tokens[token];
    const current = items[item];
    if (next === star) {
      back = { token, item };
      token += 1;
    } else if (next !== undefined && current !== undefined && next(current)) {
      token += 1;
      item += 1;
    } else if (back === null) return false;
    else {
      back.item += 1;
      token = back.token + 1;
      ({ item } = back);
    }
  }
  return tokens.slice(token).every((rest) => rest === star);
}
