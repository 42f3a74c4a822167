/**
 * Writes a string that fits a regular expression, for schemas with a `pattern`.
 *
 * Understands alternatives, groups, classes, escapes and quantifiers. Look-arounds and back-references are skipped, so
 * a sample is only a candidate: the caller tests it.
 */

interface Reader {
  readonly pattern: string;
  position: number;
  /** Repetitions beyond the least, wherever a quantifier allows them. */
  readonly extra: number;
}

const escapes: Readonly<Record<string, string>> = {
  d: '1',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  t: '\t',
  n: '\n',
  r: '\r',
  b: '',
  B: '',
};

function readEscape(reader: Reader): string {
  const letter = reader.pattern[reader.position] ?? '';
  reader.position += 1;
  const rest = reader.pattern.slice(reader.position);
  const code = /^(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))/iu.exec(letter === 'u' ? rest : '');
  if (code !== null) {
    reader.position += code[0].length;
    return String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? '0', 16));
  }
  const property = letter === 'p' || letter === 'P' ? /^\{[^}]*\}/u.exec(rest) : null;
  if (property !== null) {
    reader.position += property[0].length;
    return 'a';
  }
  return escapes[letter] ?? letter;
}

/** One character of a class such as `[a-z0-9_]`; for a negated class the first usual character outside it. */
function readClass(reader: Reader): string {
  const start = reader.position - 1;
  while (reader.position < reader.pattern.length && reader.pattern[reader.position] !== ']') {
    reader.position += reader.pattern[reader.position] === '\\' ? 2 : 1;
  }
  reader.position += 1;
  const source = reader.pattern.slice(start, reader.position);
  const allowed = new RegExp(`^${source}$`, 'u');
  const usual = 'aA1rehslb0-_ .@/:Z9+=#!é';
  const every = Array.from({ length: 95 }, (_, offset) => String.fromCodePoint(32 + offset));
  return [...Array.from(usual), ...every].find((character) => allowed.test(character)) ?? '';
}

function readGroup(reader: Reader): string {
  const look = /^\?(?:[=!]|<[=!])/u.test(reader.pattern.slice(reader.position));
  const head = /^\?(?::|<\w+>|[=!]|<[=!])/u.exec(reader.pattern.slice(reader.position));
  reader.position += head?.[0].length ?? 0;
  const text = readAlternatives(reader);
  reader.position += 1;
  return look ? '' : text;
}

function readAtom(reader: Reader): string {
  const character = reader.pattern[reader.position] ?? '';
  reader.position += 1;
  if (character === '(') return readGroup(reader);
  if (character === '[') return readClass(reader);
  if (character === '\\') return readEscape(reader);
  if (character === '.') return 'a';
  return character === '^' || character === '$' ? '' : character;
}

/** Reads how often the atom before the position is repeated. */
function readCount(reader: Reader): number {
  const rest = reader.pattern.slice(reader.position);
  const [all, sign, least, comma, most] =
    /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/u.exec(rest) ?? [];
  if (all === undefined) return 1;
  reader.position += all.length;
  const min = sign === '+' ? 1 : Number(least ?? 0);
  const open = sign === '*' || sign === '+' || (comma === ',' && most === '');
  const max = sign === '?' ? 1 : Number(most || min);
  return open ? min + reader.extra : Math.min(max, min + reader.extra);
}

/** Reads all alternatives and keeps the first. */
function readAlternatives(reader: Reader): string {
  const alternatives = [''];
  while (reader.position < reader.pattern.length && reader.pattern[reader.position] !== ')') {
    if (reader.pattern[reader.position] === '|') {
      reader.position += 1;
      alternatives.push('');
      continue;
    }
    const atom = readAtom(reader);
    const text = atom.repeat(readCount(reader));
    alternatives.push((alternatives.pop() ?? '') + text);
  }
  return alternatives[0] ?? '';
}

/**
 * A candidate for a string that fits `pattern`.
 *
 * @param extra repetitions beyond the least where a quantifier allows them; makes the candidate longer. From 0.
 */
export function samplePattern(pattern: string, extra: number): string {
  return readAlternatives({ pattern, position: 0, extra });
}
