import type { RecordedCriterion, RunRecord } from '../../contracts/run-record.ts';
import { bullets, oneLine } from './markdown.ts';

/** The criteria under the heading of how they ended. */
interface Group {
  readonly heading: string;
  readonly holds: (criterion: RecordedCriterion) => boolean;
}

const groups: readonly Group[] = [
  {
    heading: '### Met',
    holds: ({ state, question_id }) => state === 'met' && question_id === undefined,
  },
  {
    heading: '### Met by your answer',
    holds: ({ state, question_id }) => state === 'met' && question_id !== undefined,
  },
  { heading: '### Not met', holds: ({ state }) => state === 'open' },
  { heading: '### Waived by you', holds: ({ state }) => state === 'waived' },
];

/** The criteria by how they ended, each with its evidence, the user's answer or the reason why it is not met. */
export function renderCriteria(record: RunRecord): string {
  const sections = groups.flatMap(({ heading, holds }) => {
    const inGroup = record.criteria.filter(holds);
    if (inGroup.length === 0) return [];
    return [
      `${heading}\n\n${bullets(
        inGroup.map((one) => describe(one, record)),
        '',
      )}`,
    ];
  });
  return ['## Criteria', ...(sections.length === 0 ? ['No criterion was set.'] : sections)].join(
    '\n\n',
  );
}

function describe(criterion: RecordedCriterion, record: RunRecord): string {
  const { criterion_id, state, description, delegation_id, question_id, note } = criterion;
  const what = `\`${criterion_id}\`: ${oneLine(description)}`;
  if (state === 'waived' && question_id === undefined) return `${what}\nBy an instruction`;
  if (question_id !== undefined) return `${what}\n${describeAnswer(question_id, record)}`;
  const who = delegation_id === null ? '' : ` (${delegation_id})`;
  if (state === 'met') return `${what}\nEvidence${who}: ${oneLine(note)}`;
  return `${what}\nWhy not${who}: ${oneLine(note === '' ? 'Nobody worked on it to the end.' : note)}`;
}

function describeAnswer(questionId: string, record: RunRecord): string {
  const answered = record.answered_questions.find((one) => one.question_id === questionId);
  if (answered === undefined) return `Question ${questionId}`;
  const { text, answer, answered_by } = answered;
  const whose = answered_by === 'user' ? 'Your answer' : `Answer of ${oneLine(answered_by)}`;
  return `Question ${questionId}: ${oneLine(text)}\n${whose}: ${oneLine(answer)}`;
}
