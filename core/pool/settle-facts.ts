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
import { plannerAgentId, answererNames, assumingAnswerers } from '../../contracts/names.ts';
import { decisionSource, waveSource } from '../ids.ts';
import { isSameValue } from './admit-facts.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { AgentOutput, Fact, UserFact, ProposedFact } from '../../contracts/agent-output.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { StoredAnswer } from '../../contracts/run-record.ts';
import { engineLimits } from '../limits.ts';
import type { PlannerDecision, WaveDecision } from '../../contracts/wave-plan.ts';

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

/** Fields of a fact without a key: only a reader can contradict it. */
const inWords = { key: null, value: null } as const;

const byUser = { confidence: 'high', is_assumption: false, origin: 'user' } as const;

/**
 * Returns the instruction in its words, then the values that it settles by key.
 *
 * @param number Number of the instruction in its run, from 1, so that a value that the user returns to is stated anew.
 */
export function factsFromInstruction(
  instruction: string,
  facts: readonly UserFact[],
  number: number,
): readonly ProposedFact[] {
  return [
    { ...inWords, ...byUser, statement: instruction, source_refs: ['user'] },
    ...facts.map((fact) => ({
      ...fact,
      ...byUser,
      statement: describeUserFact(fact),
      source_refs: ['user', `instruction-${number}`],
    })),
  ];
}

/** Returns the question's key with the answer as its value, if it is one: a short text, or no text. */
function keyedBy({
  question,
  answer,
  answer_ref,
  answered_by,
}: StoredAnswer): Pick<ProposedFact, 'key' | 'value'> {
  const value = answer.trim();
  const isGiven = answered_by !== answererNames.assumption || question?.default_answer !== null;
  const isValue =
    question?.expected_answer_format !== 'json' &&
    answer_ref === null &&
    value !== '' &&
    value.length <= engineLimits.factValueCharsMax;
  return question?.fact_key !== undefined && isGiven && isValue
    ? { key: question.fact_key, value }
    : inWords;
}

/**
 * Turns an answer into a fact. A default or an assumed answer is an assumption. An answer of the planner is as certain
 * as its sources, and does not come from the user; neither does the decision of an architect.
 */
export function factFromAnswer(answered: StoredAnswer): ProposedFact {
  const { answered_by, question_id, amended_at } = answered;
  const whole =
    answered.answer_ref === null ? '' : ` (whole answer: artifact ${answered.answer_ref})`;
  const fact = {
    ...keyedBy(answered),
    statement: `${answered.text} Answer: ${answered.answer}${whole}`,
    source_refs: [
      question_id,
      ...answered.source_refs,
      ...(amended_at === undefined ? [] : [`amended-${amended_at}`]),
    ],
  };
  if (assumingAnswerers.includes(answered_by)) {
    const isPlanners = answered_by === answererNames.plannerAssumption;
    const origin = isPlanners || answered.delegation_id === null ? 'planner' : 'agent';
    return { ...fact, confidence: 'low', is_assumption: true, origin };
  }
  if (answered_by === answererNames.architect)
    return { ...fact, confidence: 'high', is_assumption: false, origin: 'agent' };
  return answered_by === answererNames.planner
    ? { ...fact, confidence: 'medium', is_assumption: false, origin: 'planner' }
    : { ...fact, ...byUser };
}

/**
 * Collects the facts and assumptions that agents stated in their work, including failed ones.
 *
 * @param find Returns the output of an address. One that it does not know stated nothing.
 */
export function factsFromOutputs(
  wave: number,
  outcomes: readonly Pick<DelegationOutcome, 'delegation_id' | 'turns' | 'output_ref'>[],
  find: (ref: Ref) => Pick<AgentOutput, 'facts' | 'assumptions_made'> | undefined,
): readonly ProposedFact[] {
  return outcomes.flatMap(({ delegation_id, turns, output_ref }) => {
    const output = output_ref === null ? undefined : find(output_ref);
    if (output_ref === null || output === undefined) return [];
    const { facts, assumptions_made } = output;
    const source = {
      source_refs: [waveSource(wave, delegation_id), `turn-${turns}`, output_ref],
      origin: 'agent',
    } as const;
    return [
      ...facts.map((fact) => ({ ...fact, ...source, is_assumption: false })),
      ...assumptions_made.map((one) => ({ ...inWords, ...one, ...source, is_assumption: true })),
    ];
  });
}

/** Collects the facts that the planner stated in its decision. */
export function factsFromDecision(
  wave: number,
  ref: Ref,
  { facts }: Pick<WaveDecision, 'facts'>,
): readonly ProposedFact[] {
  return facts.map((fact) => ({
    ...fact,
    source_refs: [decisionSource(wave), ref],
    is_assumption: false,
    origin: 'planner',
  }));
}
