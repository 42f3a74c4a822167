import { findPrivateKeys } from './private-key.ts';
import type { Span } from './span.ts';

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
