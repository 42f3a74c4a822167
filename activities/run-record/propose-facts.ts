import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Fact, ProposedFact, UserFact } from '../../contracts/fact.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { StoredAnswer } from '../../contracts/run-record.ts';
import type { WaveDecision } from '../../contracts/wave-decision.ts';
import { decisionSource, waveSource } from '../../core/ids.ts';
import { engineLimits } from '../../core/limits.ts';
import { describeUserFact } from '../../core/pool/settle-facts.ts';
import { textOf } from '../projection/record-texts.ts';
import type { RecordTexts } from '../projection/record-texts.ts';

/** Without a key nothing can contradict it but a reader. */
const inWords = { key: null, value: null } as const;

const byUser = { confidence: 'high', is_assumption: false, origin: 'user' } as const;

/**
 * The instruction in its words, then what it settles by key.
 *
 * @param number Of the instruction in its run, from 1: a value that the user goes back to is said anew.
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

/** The key that the question asked for and the answer as its value, where it is one: a text that is short, or no text. */
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
 * An answer that nobody stands behind, a default that was taken or what the asker was left to assume, is an assumption.
 * What the planner answered is as sure as what it took it from, and no user has said it.
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
  return answered_by === answererNames.planner
    ? { ...fact, confidence: 'medium', is_assumption: false, origin: 'planner' }
    : { ...fact, ...byUser };
}

function askerOf({ delegation_id }: StoredAnswer): Fact['origin'] {
  return delegation_id === null ? 'planner' : 'agent';
}

/** What agents stated and assumed while they worked, failed ones too: it is what they met with. */
export function factsFromOutputs(
  wave: number,
  outcomes: readonly Pick<DelegationOutcome, 'delegation_id' | 'turns' | 'output_ref'>[],
  texts: RecordTexts,
): readonly ProposedFact[] {
  return outcomes.flatMap(({ delegation_id, turns, output_ref }) => {
    if (output_ref === null) return [];
    const { facts, assumptions_made } = textOf(texts.outputs, output_ref);
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

/** What the planner settled with its decision. */
export function factsFromDecision(
  wave: number,
  ref: Ref,
  { facts }: WaveDecision,
): readonly ProposedFact[] {
  return facts.map((fact) => ({
    ...fact,
    source_refs: [decisionSource(wave), ref],
    is_assumption: false,
    origin: 'planner',
  }));
}
