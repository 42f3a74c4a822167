import type { AnswerInput } from '../../../contracts/question.ts';
import type { OpenQuestion } from '../../../contracts/views.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { followRun } from '../../../client/cli/follow/follow-run.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { judgeAnswer, listApprovers } from '../../../core/questions/judge-answer.ts';
import { openInbox, stepInbox } from '../../../core/questions/step-inbox.ts';
import type { CarriedInbox } from '../../../contracts/planner-run.ts';
import { eventually } from '../../support/eventually.ts';
import { createFakeClient, createFakeDeps } from './support/fake-client.ts';
import { createFakeIo, type FakeIo } from './support/fake-io.ts';
import { listing, question, status } from './support/samples.ts';

/** A run with one open question, which the rules of the engine judge. Without a worker, an answer waits for `judgeSent`. */
function askingRun(asked: OpenQuestion, approvers: readonly string[] | null = null) {
  let inbox: CarriedInbox = { ...openInbox(null), open: [asked] };
  let isAway = false;
  const sent: AnswerInput[] = [];
  const waiting: AnswerInput[] = [];
  const take = (payload: AnswerInput): void => {
    const event = { type: 'answer', payload, now: 7, default_answered_by: 'user' } as const;
    inbox = stepInbox(inbox, { ...event, approvers }).state;
  };
  const isOpen = (): boolean => inbox.open.length > 0;
  const methods: Partial<PlanwaveClient> = {
    describe: () => Promise.resolve(listing(isOpen() ? {} : { execution: 'completed' })),
    status: () =>
      Promise.resolve({ live: true, view: status({ open_questions: inbox.open.length }) }),
    questions: async () => {
      const open = inbox.open.map((one) => ({
        ...one,
        waiting: [],
        blocked: [],
        ...listApprovers(one, approvers),
      }));
      const { rejected, rejected_total } = inbox;
      return { live: true, view: { open, answered: [], rejected, rejected_total } };
    },
    async answer(_run, answer) {
      sent.push(answer);
      const { question_id } = answer;
      if (isAway) {
        waiting.push(answer);
        return { status: 'sent', question_id, note: 'No worker takes it now.' };
      }
      const verdict = judgeAnswer(inbox, answer, approvers);
      take(answer);
      return verdict.type === 'refused'
        ? { status: 'refused', question_id, reason: verdict.reason, example: verdict.example }
        : { status: 'accepted', question_id, accepted: String(answer.answer) };
    },
    result: async () =>
      isOpen() ? null : { ended: 'failed', type: null, reason: 'over for the test' },
  };
  return {
    methods,
    sent,
    leaveWorker: () => (isAway = true),
    judgeSent: () => {
      isAway = false;
      for (const one of waiting.splice(0)) take(one);
    },
    answers: () => inbox.answered,
  };
}

const approval = question({
  question_id: 'q1',
  kind: 'approval',
  expected_answer_format: 'choice',
  choices: ['approve', 'deny'],
  default_answer: 'deny',
});

async function run(argv: readonly string[], methods: Partial<PlanwaveClient>, io: FakeIo) {
  return { code: await runCli(argv, createFakeDeps(io, methods)), out: io.out(), err: io.err() };
}

describe('where PLANWAVE_APPROVERS names people', () => {
  it('--as signs an approval; without it the refusal says how, and so does the printed command', async () => {
    const { methods, answers } = askingRun(approval, ['Ana']);
    const plain = await run(['answer', 'run-1', 'q1', 'approve'], methods, createFakeIo());
    expect(plain).toMatchObject({ code: 5, err: expect.stringContaining('with --as') });
    const shown = await run(['questions', 'run-1'], methods, createFakeIo());
    expect(shown.out).toContain('who may decide: Ana');
    expect(shown.out).toContain('answer with: npm run planwave -- answer run-1 q1 --as Ana deny');
    const signed = ['answer', 'run-1', 'q1', 'approve', '--as', 'Ana'];
    expect(await run(signed, methods, createFakeIo())).toMatchObject({ code: 0 });
    expect(answers()['q1']).toMatchObject({ answered_by: 'Ana (self-stated)', shown: 'approve' });
  });

  it('watch does not ask again who can not decide, and says how to answer', async () => {
    const { methods, sent, answers } = askingRun(approval, ['Ana', 'Bo']);
    const io = createFakeIo({ isTerminal: true });
    io.typeAfter('> ', 'approve');
    const base = { io, json: false, defaults: false, askQuestions: true, pollEveryMs: 5 };
    const following = followRun(createFakeClient(methods), 'run-1', base);
    await eventually('the refusal', async () => io.out().includes('Left open.'));
    expect(io.out()).toContain("answer run-1 q1 --as 'your name' deny");
    expect(io.out().match(/> /g)).toHaveLength(1);
    io.interrupt();
    expect(await following).toBe(130);

    const second = createFakeIo({ isTerminal: true });
    second.typeAfter('> ', 'approve');
    const signed = { ...base, io: second, signer: 'Bo' };
    expect(await followRun(createFakeClient(methods), 'run-1', signed)).toBe(1);
    expect(sent.at(-1)).toEqual({ question_id: 'q1', answer: 'approve', answered_by: 'Bo' });
    expect(answers()['q1']).toMatchObject({ answered_by: 'Bo (self-stated)' });
  });

  it('Enter alone takes the default, which needs no approver; another answer ends the command', async () => {
    const one = askingRun(approval, ['Ana']);
    const io = createFakeIo({ isTerminal: true });
    io.typeAfter('> ', '');
    expect(await run(['answer', 'run-1'], one.methods, io)).toMatchObject({ code: 0 });
    expect(one.answers()['q1']).toMatchObject({ answered_by: 'default', shown: 'deny' });
    const other = createFakeIo({ isTerminal: true });
    other.typeAfter('> ', 'approve');
    const refused = await run(['answer', 'run-1'], askingRun(approval, ['Ana']).methods, other);
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('only "Ana"') });
  });
});

it('watch asks again when an answer that no worker took is refused later', async () => {
  const asked = question({ question_id: 'q1', expected_answer_format: 'number' });
  const { methods, leaveWorker, judgeSent, answers } = askingRun(asked);
  leaveWorker();
  const io = createFakeIo({ isTerminal: true });
  io.typeAfter('> ', '12,5');
  io.typeAfter('> ', '12.5');
  const base = { io, json: false, defaults: false, askQuestions: true, pollEveryMs: 5 };
  const following = followRun(createFakeClient(methods), 'run-1', base);
  await eventually('the answer', async () => io.out().includes('No worker takes it now.'));
  judgeSent();
  expect(await following).toBe(1);
  expect(io.out()).toContain('q1 was not answered: ');
  expect(answers()['q1']).toMatchObject({ shown: '12.5' });
});
