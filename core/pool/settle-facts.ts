/**
 * Applies the planner's decision on a wave to the pool (seed 004 §8, §9). Facts that lose a conflict are marked;
 * nothing is deleted.
 *
 * Invariants:
 *   SF1. Only `superseded_by` changes, and only once, from null. Settling twice equals settling once.
 *   SF2. A statement of the user gives way only to another statement of the user: a decision comes from a model.
 *   SF3. After a conflict is resolved by its id, only the value of the side that won stands under its key.
 *   SF4. A fact that the decision states supersedes every other value under its key: planner documents beat the pool.
 *   SF5. A conflict described in words retires only a fact that it names by its id: a guess could retire a valid one.
 *   SF6. The newest answer to a question supersedes the earlier ones, and nothing else.
 *   SF7. Where a statement of the user stands under a key, no other source's value stands beside it. An instruction of
 *        the user supersedes the user's own earlier values too.
 *   SF8. An assumption gives way to the same value once a person or evidence has settled it.
 */
import type { Fact, UserFact } from '../../contracts/fact.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { PlannerDecision } from '../../contracts/wave-decision.ts';
import { decisionSource } from '../ids.ts';
import { isSameValue } from './admit-facts.ts';

type Resolution = PlannerDecision['conflicts_resolved'][number];

const conflictPrefix = 'conflict:';

/** Returns the key that a resolution names by its conflict's id; null when it describes a conflict in words. */
export function keyOfConflict(conflict: string): string | null {
  const id = conflict.trim();
  return id.startsWith(conflictPrefix) ? id.slice(conflictPrefix.length) : null;
}

/** @param pool The pool, with the statements of the wave and the decision. */
export function settleFacts(
  pool: readonly Fact[],
  wave: number,
  resolutions: readonly Resolution[],
): readonly Fact[] {
  const settled = resolutions
    .filter(({ keys_apart = [] }) => keys_apart.length === 0)
    .reduce((facts, one) => resolve(facts, wave, one), pool);
  return pool
    .filter((fact) => isOfDecision(fact, wave))
    .reduce((facts, winner) => retireOthers(facts, winner), settled);
}

/** Supersedes earlier facts of a changed answer. @param source The question_id. */
export function supersedeEarlier(pool: readonly Fact[], source: string): readonly Fact[] {
  const newest = pool.findLast((fact) => fact.source_refs[0] === source);
  if (newest === undefined) return pool;
  return pool.map((fact) =>
    fact === newest || fact.source_refs[0] !== source
      ? fact
      : retire(fact, { origin: newest.origin, by: newest.fact_id }),
  );
}

/**
 * Supersedes values that the user's instruction contradicts. @param from Index in the pool of the first fact that it
 * states.
 */
export function preferNewest(pool: readonly Fact[], from: number): readonly Fact[] {
  return pool.slice(from).reduce(retireOthers, pool);
}

/** Applies the rules that hold after every change of the pool, without a decision (SF7, SF8). */
export function settleStanding(pool: readonly Fact[]): readonly Fact[] {
  return pool.filter(isStanding).reduce((facts, fact) => {
    const preferred = fact.origin === 'user' ? retireOfOthers(facts, fact) : facts;
    return fact.is_assumption ? preferred : settleAssumptions(preferred, fact);
  }, pool);
}

/** Words a fact of the user as a sentence. */
export function describeUserFact({ key, value }: UserFact): string {
  return `The user says: ${key} is ${value}.`;
}

function isStanding({ key, superseded_by }: Fact): boolean {
  return key !== null && superseded_by === null;
}

/** Retires values of other sources than the user, unless the user has stated the same value. */
function retireOfOthers(pool: readonly Fact[], winner: Fact): readonly Fact[] {
  const saidByUser = pool.filter(
    (fact) => fact.origin === 'user' && fact.key === winner.key && isStanding(fact),
  );
  return pool.map((fact) => {
    const { key, value, origin } = fact;
    if (key !== winner.key || value === null || origin === 'user') return fact;
    const isSaid = saidByUser.some((said) => said.value !== null && isSameValue(said.value, value));
    return isSaid ? fact : retire(fact, { origin: 'user', by: winner.fact_id });
  });
}

function settleAssumptions(pool: readonly Fact[], settled: Fact): readonly Fact[] {
  const { key, value, origin, fact_id } = settled;
  if (value === null) return pool;
  return pool.map((fact) =>
    fact.is_assumption && fact.key === key && isSameValue(fact.value ?? '', value)
      ? retire(fact, { origin, by: fact_id })
      : fact,
  );
}

function resolve(pool: readonly Fact[], wave: number, resolution: Resolution): readonly Fact[] {
  const key = keyOfConflict(resolution.conflict);
  if (key === null) return resolveByIds(pool, wave, resolution);
  const source = resolution.origin.trim();
  const winner = pool.find((fact) => fact.key === key && isNamed(fact, source, wave));
  return winner === undefined ? pool : retireOthers(pool, winner);
}

/** @param source A fact_id, a source, or `planner` for statements of the wave's own decision. */
export function isNamed(fact: Fact, source: string, wave: number): boolean {
  if (source === plannerAgentId) return isOfDecision(fact, wave);
  return fact.fact_id === source || fact.source_refs[0] === source;
}

function isOfDecision(fact: Fact, wave: number): boolean {
  return fact.origin === 'planner' && fact.source_refs[0] === decisionSource(wave);
}

function retireOthers(pool: readonly Fact[], winner: Fact): readonly Fact[] {
  const { key, value, origin, fact_id } = winner;
  if (key === null || value === null) return pool;
  return pool.map((fact) => {
    if (fact.key !== key || fact.value === null || isSameValue(fact.value, value)) return fact;
    return retire(fact, { origin, by: fact_id });
  });
}

function resolveByIds(
  pool: readonly Fact[],
  wave: number,
  { origin, superseded }: Resolution,
): readonly Fact[] {
  const loserId = superseded.trim();
  const winner = pool.find(({ fact_id }) => fact_id === origin.trim());
  if (winner?.fact_id === loserId) return pool;
  return pool.map((fact) =>
    fact.fact_id === loserId
      ? retire(fact, {
          origin: winner?.origin ?? 'planner',
          by: winner?.fact_id ?? decisionSource(wave),
        })
      : fact,
  );
}

function retire(
  fact: Fact,
  winner: { readonly origin: Fact['origin']; readonly by: string },
): Fact {
  if (fact.superseded_by !== null) return fact;
  if (fact.origin === 'user' && winner.origin !== 'user') return fact;
  return { ...fact, superseded_by: winner.by };
}
