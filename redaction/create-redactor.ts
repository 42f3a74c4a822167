import { createOwnSecretFinder, spellSecret } from './own-secrets.ts';
import { findOpenPrivateKey, findPrivateKeys } from './private-keys.ts';
import { createRecommendedRules } from './recommended-rules.ts';
import { redactTree } from './redact-tree.ts';
import { replaceSpans, settleSpans, type Span } from './span.ts';

/** Takes secrets out of everything that leaves the process. Synchronous, so that nothing is written before. */
export interface Redactor {
  /**
   * Returns the text with a mark in place of each secret. A text that is JSON stays JSON.
   *
   * @param sink Destination of the text, for the count.
   */
  redactText(text: string, sink: string): string;
  /** Returns the text like `redactText`, but JSON keeps its numbers, spaces and line breaks as they are written. */
  redactAsWritten(text: string, sink: string): string;
  /**
   * Returns the lines of a text with a mark in place of each secret. One of several lines has a mark in each of them, so
   * that their number stays.
   *
   * @param lines Without their ends.
   */
  redactLines(lines: readonly string[], sink: string): readonly string[];
  /** Returns a JSON value with its strings redacted: the same value when it holds no secret, otherwise a copy. */
  redactValue<T>(value: T, sink: string): T;
  /**
   * Returns the place in a growing text where a secret of several words has begun and not ended; the text's length when
   * there is none.
   */
  findOpen(text: string): number;
}

export interface RedactorOptions {
  /** Found everywhere, also encoded. See `collectOwnSecrets`. */
  readonly secrets: readonly string[];
  /** Called with each finding, never with the secret. Default: none. */
  readonly onRedacted?: ((rule: string, sink: string, count: number) => void) | undefined;
}

/** Depth below which JSON in strings of JSON is treated as text. */
const jsonDepthMax = 5;

/**
 * Rounds of redaction, because the rest may be a secret again: `npm_npm_…` ends with one however often its end is
 * removed. From the third round on the whole word is removed, and a text that is made to resist is removed as a whole.
 */
const exactRounds = 2;
const wordRounds = 4;

/**
 * Match a part of every text in which a rule finds a secret: the beginning of a token or an address with a password, and
 * names. Most texts match neither, and both together cost a tenth of the rules. They are two because a pattern that
 * ignores case is slow when it has many words.
 */
const tokenHint =
  /sk-[\w-]{16}|sk_(?:live|test)_|rk_live_|npm_|hf_|gh[opsru]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|SG\.|shp[a-z]{2,3}_|dop_v1_|lin_api_|ops_ey|A(?:[KS]IA|3T|GPA|IDA|ROA|IPA|NPA|NVA|Iza)|-----(?:BEGIN|END)|_authToken|:x-oauth-basic@|:\/\/[\w-]{1,256}:[\w-]{1,256}@/;
const nameHint = /hooks\.slack|secret_?access|mongodb[:+]|mysqlx?:|postgres(?:ql)?:/i;

/** Returns false when no rule finds anything in the text. The process's own secrets have no common hint. */
export function mayHoldSecret(text: string): boolean {
  return tokenHint.test(text) || nameHint.test(text);
}

/** Matches escapes of JSON that can hide a character of a hint. */
const hidingEscape = /\\[u/]/;

/**
 * Finds secrets by secretlint's recommended rules, by three added ones, and by the process's own secrets in every
 * spelling.
 *
 * SR1. The same text gives the same bytes in every process with the same secrets; a redacted text stays unchanged.
 * SR2. No character of a found secret is left, anywhere in a text or value.
 * SR3. JSON stays JSON of the same shape; only its strings change.
 * SR4. No part of a text can switch a rule off.
 * SR5. Time grows with the length of the text, whatever it contains.
 * SR6. Each secret is counted once, by rule and sink, and is shown nowhere.
 * SR7. In a growing text, `findOpen` finds the first character of a private key (its first line) or an own secret that
 *      has begun, until its end arrives.
 */
