import type { RunRecord } from '../../contracts/run-record.ts';
import { renderJsonLines } from './render-json.ts';

/**
 * `questions.jsonl`: the inbox. First the answered questions in the order of answering, then the open ones, then the
 * answers that were not taken, each with the reason.
 */
export function renderQuestions(record: RunRecord): string {
  return renderJsonLines([
    ...record.answered_questions.map((answered) => ({ state: 'answered', ...answered })),
    ...record.open_questions.map((question) => ({ state: 'open', ...question })),
    ...record.rejected_answers.map((rejected) => ({ state: 'rejected', ...rejected })),
  ]);
}
