import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Fact, ProposedFact } from '../../contracts/fact.ts';
import { answererNames } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { StoredAnswer } from '../../contracts/run-record.ts';
import type { WaveDecision } from '../../contracts/wave-decision.ts';
import { decisionSource, waveSource } from '../../core/ids.ts';
import { textOf } from '../projection/record-texts.ts';
import type { RecordTexts } from '../projection/record-texts.ts';

/** What is said in words only: nothing can contradict it but a reader. */
const inWords = { key: null, value: null } as const;

export function factFromInstruction(instruction: string): ProposedFact {
  return {
    ...inWords,
    statement: instruction,
    source_refs: ['user'],
    confidence: 'high',
    is_assumption: false,
    origin: 'user',
  };
}

/** What nobody has said: a default that was taken, and what the asker was left to assume. No user stands behind it. */
const assumedBy: readonly string[] = [answererNames.default, answererNames.assumption];

export function factFromAnswer(answered: StoredAnswer): ProposedFact {
  const isAssumption = assumedBy.includes(answered.answered_by);
  const whole =
    answered.answer_ref === null ? '' : ` (whole answer: artifact ${answered.answer_ref})`;
  return {
    ...inWords,
    statement: `${answered.text} Answer: ${answered.answer}${whole}`,
    source_refs: [
      answered.question_id,
      ...(answered.amended_at === undefined ? [] : [`amended-${answered.amended_at}`]),
    ],
    confidence: isAssumption ? 'low' : 'high',
    is_assumption: isAssumption,
    origin: isAssumption ? askerOf(answered) : 'user',
  };
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
