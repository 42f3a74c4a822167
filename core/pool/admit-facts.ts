/**
 * The only way into the pool (seed 004 §9): each fact that an agent, the planner or the user states passes here.
 *
 * Invariants:
 *   PF1. The pool is append-only: earlier facts stay unchanged and in place.
 *   PF2. Ids continue from the existing ones, in the order in which the facts were proposed.
 *   PF3. A repetition is refused: admitting the same proposals twice leaves the same pool as once.
 *   PF4. Every key is normalised, and a fact has a value exactly when it has a key.
 *   PF5. A fact that restates a standing assumption is an assumption itself, unless the user states it or `settled_by`
 *        names what settles it. Repeating an assumption does not make it a fact.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import { factId } from '../ids.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';
import type { Fact, ProposedFact, StatedFact } from '../../contracts/agent-output.ts';

/** @param now Unix epoch seconds. */
export function admitFacts(
  pool: readonly Fact[],
  proposed: readonly ProposedFact[],
  now: number,
): readonly Fact[] {
  const known = new Set(pool.map(identify));
  const admitted: Fact[] = [];
  for (const one of proposed) {
    const fact = normaliseFact(one);
    const identity = identify(fact);
    if (known.has(identity)) continue;
    known.add(identity);
    const restates = !isSettled(one) && restatesAssumption(fact, [...pool, ...admitted]);
    admitted.push({
      fact_id: factId(pool.length + admitted.length + 1),
      ...fact,
      is_assumption: fact.is_assumption || restates,
      superseded_by: null,
      recorded_at: now,
    });
  }
  return admitted.length === 0 ? pool : [...pool, ...admitted];
}

function isSettled({ origin, settled_by = '' }: ProposedFact): boolean {
  return origin === 'user' || settled_by.trim() !== '';
}

/** Returns true when an assumption with this value stands and no settled fact does. */
function restatesAssumption({ key, value }: ProposedFact, pool: readonly Fact[]): boolean {
  if (key === null || value === null) return false;
  const same = pool.filter(
    (fact) =>
      fact.superseded_by === null &&
      fact.key === key &&
      fact.value !== null &&
      isSameValue(fact.value, value),
  );
  return same.length > 0 && same.every((fact) => fact.is_assumption);
}

/** Normalises key and value. A key that becomes empty is none, and a value without a key can't be compared. */
export function normaliseFact(proposed: ProposedFact): ProposedFact {
  const { key, value, statement, confidence, is_assumption, origin, settled_by = '' } = proposed;
  const evidence = settled_by.trim();
  const normalised = key === null || value === null ? null : normaliseKey(key);
  return {
    key: normalised,
    value: normalised === null ? null : value,
    statement,
    source_refs: evidence === '' ? proposed.source_refs : [...proposed.source_refs, evidence],
    confidence,
    is_assumption,
    origin,
  };
}

/**
 * Identifies repetitions: the same value of the same key from the same source, in any words and with any confidence.
 * Without a key, the words count.
 */
function identify({
  key,
  value,
  statement,
  source_refs,
  is_assumption,
  origin,
}: ProposedFact): string {
  const said =
    key === null || value === null ? [is_assumption, statement] : [key, normaliseValue(value)];
  return JSON.stringify([origin, source_refs, said]);
}

/**
 * Checks a list of stated facts, from any source.
 *
 * Invariants:
 *   SK1. No key is blank, and no two facts of one list give one key different values.
 */
export function checkStatedFacts(
  facts: readonly Pick<StatedFact, 'key' | 'value'>[],
): OutputFault[] {
  const first = new Map<string, { readonly index: number; readonly value: string }>();
  return facts.flatMap(({ key, value }, index) => {
    const path = `facts[${index}].key`;
    const normalised = normaliseKey(key);
    if (normalised === null) {
      return [
        { path, reason: 'the key is blank', hint: 'Try: "hosting price per month of Hetzner"' },
      ];
    }
    const before = first.get(normalised);
    if (before === undefined) {
      first.set(normalised, { index, value });
      return [];
    }
    if (isSameValue(before.value, value)) return [];
    return [
      {
        path,
        reason: `"${cutText(key, 80)}" has another value in facts[${before.index}]: "${cutText(before.value, 80)}" there, "${cutText(value, 80)}" here`,
        hint: 'Try: keep the one that holds, or keys that say what differs',
      },
    ];
  });
}

/**
 * Normalises keys and values of facts, so that facts about one thing, and equal values, are recognised.
 *
 * Invariants:
 *   FK1. Keys that differ in case, white space, punctuation and invisible characters alone are one key, and a
 *        normalised key stays as it is.
 *   FK2. Values that differ in case and white space alone, or write one decimal number in two ways, are one value;
 *        others are not. Signs, units and digits always count.
 */

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
