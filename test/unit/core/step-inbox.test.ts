import type { QuestionsEscalation } from '../../../contracts/messages.ts';
import { engineLimits } from '../../../core/limits.ts';
import { openInbox, previewAnswer, stepInbox } from '../../../core/questions/step-inbox.ts';
import type { InboxEvent } from '../../../core/questions/inbox-event.ts';
import type { InboxState, InboxStep } from '../../../core/questions/step-inbox.ts';
import { listRefused, questionKey } from '../../../core/questions/repeated-questions.ts';
import { asked, escalation, usualRules } from './builders.ts';

const now = 5_000;

const ask = (from: QuestionsEscalation, over: Partial<InboxEvent> = {}): InboxEvent => ({
  type: 'ask',
  escalation: from,
  now,
  use_defaults: false,
  autonomy: 'ask',
  rules: usualRules,
  ...(over as object),
});

const answer = (payload: unknown): InboxEvent => ({
  type: 'answer',
  payload,
  now: now + 1,
  default_answered_by: 'user',
});

/** All effects of a row of events, and the last state. */
function play(state: InboxState, ...events: readonly InboxEvent[]): InboxStep {
  return events.reduce<InboxStep>(
    (sofar, event) => {
      const step = stepInbox(sofar.state, event);
      return { state: step.state, effects: [...sofar.effects, ...step.effects] };
    },
    { state, effects: [] },
  );
}

const roundTrip = (state: InboxState): InboxState => {
  const copy: InboxState = JSON.parse(JSON.stringify(state));
  return copy;
};

const types = (step: InboxStep): string[] => step.effects.map((effect) => effect.type);

/** Ten questions, as long as they come. */
const big = (i: number): QuestionsEscalation =>
  escalation(
    `e${i}`,
    Array.from({ length: 10 }, (_, j) =>
      asked({ text: `${i}-${j} ${'x'.repeat(1_900)}`, default_answer: 'y'.repeat(1_900) }),
    ),
    { from: `d${i}`, delegation_id: `d${i}` },
  );

/** A long question for approval, each of another delegation. */
const approval = (n: number): InboxEvent =>
  ask(
    escalation(`e${n}`, [asked({ text: `May it write file ${n}? ${'x'.repeat(1_800)}` })], {
      kind: 'approval',
      delegation_id: `d${n}`,
      from: `d${n}`,
    }),
  );

const empty = openInbox(null);
const two = escalation('e1', [
  asked(),
  asked({ text: 'How many?', expected_answer_format: 'number' }),
]);

