import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Fact, ProposedFact, UserFact } from '../../contracts/fact.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { StoredAnswer } from '../../contracts/run-record.ts';
import type { WaveDecision } from '../../contracts/wave-decision.ts';
import { decisionSource, waveSource } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import { describeUserFact } from './settle-facts.ts';

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
    const origin = isPlanners ? 'planner' : askerOf(answered);
    return { ...fact, confidence: 'low', is_assumption: true, origin };
  }
  if (answered_by === answererNames.architect)
    return { ...fact, confidence: 'high', is_assumption: false, origin: 'agent' };
  return answered_by === answererNames.planner
    ? { ...fact, confidence: 'medium', is_assumption: false, origin: 'planner' }
    : { ...fact, ...byUser };
}

function askerOf({ delegation_id }: StoredAnswer): Fact['origin'] {
  return delegation_id === null ? 'planner' : 'agent';
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
