/**
 * The form in which history holds the input and the result of a model call.
 *
 * Invariants:
 *   KT1. A restored call equals the one that was shortened.
 *   KT2. What has its usual value is left out, and so is what the kept terms give, but for the delegation.
 *   KT3. A call that lacks one of the kept terms, or belongs to another run, names all of its own.
 *   KT4. Amounts of 0 are left out of a usage.
 *   KT5. After a reply of a crashed attempt, whose transcript has other terms, the next call names all of its own.
 */
import type { ModelTurnInput, ModelTurnResult, TurnCall } from '../../contracts/model-turn.ts';
import type { TurnTerms } from '../../contracts/transcript.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noUsage } from '../usage/add-usage.ts';

/** Returns the part of an input that a conversation keeps for its further calls. */
export function termsOf(input: ModelTurnInput): TurnTerms {
  const { head: _head, append: _append, compact: _compact, ...others } = input;
  const { allowance: _allowance, refusals: _refusals, ...terms } = others;
  return terms;
}

/** @param kept Terms that the conversation keeps; null when it keeps none. */
export function shortenCall(input: ModelTurnInput, kept: TurnTerms | null): TurnCall {
  const { head, append, compact, allowance, refusals = 0 } = input;
  return {
    head,
    ...(append.length > 0 && { append }),
    ...(compact && { compact }),
    ...(allowance !== null && { allowance }),
    ...(refusals > 0 && { refusals }),
    ...shortenTerms(termsOf(input), kept),
  };
}

function shortenTerms(terms: TurnTerms, kept: TurnTerms | null): Partial<TurnCall> {
  if (kept === null || terms.run_id !== kept.run_id) return terms;
  if (!hasAllOf(terms, kept) || !hasAllOf(terms.reading ?? {}, kept.reading ?? {})) return terms;
  const { reading, ...others } = terms;
  const read = pickChanges(reading ?? {}, kept.reading ?? {});
  return {
    ...pickChanges(others, kept),
    // The guard of blocked work looks for it in each call.
    ...(terms.delegation_id !== undefined && { delegation_id: terms.delegation_id }),
    ...(Object.keys(read).length > 0 && { reading: read }),
  };
}

function hasAllOf(values: object, kept: object): boolean {
  return Object.keys(kept).every((name) => name in values);
}

function pickChanges<T extends object>(values: T, kept: object): Partial<T> {
  const before = new Map<string, unknown>(Object.entries(kept));
  const changed: Partial<T> = { ...values };
  for (const [name, value] of Object.entries(values)) {
    if (JSON.stringify(value) === JSON.stringify(before.get(name)))
      Reflect.deleteProperty(changed, name);
  }
  return changed;
}

/**
 * Returns the terms that a conversation keeps after a call. The transcript of a crashed attempt, whose reply was taken over,
 * keeps the terms of that attempt.
 *
 * @param before Those that it kept so far.
 */
export function keptTerms(
  { recalled, keeps_terms }: Pick<ModelTurnResult, 'recalled' | 'keeps_terms'>,
  terms: TurnTerms,
  before: TurnTerms | undefined,
): TurnTerms | undefined {
  if (recalled === true) return undefined;
  return keeps_terms === true ? terms : before;
}

/** Returns true for a call that only the kept terms complete. */
export function needsTerms({ run_id }: TurnCall): boolean {
  return run_id === undefined;
}

/**
 * @param kept Terms that the conversation keeps; null when it keeps none.
 * @returns null when a term is missing.
 */
export function restoreCall(call: TurnCall, kept: TurnTerms | null): ModelTurnInput | null {
  const { head, append = [], compact = false, allowance = null, reading, ...own } = call;
  const given = needsTerms(call) ? kept : null;
  const scope = { ...given?.reading, ...reading };
  const terms = { ...given, ...own, ...(Object.keys(scope).length > 0 && { reading: scope }) };
  return isWhole(terms) ? { ...terms, head, append, compact, allowance } : null;
}

function isWhole(terms: object): terms is TurnTerms {
  const needed = ['run_id', 'agent_id', 'registry_ref', 'stage', 'max_output_tokens'];
  return needed.every((name) => name in terms);
}

export function shortenUsage(usage: Usage): Partial<Usage> {
  return pickChanges(usage, noUsage);
}

export function restoreUsage(usage: Partial<Usage>): Usage {
  return { ...noUsage, ...usage };
}
