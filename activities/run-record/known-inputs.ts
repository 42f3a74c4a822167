import type { RunRecord } from '../../contracts/run-record.ts';

/** Names that a delegation may require: what the user gave, every detail, and every answered question. */
export function listKnownInputs(record: RunRecord): readonly string[] {
  return [
    'goal',
    ...(record.constraints.length === 0 ? [] : ['constraints']),
    ...record.details.map((entry) => entry.detail_id),
    ...record.answered_questions.map((answered) => answered.question_id),
  ];
}

/** Names of inputs that the engine gives itself. No delegation can produce one. */
export function isEngineInput(name: string): boolean {
  return name === 'goal' || name === 'constraints' || /^q[1-9]\d*$/.test(name);
}