export function createRedactor({ secrets, onRedacted }: RedactorOptions): Redactor {
  const findRecommended = createRecommendedRules();
  const findOwn = createOwnSecretFinder(secrets);
  const find = (text: string): readonly Span[] => {
    const found = mayHoldSecret(text) ? [...findRecommended(text), ...findByAddedRules(text)] : [];
    return settleSpans(text, [...found, ...findOwn(text)]);
  };
  const isSpelledOnce = secrets.every((secret) => !/["\\\p{Cc}]/u.test(secret));
  /** Returns true when neither the text nor, if it is JSON, any string in it at any depth holds a secret. */
  const isClean = (text: string): boolean =>
    !mayHoldSecret(text) &&
    !hidingEscape.test(text) &&
    (isSpelledOnce || !text.includes('\\')) &&
    findOwn(text).length === 0;
  const redactPlain = (
    text: string,
    before: string,
    counts: Counts,
    keepsLines = false,
  ): string => {
    let redacted = text;
    for (let round = 1; ; round += 1) {
      const spans = within(find(before + redacted), before.length);
      const [first] = spans;
      if (first === undefined) return redacted;
      for (const { rule } of spans) countOne(counts, rule);
      if (round > exactRounds + wordRounds) {
        return replaceSpans(redacted, [{ ...first, start: 0, end: redacted.length }], keepsLines);
      }
      const parts =
        round > exactRounds ? settleSpans(redacted, widenToWords(redacted, spans)) : spans;
      redacted = replaceSpans(redacted, parts, keepsLines);
    }
  };
  const counting = <T>(sink: string, work: (counts: Counts) => T): T => {
    const counts: Counts = new Map();
    const result = work(counts);
    for (const [rule, count] of counts) onRedacted?.(rule, sink, count);
    return result;
  };
  const redactTreeOf = <T>(value: T, counts: Counts, depth: number): T =>
    redactTree(value, {
      find,
      redact: (text, before) => redactAny(text, before, counts, depth + 1),
      count: (rule) => countOne(counts, rule),
    });
  /** @param depth Nesting of JSON in strings of JSON: replies in transcripts, and tool results in those. */
  const redactAny = (text: string, before: string, counts: Counts, depth: number): string => {
    const json = depth < jsonDepthMax ? readJson(text) : undefined;
    if (json === undefined) return redactPlain(text, before, counts);
    const redacted = redactTreeOf(json, counts, depth);
    const written = JSON.stringify(redacted, null, indentOf(text));
    // An unchanged value keeps its bytes, unless they hold more than their JSON: of two fields with one name, the
    // first.
    const isUntouched = redacted === json && (written === text || find(text).length === 0);
    return isUntouched ? text : written;
  };
  return {
    redactText: (text, sink) =>
      isClean(text) ? text : counting(sink, (counts) => redactAny(text, '', counts, 0)),
    redactAsWritten: (text, sink) =>
      isClean(text) ? text : counting(sink, (counts) => redactPlain(text, '', counts)),
    redactLines: (lines, sink) => {
      const text = lines.join('\n');
      if (isClean(text)) return lines;
      return counting(sink, (counts) => redactPlain(text, '', counts, true).split('\n'));
    },
    redactValue: (value, sink) => counting(sink, (counts) => redactTreeOf(value, counts, 0)),
    findOpen: createOpenFinder(secrets),
  };
}

type Counts = Map<string, number>;

function countOne(counts: Counts, rule: string): void {
  counts.set(rule, (counts.get(rule) ?? 0) + 1);
}

/** Returns the spans behind the first `from` characters, counted from there. */
function within(spans: readonly Span[], from: number): readonly Span[] {
  if (from === 0) return spans;
  return spans.flatMap(({ start, end, rule }) =>
    end > from ? [{ start: Math.max(0, start - from), end: end - from, rule }] : [],
  );
}

/**
 * Widens each span to the white space around it. It works character by character, because for a word of megabytes a
 * pattern would overflow the stack. Spans are in order and don't overlap, so no character is read twice.
 */
function widenToWords(text: string, spans: readonly Span[]): Span[] {
  let from = 0;
  return spans.flatMap((span): Span[] => {
    // The span is inside the word that was widened before.
    if (span.end <= from) return [];
    let start = Math.max(span.start, from);
    while (start > from && !isSpace(text, start - 1)) start -= 1;
    let { end } = span;
    while (end < text.length && !isSpace(text, end)) end += 1;
    from = end;
    return [{ ...span, start, end }];
  });
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at));
}