describe('stepInbox', () => {
  it('opens questions with ids in the order of asking', () => {
    const step = play(empty, ask(two));
    expect(types(step)).toEqual(['opened', 'opened']);
    expect(step.state.open.map((q) => q.question_id)).toEqual(['q1', 'q2']);
    expect(step.state.open[0]).toMatchObject({
      kind: 'blocking',
      delegation_id: 'd1',
      agent_id: 'researcher',
      asked_at: now,
      deadline_seconds: null,
    });
  });

  it('IN1: an answer is applied once, and another one never', () => {
    const first = play(empty, ask(two), answer({ question_id: 'q1', answer: 'Oslo' }));
    const more = play(
      first.state,
      answer({ question_id: 'q1', answer: 'Oslo' }),
      answer({ question_id: 'q1', answer: 'Bern' }),
    );
    expect(types(more)).toEqual(['repeated', 'rejected']);
    expect(more.state.answered).toEqual(first.state.answered);
  });

  it('IN2: answers are delivered together, in the order of the questions', () => {
    const step = play(
      empty,
      ask(two),
      answer({ question_id: 'q2', answer: '3', answered_by: 'ada' }),
      answer({ question_id: 'q1', answer: 'Oslo' }),
    );
    expect(types(step)).toEqual(['opened', 'opened', 'answered', 'answered', 'deliver']);
    expect(step.effects.at(-1)).toEqual({
      type: 'deliver',
      escalation_id: 'e1',
      from: two.from,
      answers: [
        {
          question_id: 'q1',
          text: 'Which region?',
          answer_text: 'Oslo',
          is_cut: false,
          answer_ref: null,
          answered_by: 'user',
          loop: false,
        },
        expect.objectContaining({ question_id: 'q2', answer_text: '3', answered_by: 'ada' }),
      ],
    });
    expect(step.state.pending).toEqual([]);
  });

  it('IN2: an escalation that comes twice asks once; one without questions is delivered at once', () => {
    expect(types(play(empty, ask(two), ask(two)))).toEqual(['opened', 'opened']);
    const other = { ...two, from: 'run/wave-002', wave: 2, delegation_id: 'd2' };
    expect(types(play(empty, ask(two), ask(other)))).toHaveLength(4);
    expect(types(play(empty, ask(escalation('e0', []))))).toEqual(['deliver']);
  });

  it('IN3: a bad answer is kept with its reason and an example, and changes nothing else', () => {
    const before = play(empty, ask(two)).state;
    const step = play(before, answer({ question_id: 'q2', answer: 'many' }));
    expect(step.effects).toEqual([
      {
        type: 'rejected',
        isRecorded: true,
        rejected: {
          question_id: 'q2',
          reason: expect.stringContaining('expected a number'),
          example: { question_id: 'q2', answer: 3 },
          rejected_at: now + 1,
        },
      },
    ]);
    expect({ ...step.state, rejected: [], rejected_total: 0 }).toEqual(before);
  });

  it('IN4: the same question for the same task is put twice, the third time is a loop', () => {
    const reworded = ['Which region?', 'which REGION', '  Which region…'];
    const steps = reworded.map((text, i) => escalation(`e${i}`, [asked({ text })]));
    const step = play(
      empty,
      ...steps.flatMap((from, i) => [
        ask(from),
        answer({ question_id: `q${i + 1}`, answer: 'EU' }),
      ]),
    );
    expect(step.effects.filter((e) => e.type === 'opened')).toHaveLength(2);
    const last = step.effects.findLast((effect) => effect.type === 'deliver');
    expect(last?.answers).toEqual([
      expect.objectContaining({ question_id: 'q2', loop: true, answered_by: 'planwave' }),
    ]);
    // The wave knows it beforehand: no planner reviews what is refused.
    const delivered = step.effects.filter((effect) => effect.type === 'deliver');
    const isLast = delivered.flatMap((effect) => effect.answers.map(({ is_last }) => is_last));
    expect(isLast).toEqual([undefined, true, true]);
    expect(listRefused(step.state.asked)).toEqual([questionKey('d1', 'Which REGION?!')]);
    expect(last?.answers[0]?.answer_text).toContain('asked 2 times before');
    expect(last?.answers[0]?.answer_text).toContain('The answer to q2 was: "EU"');
  });

  it('IN4: a task of another wave may ask the same; a mixed escalation waits for its real question', () => {
    const others = [1, 2, 3].map((wave) =>
      escalation(`e${wave}`, [asked()], { wave, delegation_id: `d${wave}`, from: `w${wave}` }),
    );
    expect(types(play(empty, ...others.map((o) => ask(o))))).toEqual([
      'opened',
      'opened',
      'opened',
    ]);
    const mixed = play(
      empty,
      ask(escalation('e1', [asked()])),
      answer({ question_id: 'q1', answer: 'EU' }),
      ask(escalation('e2', [asked()])),
      answer({ question_id: 'q2', answer: 'EU' }),
      ask(escalation('e3', [asked(), asked({ text: 'How many?' })])),
    );
    expect(types(mixed).slice(-2)).toEqual(['looped', 'opened']);
    const end = play(mixed.state, answer({ question_id: 'q3', answer: 'x' }));
    expect(types(end)).toEqual(['answered', 'deliver']);
    const delivered = end.effects.find((effect) => effect.type === 'deliver');
    expect(delivered?.answers.map((a) => a.loop)).toEqual([true, false]);
    expect(delivered?.answers[0]?.answer_text).toContain('The answer to q2 was');
  });

  it("IN5: the engine's own decisions are asked as often as they come up", () => {
    const spent = ['e1', 'e2', 'e3', 'e4'].map((id) =>
      escalation(id, [asked({ text: 'More waves?' })], {
        kind: 'waves_spent',
        delegation_id: null,
      }),
    );
    expect(types(play(empty, ...spent.map((s) => ask(s))))).toEqual(Array(4).fill('opened'));
  });

  it('IN7: approvals are no end of questions either: at the limit the asker is told, and it is no answer', () => {
    const many = Array.from({ length: 200 }, (_, n) => approval(n));
    const step = play(empty, ...many);
    expect(step.state.open.length).toBeLessThan(100);
    const last = step.effects.at(-1);
    expect(last).toMatchObject({ answers: [{ loop: true, answered_by: 'planwave' }] });
  });

  it('IN8: an escalation with a deadline of its own gets its default then', () => {
    const from = escalation('e1', [asked({ default_answer: 'Bergen' })], {
      kind: 'approval',
      deadline_seconds: 60,
    });
    const open = play(empty, ask(from));
    expect(open.state.open[0]?.deadline_seconds).toBe(60);
    const late = play(open.state, { type: 'deadline', question_id: 'q1', now: now + 60 });
    expect(late.effects).toMatchObject([{ type: 'answered', answered_by: 'default' }, {}]);
  });

  it('IN6: the state goes through JSON and on', () => {
    const first = play(empty, ask(two), answer({ question_id: 'q1', answer: 'Oslo' }));
    const carried = openInbox(roundTrip(first.state));
    const end = play(
      carried,
      answer({ question_id: 'q1', answer: 'Oslo' }),
      answer({ question_id: 'q2', answer: 3 }),
    );
    expect(types(end)).toEqual(['repeated', 'answered', 'deliver']);
  });

  it('IN7: the state stays small, whatever is asked, answered and refused', () => {
    let state = empty;
    for (let i = 0; i < 60; i += 1) state = stepInbox(state, ask(big(i))).state;
    for (let i = 0; i < 100; i += 1) {
      state = stepInbox(state, answer({ question_id: 'z'.repeat(9_000), answer: 1 })).state;
    }
    for (const { question_id } of state.open.slice(0, -1)) {
      state = stepInbox(state, answer({ question_id, answer: 'z'.repeat(9_000) })).state;
    }
    expect(state.rejected).toHaveLength(engineLimits.rejectedAnswersMax);
    expect(JSON.stringify(state).length).toBeLessThan(3 * engineLimits.inboxCharsMax);
  });

  it('IN7: a run that asks without end is told, and the asker goes on', () => {
    let state = empty;
    for (let i = 1; i <= engineLimits.questionsMax; i += 1) {
      const from = escalation(`e${i}`, [asked({ text: `Question ${i}` })]);
      state = play(state, ask(from), answer({ question_id: `q${i}`, answer: 'x' })).state;
    }
    const over = play(state, ask(escalation('over', [asked({ text: 'One more' })])));
    expect(types(over)).toEqual(['deliver']);
    const delivered = over.effects.find((effect) => effect.type === 'deliver');
    expect(delivered?.answers[0]).toMatchObject({ question_id: 'not-asked', loop: true });
    expect(delivered?.answers[0]?.answer_text).toContain('500 questions');
  });

  it('IN8: defaults are taken at once where the run takes them, where there is one', () => {
    const from = escalation('e1', [asked({ default_answer: 'eu' }), asked({ text: 'And you?' })]);
    const step = play(empty, ask(from, { use_defaults: true }));
    expect(types(step)).toEqual(['opened', 'opened', 'answered']);
    expect(step.effects[2]).toMatchObject({ text: 'eu', answered_by: 'default' });
    expect(step.state.open.map((q) => q.question_id)).toEqual(['q2']);
  });

  it('IN8: with autonomy "assume" only what is critical waits, and the asker gets the rest at once', () => {
    const from = escalation('e1', [
      asked({ default_answer: 'eu' }),
      asked({ text: 'And you?', priority: 'critical' }),
    ]);
    const step = play(empty, ask(from, { autonomy: 'assume' }));
    expect(types(step)).toEqual(['opened', 'opened', 'answered']);
    expect(step.effects[2]).toMatchObject({ text: 'eu', answered_by: 'assumption' });
    expect(step.state.open.map((q) => q.question_id)).toEqual(['q2']);
    const light = play(empty, ask(escalation('e2', [asked()]), { autonomy: 'assume' }));
    expect(types(light)).toEqual(['opened', 'answered', 'deliver']);
    const late = play(step.state, answer({ question_id: 'q1', answer: 'us' }));
    expect(late.state.rejected[0]?.reason).toContain('nobody was asked: "eu" was assumed');
  });

  it('IN8: fault 44: a default is taken at the deadline, the answer after it is refused', () => {
    const from = escalation('e1', [asked({ default_answer: 'eu' })]);
    const open = play(empty, ask(from, { rules: { ...usualRules, deadline_seconds: 60 } }));
    expect(open.state.open[0]?.deadline_seconds).toBe(60);
    const end = play(
      open.state,
      { type: 'deadline', question_id: 'q1', now: now + 60 },
      { type: 'deadline', question_id: 'q1', now: now + 61 },
      answer({ question_id: 'q1', answer: 'us' }),
    );
    expect(types(end)).toEqual(['answered', 'deliver', 'rejected']);
    expect(end.state.rejected[0]?.reason).toContain('the default was taken');
  });

  it('IN8: without a default, or with a bad one, no deadline answers', () => {
    const bad = asked({ expected_answer_format: 'number', default_answer: 'many' });
    const rules = { ...usualRules, deadline_seconds: 60 };
    const open = play(empty, ask(escalation('e1', [asked(), bad]), { rules }));
    expect(open.state.open.map((q) => [q.default_answer, q.deadline_seconds])).toEqual([
      [null, null],
      [null, null],
    ]);
    const late = stepInbox(open.state, { type: 'deadline', question_id: 'q1', now: now + 999 });
    expect(late.state).toBe(open.state);
  });

  it('IN11: a reminder is counted, a hand-over happens once, and the question stays as it was', () => {
    const rules = { ...usualRules, escalate_to: { person: 'Maria', after_seconds: 60 } };
    const open = play(empty, ask(two, { rules })).state;
    const urged = play(
      open,
      { type: 'reminder', question_id: 'q1', now: now + 30 },
      { type: 'reminder', question_id: 'q1', now: now + 90 },
      { type: 'hand_over', question_id: 'q1', now: now + 60 },
      { type: 'hand_over', question_id: 'q1', now: now + 99 },
      { type: 'reminder', question_id: 'q9', now: now + 99 },
    );
    expect(types(urged)).toEqual(['changed', 'changed', 'changed']);
    const [first, second] = open.open;
    expect(urged.state).toEqual({
      ...open,
      open: [{ ...first, reminded: 2, escalated_at: now + 60 }, second],
    });
    const unasked = play(play(empty, ask(two)).state, {
      type: 'hand_over',
      question_id: 'q1',
      now,
    });
    expect(unasked.effects).toEqual([]);
  });

  it('IN9: the preview says what the step would', () => {
    const { state } = play(empty, ask(two));
    expect(previewAnswer(state, { question_id: 'q1', answer: 'Oslo' })).toEqual({ ok: true });
    expect(previewAnswer(state, { question_id: 'q2', answer: 'x' })).toMatchObject({
      ok: false,
      example: { question_id: 'q2', answer: 3 },
    });
  });

  it('IN10: a long answer is whole in the effect, cut in the state, and delivered with its reference', () => {
    const long = 'x'.repeat(5_000);
    const first = play(empty, ask(two), answer({ question_id: 'q1', answer: long }));
    expect(first.effects.at(-1)).toMatchObject({ type: 'answered', text: long });
    expect(JSON.stringify(first.state).length).toBeLessThan(3_500);
    const end = play(
      first.state,
      { type: 'stored', question_id: 'q1', answer_ref: 'b'.repeat(64) },
      { type: 'stored', question_id: 'q2', answer_ref: 'c'.repeat(64) },
      answer({ question_id: 'q2', answer: 3 }),
    );
    const delivered = end.effects.find((effect) => effect.type === 'deliver');
    expect(delivered?.answers.map((a) => [a.is_cut, a.answer_ref, a.answer_text.length])).toEqual([
      [true, 'b'.repeat(64), engineLimits.inlineAnswerCharsMax],
      [false, null, 1],
    ]);
  });

  it('WQ1 and WQ2: what an asker that is gone has asked is withdrawn, and nobody else is touched', () => {
    const other = escalation('e2', [asked({ text: 'Which colour?' })], { delegation_id: 'd2' });
    const open = play(empty, ask(two), ask(other)).state;
    const gone = play(open, { type: 'withdraw', from: two.from, delegation_id: 'd2', now });
    expect(gone.effects).toMatchObject([{ type: 'withdrawn', question: { question_id: 'q3' } }]);
    expect(gone.state.open.map(({ question_id }) => question_id)).toEqual(['q1', 'q2']);
    const late = play(gone.state, answer({ question_id: 'q3', answer: 'blue' }));
    expect(late.effects).toMatchObject([
      { type: 'rejected', rejected: { reason: expect.stringContaining('withdrawn') } },
    ]);
    const rest = play(gone.state, { type: 'withdraw', from: two.from, delegation_id: null, now });
    expect(rest.state).toMatchObject({ open: [], pending: [] });
    const stranger = { type: 'withdraw', from: 'somebody', delegation_id: null, now } as const;
    expect(play(open, stranger)).toEqual({ state: open, effects: [] });
  });

  it('WQ1: a workflow that goes on waits for its question about the budget', () => {
    const budget = escalation('e4', [asked()], { kind: 'budget', delegation_id: null });
    const open = play(empty, ask(two), ask(budget)).state;
    const withdraw = { type: 'withdraw', from: two.from, delegation_id: null, now } as const;
    expect(play(open, withdraw).state.open.map(({ kind }) => kind)).toEqual(['budget']);
    expect(play(open, { ...withdraw, is_over: true }).state.open).toEqual([]);
  });

  it('WQ1: of a delegation that goes on, only what a lost part of it has asked is withdrawn', () => {
    const part = escalation('e3', [asked({ text: 'Which colour?' })]);
    const { from, delegation_id } = two;
    const open = play(empty, ask(two), ask(part)).state;
    const lost = { type: 'withdraw', from, delegation_id, escalation_id: 'e3', now } as const;
    const gone = play(open, lost);
    expect(gone.effects).toMatchObject([{ type: 'withdrawn', question: { question_id: 'q3' } }]);
    expect(gone.state.pending.map(({ escalation_id }) => escalation_id)).toEqual(['e1']);
  });
});
