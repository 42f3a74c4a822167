/**
 * Normalises keys and values of facts, so that facts about one thing, and equal values, are recognised.
 *
 * Invariants:
 *   FK1. Keys that differ in case, white space, punctuation and invisible characters alone are one key, and a
 *        normalised key stays as it is.
 *   FK2. Values that differ in case and white space alone, or write one decimal number in two ways, are one value;
 *        others are not. Signs, units and digits always count.
 */
import { normaliseText } from '../text/cut-text.ts';

/** @returns words joined by `-`, such as `hosting-price-per-month`; null when nothing is left of the key. */
export function normaliseKey(key: string): string | null {
  const visible = key.normalize('NFC').replace(/\p{Cf}/gu, '');
  const normalised = normaliseText(visible.replace(/\p{Cc}/gu, ' '))
    .replace(/\s+/gu, '-')
    .normalize('NFC');
  return normalised === '' ? null : normalised;
}

/** Normalises for comparison, never for display. */
export function normaliseValue(value: string): string {
  const folded = value.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim().normalize('NFC');
  return normaliseDecimal(folded) ?? folded;
}

export function isSameValue(a: string, b: string): boolean {
  return normaliseValue(a) === normaliseValue(b);
}

/**
 * Normalises digit by digit, because a JavaScript number would round: `+07.50` is `7.5`. Null when the text is no plain
 * decimal.
 */
function normaliseDecimal(text: string): string | null {
  const parts = /^([+-]?)0*(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text);
  if (parts === null) return null;
  const [, sign = '', whole = '', decimals = ''] = parts;
  const fraction = decimals.replace(/(?<!0)0+$/, '');
  const digits = fraction === '' ? whole : `${whole}.${fraction}`;
  return sign === '-' && digits !== '0' ? `-${digits}` : digits;
}