/** @returns undefined when the text is no JSON, or a number or a word. */
function readJson(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function indentOf(text: string): number {
  return /^\s*[[{]\s*\n/.test(text) ? 2 : 0;
}

/** Matches the secret half of an AWS key inside a JSON text whose quotes are escaped, once or twice. */
const quotedAwsSecret =
  /(secret_?access_?key\\{0,3}["']?\s{0,20}(?::|=>|=)\s{0,20}\\{0,3}["'])[A-Za-z0-9/+=]{40}(?![A-Za-z0-9/+=])/gi;

/**
 * Matches a token in npm settings. The recommended rule looks only into files of that name, and takes the rest of the
 * line.
 */
const npmToken = /(_authToken\s{0,20}=\s{0,20}\\?["']?)[^\s"'\\$][^\s"'\\]{5,}/g;

/**
 * Matches a key that was cut off or mistyped: the provider's prefix and at least 16 characters of its alphabet. The
 * recommended rules require the exact length.
 */
const nearForm =
  /(?<![A-Za-z0-9])(?:(?:sk-ant-|sk-proj-|github_pat_|glpat-|xox[abeprs]-|SG\.)[A-Za-z0-9_-]{16,}|(?:sk-|sk_live_|sk_test_|rk_live_|gh[opsru]_|npm_|hf_|shp(?:at|ss|ca|pa)_|dop_v1_|A[KS]IA|AIza)[A-Za-z0-9]{16,})/g;

/** Finds secrets that the recommended rules miss, because those examine files and not texts in transit. */
export function findByAddedRules(text: string): Span[] {
  return [
    ...findPrivateKeys(text),
    ...findBehindNames(text, quotedAwsSecret, 'aws'),
    ...findBehindNames(text, npmToken, 'npm'),
    ...findBehindNames(text, nearForm, 'near-form'),
  ];
}

/** @param pattern Its first group, if it has one, is the text that announces a secret. */
function findBehindNames(text: string, pattern: RegExp, rule: string): Span[] {
  return [...text.matchAll(pattern)].map(({ index, 0: match, 1: before = '' }) => ({
    start: index + before.length,
    end: index + match.length,
    rule,
  }));
}

/**
 * Matches secrets of several words. Those of one word are never shown in part, because an unfinished word is not shown.
 */
const severalWords = /[\s\u0080-\uffff]/;

/**
 * Finds the place in a growing text where a secret of several words has begun and not ended.
 *
 * @param secrets Secrets in plain form.
 * @returns a function to the first such place, or the length of the text.
 */
function createOpenFinder(secrets: readonly string[]): (text: string) => number {
  const spellings = secrets.flatMap(spellSecret).filter((spelling) => severalWords.test(spelling));
  return (text) =>
    Math.min(
      findOpenPrivateKey(text),
      ...spellings.map((spelling) => findOpenSecret(text, spelling)),
    );
}

function findOpenSecret(text: string, spelling: string): number {
  const first = spelling.charAt(0);
  const from = Math.max(0, text.length - spelling.length + 1);
  for (let at = text.indexOf(first, from); at >= 0; at = text.indexOf(first, at + 1)) {
    if (spelling.startsWith(text.slice(at))) return at;
  }
  return text.length;
}
