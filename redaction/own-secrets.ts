import type { Span } from './span.ts';

/** Length of a value that may be a secret. Shorter ones are words, longer ones are files. */
const secretCharacters = { min: 8, max: 10_000 };

/** Most secrets. An environment has a dozen, and each costs a search in every text. */
const secretsMax = 100;

/** Matches `…_KEY`, `…_TOKEN`, `…PASSWORD` and so on, also with a number at the end. */
const secretName =
  /(?:^|_)(?:[A-Z]*KEY|[A-Z]*TOKEN|[A-Z]*SECRET|PASS|[A-Z]*PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)S?(?:_?\d+)?$/i;

/** Names that end like a secret's but hold none. */
const publicName = /PUBLIC_?KEY|(?:^|_)(?:HOT|SORT|PRIMARY|PARTITION|FOREIGN|CACHE)_?KEY/i;

/**
 * Collects the secrets of a process: values of its environment with a telling name, and passwords inside addresses, if
 * they differ from ordinary words. `ANTHROPIC_API_KEY` and `TEMPORAL_API_KEY` are among them. Longest first.
 */
export function collectOwnSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) => [
    ...(secretName.test(name) && !publicName.test(name) ? [value] : []),
    ...(name === 'PLANWAVE_KEYS' ? readKeys(value) : []),
    ...readPasswords(value),
  ]);
  return [...new Set(values.filter(isTelling))]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, secretsMax);
}

/** Returns the keys of a key ring, `id:key,id2:key2`. */
function readKeys(value: string): string[] {
  return value.split(',').flatMap((entry) => /^[\w.-]+:([^\s:]+)$/.exec(entry.trim())?.[1] ?? []);
}

/** Returns the password of an address such as `postgresql://user:password@host/db`, as written and decoded. */
function readPasswords(value: string): string[] {
  const written = URL.canParse(value) ? new URL(value).password : '';
  return written === '' ? [] : [written, unescapePercent(written)];
}

function unescapePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Rejects `rehearsal`, `none`, `localhost:5432` and `/run/secrets/key`, which occur in texts for other reasons. */
function isTelling(value: string): boolean {
  const { min, max } = secretCharacters;
  if (value.length < min || value.length > max) return false;
  if (/^(?:\/|\.{1,2}\/|~|[A-Za-z]:\\)/.test(value) && !/[+=]/.test(value)) return false;
  if (/^[a-z]+:\/\/[^@]*$/i.test(value)) return false;
  // Letters alone are a password only when no word is that long.
  return /^[\p{L}\s_.-]+$/u.test(value) ? value.length >= 20 : !/^[\d\s.:]+$/.test(value);
}

/** @param secrets Secrets in plain form; each is found in every spelling of `spellSecret`. */
export function createOwnSecretFinder(secrets: readonly string[]): (text: string) => Span[] {
  const spellings = [...new Set(secrets.flatMap(spellSecret))];
  return (text) =>
    spellings.flatMap((spelling) => {
      const spans: Span[] = [];
      for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + 1)) {
        spans.push({ start: at, end: at + spelling.length, rule: 'own-secret' });
        at += spelling.length - 1;
      }
      return spans;
    });
}

/**
 * Returns a secret in plain form, in JSON, in a URL, in hexadecimal, and in Base64 at any position of a longer text.
 */
export function spellSecret(secret: string): string[] {
  const spellings = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    // A lone surrogate would throw; as UTF-8 it is a replacement character.
    encodeURIComponent(Buffer.from(secret).toString()),
    Buffer.from(secret).toString('hex'),
    ...spellBase64(secret),
  ];
  return [...new Set(spellings)].filter(({ length }) => length >= secretCharacters.min);
}

/**
 * Returns the Base64 characters that depend on the secret alone, for each of the three positions in a group of three
 * bytes.
 */
function spellBase64(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const spellings = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return encoded.slice(first, last);
  });
  return spellings.flatMap((one) => [one, one.replaceAll('+', '-').replaceAll('/', '_')]);
}
