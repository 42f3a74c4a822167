import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Fact } from '../../contracts/fact.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import type { WaveDecision } from '../../contracts/wave-decision.ts';
import { textOf } from '../projection/record-texts.ts';
import type { RecordTexts } from '../projection/record-texts.ts';
import { waveSource } from '../projection/paths.ts';

type NewFact = Omit<Fact, 'fact_id' | 'superseded_by' | 'recorded_at'>;

/** Appends facts to the pool. Their ids count on from those that are there. */
export function addFacts(record: RunRecord, added: readonly NewFact[], now: number): RunRecord {
  const facts = added.map((fact, index): Fact => ({
    fact_id: `f${record.facts.length + index + 1}`,
    ...fact,
    superseded_by: null,
    recorded_at: now,
  }));
  return facts.length === 0 ? record : { ...record, facts: [...record.facts, ...facts] };
}

export function factFromInstruction(instruction: string): NewFact {
  return {
    statement: instruction,
    source_refs: ['user'],
    confidence: 'high',
    is_assumption: false,
    origin: 'user',
  };
}

/** The inbox signs with it when it takes a question's default. */
const answeredByDefault = 'default';

/** A default that was taken because nobody answered is an assumption of whoever asked: no user stands behind it. */
export function factFromAnswer(answered: StoredAnswer): NewFact {
  const byDefault = answered.answered_by === answeredByDefault;
  const whole =
    answered.answer_ref === null ? '' : ` (whole answer: artifact ${answered.answer_ref})`;
  return {
    statement: `${answered.text} Answer: ${answered.answer}${whole}`,
    source_refs: [answered.question_id],
    confidence: byDefault ? 'low' : 'high',
    is_assumption: byDefault,
    origin: byDefault ? askerOf(answered) : 'user',
  };
}

function askerOf({ delegation_id }: StoredAnswer): Fact['origin'] {
  return delegation_id === null ? 'planner' : 'agent';
}

/** What agents assumed while they worked, failed ones too: it is what they met with. */
export function factsFromAssumptions(
  wave: number,
  outcomes: readonly DelegationOutcome[],
  texts: RecordTexts,
): readonly NewFact[] {
  return outcomes.flatMap(({ delegation_id, output_ref }) =>
    output_ref === null
      ? []
      : textOf(texts.outputs, output_ref).assumptions_made.map(({ statement, confidence }) => ({
          statement,
          source_refs: [waveSource(wave, delegation_id)],
          confidence,
          is_assumption: true,
          origin: 'agent' as const,
        })),
  );
}

/**
 * Marks the facts that lost a conflict. Only a conflict that names a standing fact by its id as superseded can do that;
 * one that speaks of it in words is kept in the decision alone, because a guess could retire a fact that holds. What the
 * user said gives way to nothing but what the user said: a decision comes from a model.
 */
export function supersedeFacts(
  facts: readonly Fact[],
  wave: number,
  decision: WaveDecision,
): readonly Fact[] {
  const byId = new Map(facts.map((fact) => [fact.fact_id, fact]));
  const origins = new Map(
    decision.planner_decision.conflicts_resolved.map((conflict) => [
      conflict.superseded.trim(),
      conflict.origin.trim(),
    ]),
  );
  return facts.map((fact) => {
    const origin = origins.get(fact.fact_id);
    if (origin === undefined || origin === fact.fact_id || fact.superseded_by !== null) return fact;
    const winner = byId.get(origin);
    if (fact.origin === 'user' && winner?.origin !== 'user') return fact;
    return { ...fact, superseded_by: winner?.fact_id ?? waveSource(wave, 'planner_decision') };
  });
}
