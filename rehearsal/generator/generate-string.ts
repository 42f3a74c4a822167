import type { JsonObject } from '../json.ts';
import { dropHalfPair } from '../quote.ts';
import { samplePattern } from './sample-pattern.ts';

/** Values of the usual formats. `{n}` stands for a digit, so that several differ. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-0{n}T12:00:00Z',
  date: '2026-01-0{n}',
  time: '12:00:0{n}Z',
  duration: 'PT{n}H',
  email: 'rehearsal{n}@example.com',
  'idn-email': 'rehearsal{n}@example.com',
  hostname: 'rehearsal{n}.example.com',
  'idn-hostname': 'rehearsal{n}.example.com',
  ipv4: '192.0.2.{n}',
  ipv6: '2001:db8::{n}',
  uri: 'https://example.com/rehearsal/{n}',
  url: 'https://example.com/rehearsal/{n}',
  iri: 'https://example.com/rehearsal/{n}',
  'uri-reference': '/rehearsal/{n}',
  'iri-reference': '/rehearsal/{n}',
  'uri-template': '/rehearsal/{n}',
  'json-pointer': '/rehearsal/{n}',
  'relative-json-pointer': '{n}/rehearsal',
  'json-string': '"rehearsal {n}"',
  regex: '^rehearsal{n}$',
  uuid: '00000000-0000-4000-8000-00000000000{n}',
  guid: '00000000-0000-4000-8000-00000000000{n}',
  base64: 'cmVoZWFyc2Fs',
  base64url: 'cmVoZWFyc2Fs',
  cidrv4: '192.0.2.{n}/32',
  cidrv6: '2001:db8::{n}/128',
  e164: '+4915100000{n}0',
};

function compile(pattern: unknown): RegExp | null {
  if (typeof pattern !== 'string') return null;
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Some patterns are only valid without the flag; a pattern valid with neither demands nothing.
    }
  }
  return null;
}

/** Brings `text` to the allowed length, counted in characters as JSON Schema counts them. */
function fitLength(text: string, lengthMin: number, lengthMax: number): string {
  const cut = text.length > lengthMax ? dropHalfPair(text.slice(0, lengthMax)) : text;
  const missing = lengthMin - Array.from(cut).length;
  return missing > 0 ? cut + '.'.repeat(missing) : cut;
}

function patternCandidates(pattern: string, index: number): readonly string[] {
  const words = ['rehearsal', `rehearsal-${index}`, `rehearsal${index}`, `R${index}`, `${index}`];
  const ordered = index > 1 ? words.toReversed() : words;
  const samples = [0, 1, 2, 4, 8, 16, 32, 64].map((extra) => samplePattern(pattern, extra));
  return [...ordered, ...samples];
}

/**
 * A string for a string schema.
 *
 * @param schema its `format`, `pattern`, `minLength` and `maxLength` are kept as far as a candidate is found.
 * @param text what the string says when nothing forbids it.
 * @param index makes strings of one list differ, from 1.
 */
export function generateString(schema: JsonObject, text: string, index: number): string {
  const lengthMin = Number(schema['minLength'] ?? 0);
  const lengthMax = Number(schema['maxLength'] ?? Number.MAX_SAFE_INTEGER);
  const format = formats[String(schema['format'])]?.replace('{n}', String(index % 10));
  const regex = compile(schema['pattern']);
  const fits = (candidate: string): boolean => {
    const length = Array.from(candidate).length;
    return length >= lengthMin && length <= lengthMax && (regex?.test(candidate) ?? true);
  };
  if (format !== undefined && fits(format)) return format;
  const free = fitLength(text, lengthMin, lengthMax);
  if (regex === null || fits(free)) return free;
  return patternCandidates(regex.source, index).find(fits) ?? free;
}
