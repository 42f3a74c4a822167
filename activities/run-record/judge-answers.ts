import type { JudgeAnswersInput, JudgeAnswersResult } from '../../contracts/activity-types.ts';
import { engineLimits } from '../../core/limits.ts';
import { judgeAmendedAnswer } from '../../core/questions/amend-answer.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { hashText } from '../../core/text/hash-text.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { RecordDeps } from './deps.ts';

/**
 * Judges answers that the user wants to change, by the questions as the record keeps them: the workflow has forgotten how
 * an answered question was asked.
 *
 * @throws {ArtifactCorrupt} when the record is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function judgeAnswers(
  { store }: Pick<RecordDeps, 'store'>,
  { record_ref, answers }: JudgeAnswersInput,
): Promise<JudgeAnswersResult> {
  const { open_questions: open, answered_questions: answered } = await readRecord(
    store,
    record_ref,
  );
  const judged = answers.map(({ question_id, answer }) => ({
    question_id,
    verdict: judgeAmendedAnswer({ open, answered }, question_id, answer),
  }));
  const refused = judged.flatMap(({ verdict }) => (verdict.ok ? [] : [verdict.reason]));
  if (refused.length > 0) return { type: 'refused', reasons: refused };
  const taken = judged.flatMap(({ question_id, verdict }) =>
    verdict.ok ? [{ question_id, text: verdict.text }] : [],
  );
  return {
    type: 'taken',
    answers: await Promise.all(
      taken.map(async ({ question_id, text }) => ({
        question_id,
        hash: hashText(text),
        answer: cutText(text, engineLimits.inlineAnswerCharsMax),
        answer_ref: text.length > engineLimits.inlineAnswerCharsMax ? await store.put(text) : null,
      })),
    ),
  };
}
