import type { Span } from './span.ts';

/**
 * What the recommended rules leave over, because they look at files and not at texts on their way.
 *
 * A block of a private key, from its first line as far as it goes: encrypted, with headers, or cut off before its end.
 * Line ends may be escaped, as in JSON.
 */
const privateKey = new RegExp(
  [
    String.raw`-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`,
    String.raw`(?:(?:\s|\\[nr])+[A-Za-z-]{1,20}: [^\n\\]{0,200})*`,
    String.raw`(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})+`,
    String.raw`(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{1,15}(?=(?:\s|\\[nr])*-----|[ \t]*(?:[\r\n]|\\[nr]|$)))?`,
    String.raw`(?:(?:\s|\\[nr])*-----END[A-Z0-9 ]{0,40}-----)?`,
  ].join(''),
  'g',
);

/** The secret half of an AWS key in a part of a JSON text, where the quotes around it are escaped, once or twice. */
const quotedAwsSecret =
  /(secret_?access_?key\\{0,3}["']?\s{0,20}(?::|=>|=)\s{0,20}\\{0,3}["'])[A-Za-z0-9/+=]{40}(?![A-Za-z0-9/+=])/gi;

/** A token in settings of npm. The recommended rule looks into files of that name only, and takes the rest of the line. */
const npmToken = /(_authToken\s{0,20}=\s{0,20}\\?["']?)[^\s"'\\$][^\s"'\\]{5,}/g;

export function findByAddedRules(text: string): Span[] {
  return [
    ...findPrivateKeys(text),
    ...findBehindNames(text, quotedAwsSecret, 'aws'),
    ...findBehindNames(text, npmToken, 'npm'),
  ];
}

function findPrivateKeys(text: string): Span[] {
  if (!text.includes('PRIVATE KEY')) return [];
  return [...text.matchAll(privateKey)].map(({ index, 0: match }) => ({
    start: index,
    end: index + match.length,
    rule: 'privatekey',
  }));
}

/** @param pattern its first group is what tells that a secret follows. */
function findBehindNames(text: string, pattern: RegExp, rule: string): Span[] {
  return [...text.matchAll(pattern)].map(({ index, 0: match, 1: before = '' }) => ({
    start: index + before.length,
    end: index + match.length,
    rule,
  }));
}
