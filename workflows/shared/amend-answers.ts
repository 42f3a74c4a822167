import type { AmendedAnswer, AmendMessage } from '../../contracts/messages.ts';
import { reopenChanged } from '../../core/criteria/settle-by-answers.ts';
import { newsOfAnswer } from '../../core/run/news.ts';
import { judgeAnswers } from './activities.ts';
import { nowSeconds } from './clock.ts';
import type { RootHost } from './root-host.ts';
import { untilDone } from './until-done.ts';

/**
 * Checks new answers against the questions in the record.
 *
 * @returns null when one does not fit: then the whole message is refused, with the reasons.
 */
export async function judgeAmended(
  host: RootHost,
  answers: NonNullable<AmendMessage['answers']>,
): Promise<readonly AmendedAnswer[] | null> {
  const judged = await untilDone(
    async () => {
      const record_ref = await host.settleRecord();
      const input = { record_ref, answers };
      return judgeAnswers.executeWithOptions({ summary: 'judge changed answers' }, [input]);
    },
    (reason) => host.park(reason),
  );
  if (judged.type === 'taken') return judged.answers;
  for (const reason of judged.reasons) host.refuse(`Signal amend: ${reason}`);
  return null;
}

/** Applies changed answers. Their askers keep the first answer: the record finds the work that was built on it. */
export function takeAmended(host: RootHost, answers: readonly AmendedAnswer[]): void {
  for (const amended of answers) {
    const amended_at = nowSeconds();
    const { question_id, answer, answer_ref } = amended;
    const before = host.inbox.recentAnswers().find((one) => one.question_id === question_id);
    host.inbox.amend(amended, amended_at);
    host.record.add({ type: 'answer_amended', amended, amended_at });
    const { text = '', delegation_id = null } = before ?? {};
    const changed = { question_id, text, answer, answered_by: 'user', delegation_id };
    host.state.criteria = reopenChanged(host.state.criteria, [question_id]);
    host.tell(newsOfAnswer(changed, answer_ref, true), { isPending: true });
  }
}
