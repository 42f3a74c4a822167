import type { AmendedAnswer } from '../../contracts/messages.ts';
import type { AcceptedAnswer } from '../../contracts/question.ts';
import type { JudgeAnswersResult } from '../../contracts/activity-types.ts';
import { acceptAnswer } from '../../core/questions/judge-answer.ts';
import { confirmHandler } from '../../workflows/shared/take-amend.ts';
import { question } from './core/builders.ts';

/** Ends the activity that judges answers. */
let judge: (result: JudgeAnswersResult) => void = () => {};

vi.mock('../../workflows/shared/activities.ts', async (original) => ({
  ...(await original<object>()),
  judgeAnswers: {
    executeWithOptions: () =>
      new Promise((resolve) => {
        judge = resolve;
      }),
  },
}));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const pretend = <T>(part: object): T => part as T;

const region = question({ question_id: 'q1' });
const accept = (text: string, answered_by: string): AcceptedAnswer =>
  acceptAnswer(region, text, { answered_by, now: 1 });

/** A run that took a default for q1. `told` and `amended` are what follows from messages. */
function defaulted() {
  const answered = { q1: accept('EU', 'default') };
  const told: unknown[] = [];
  const amended: AmendedAnswer[] = [];
  const host = {
    state: { closing: false, criteria: [] },
    inbox: {
      carry: () => ({ open: [], answered }),
      recentAnswers: () => [],
      amend: (one: AmendedAnswer) => void amended.push(one),
    },
    record: { add: () => {} },
    settleRecord: async () => 'ref',
    tell: (...news: readonly unknown[]) => void told.push(news),
    refresh: () => {},
  };
  const confirmed = confirmHandler(pretend(host))({ question_id: 'q1', answer: 'EU' });
  return { answered, told, amended, confirmed };
}

const eu = { question_id: 'q1', hash: 'h', answer: 'EU', answer_ref: null };

/** Lets all that is ready go on. */
const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));

it('a confirmed answer is no news that a run has to work on', async () => {
  const { told, amended, confirmed } = defaulted();
  await settle();
  judge({ type: 'taken', answers: [eu] });
  await confirmed;
  expect(amended).toEqual([eu]);
  expect(told).toEqual([
    [expect.objectContaining({ question_id: 'q1', changed: false }), { isPending: false }],
  ]);
});

it('a confirmation does not replace an answer that was changed while it was judged', async () => {
  const { answered, told, amended, confirmed } = defaulted();
  await settle();
  answered.q1 = accept('US', 'user');
  judge({ type: 'taken', answers: [eu] });
  await confirmed;
  expect(amended).toEqual([]);
  expect(told).toEqual([]);
});
