import * as fc from 'fast-check';
import { openInbox, previewAnswer, stepInbox } from '../../../core/questions/step-inbox.ts';
import type { InboxEffect, InboxEvent } from '../../../core/questions/inbox-event.ts';
import type { InboxState } from '../../../core/questions/step-inbox.ts';
import { asked, escalation, property, usualRules } from './builders.ts';
import { questionMoments } from '../../../core/questions/inbox-event.ts';

const anyAsked = fc.constantFrom(
  asked(),
  asked({ text: 'Which region', default_answer: 'eu' }),
  asked({ text: 'How many?', expected_answer_format: 'number', default_answer: '3' }),
  asked({ text: 'Sure?', expected_answer_format: 'boolean' }),
  asked({ text: 'A or b?', expected_answer_format: 'choice', choices: ['A', 'b'] }),
);

const anyPayload: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    question_id: fc.nat(12).map((n) => `q${n}`),
    answer: fc.constantFrom<unknown>('eu', 'us', 3, '3', true, 'yes', 'a', 1, '', null),
  }),
  fc.record({ answer: fc.constantFrom<unknown>('eu', 3, true) }),
  fc.anything(),
);

const anyEvent: fc.Arbitrary<InboxEvent> = fc.oneof(
  { weight: 2, arbitrary: anyAsk() },
  {
    weight: 5,
    arbitrary: anyPayload.map((payload): InboxEvent => ({
      type: 'answer',
      payload,
      now: 2,
      default_answered_by: 'user',
    })),
  },
  fc
    .tuple(fc.constantFrom(...questionMoments), fc.nat(12))
    .map(([type, n]): InboxEvent => ({ type, question_id: `q${n}`, now: 3 })),
  fc.nat(12).map((n): InboxEvent => ({ type: 'stored', question_id: `q${n}`, answer_ref: 'r' })),
);

function anyAsk(): fc.Arbitrary<InboxEvent> {
  return fc
    .record({
      id: fc.nat(20),
      task: fc.constantFrom('d1', 'd2'),
      questions: fc.array(anyAsked, { maxLength: 3 }),
      use_defaults: fc.boolean(),
      autonomy: fc.constantFrom('ask' as const, 'assume' as const),
      deadline: fc.constantFrom(null, 60),
    })
    .map(({ id, task, questions, use_defaults, autonomy, deadline }) => ({
      type: 'ask',
      escalation: escalation(`e${id}`, questions, { delegation_id: task, from: task }),
      now: 1,
      use_defaults,
      autonomy,
      rules: {
        ...usualRules,
        deadline_seconds: deadline,
        escalate_to: { person: 'Maria', after_seconds: 9 },
      },
    }));
}

/** Observer that knows the effects alone. */
class Watcher {
  readonly faults: string[] = [];
  readonly opened = new Set<string>();
  readonly answered = new Map<string, string>();
  /** Number of questions of each waiting escalation. */
  readonly waiting = new Map<string, number>();

  follow(event: InboxEvent, effects: readonly InboxEffect[]): void {
    if (event.type === 'ask') {
      const key = `${event.escalation.from}/${event.escalation.escalation_id}`;
      if (!this.waiting.has(key)) this.waiting.set(key, event.escalation.questions.length);
    }
    for (const effect of effects) this.note(effect);
  }

  private expect(holds: boolean, fault: string): void {
    if (!holds) this.faults.push(fault);
  }

  private note(effect: InboxEffect): void {
    switch (effect.type) {
      case 'opened':
        this.expect(!this.opened.has(effect.question.question_id), 'opened twice');
        this.opened.add(effect.question.question_id);
        return;
      case 'answered':
        this.expect(this.opened.has(effect.question.question_id), 'answered before it was opened');
        this.expect(!this.answered.has(effect.question.question_id), 'answered twice');
        this.answered.set(effect.question.question_id, effect.text);
        return;
      case 'deliver': {
        const key = `${effect.from}/${effect.escalation_id}`;
        this.expect(effect.answers.length === this.waiting.get(key), 'not all were delivered');
        this.waiting.delete(key);
        for (const { question_id, answer_text, loop } of effect.answers) {
          const isFirst = answer_text === this.answered.get(question_id);
          this.expect(loop || isFirst, 'another answer was delivered');
        }
        return;
      }
      case 'withdrawn':
        this.expect(!this.answered.has(effect.question.question_id), 'withdrawn when answered');
        return;
      case 'changed':
        this.expect(!this.answered.has(effect.question.question_id), 'urged when answered');
        return;
      case 'rejected':
      case 'looped':
      case 'repeated':
    }
  }
}

function roundTrip(state: InboxState): InboxState {
  const copy: InboxState = JSON.parse(JSON.stringify(state));
  return openInbox(copy);
}

describe('stepInbox, whatever happens', () => {
  it('IN1: IN2: IN6: answered once, delivered once, the same after continue-as-new at any place', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyEvent, fc.boolean()), { maxLength: 40 }), (run) => {
        const watcher = new Watcher();
        let state = openInbox(null);
        for (const [event, isCarried] of run) {
          const step = stepInbox(state, event);
          const copy = stepInbox(roundTrip(state), event);
          expect(copy).toEqual(step);
          watcher.follow(event, step.effects);
          state = isCarried ? roundTrip(step.state) : step.state;
        }
        expect(watcher.faults).toEqual([]);
        const open = new Set(state.open.map((q) => q.question_id));
        expect([...watcher.opened].filter((id) => !watcher.answered.has(id))).toEqual([...open]);
        expect(watcher.waiting.size).toBe(state.pending.length);
      }),
      property,
    );
  });

  it('IN2: when every open question is answered, nobody waits any more', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        let state = openInbox(null);
        for (const event of events) state = stepInbox(state, event).state;
        for (const { question_id, expected_answer_format: format } of state.open) {
          const answer = format === 'number' || format === 'choice' ? 1 : 'yes';
          const payload = { question_id, answer };
          state = stepInbox(state, {
            type: 'answer',
            payload,
            now: 9,
            default_answered_by: 'user',
          }).state;
        }
        expect(state.open).toEqual([]);
        expect(state.pending).toEqual([]);
      }),
      property,
    );
  });

  it('IN3: IN9: the preview agrees with the step, and a refused answer changes only the list', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 15 }), anyPayload, (events, payload) => {
        let state = openInbox(null);
        for (const event of events) state = stepInbox(state, event).state;
        const preview = previewAnswer(state, payload);
        const step = stepInbox(state, {
          type: 'answer',
          payload,
          now: 9,
          default_answered_by: 'user',
        });
        expect(preview.ok).toBe(step.effects[0]?.type !== 'rejected');
        const { rejected, rejected_total } = step.state;
        const untouched = preview.ok ? step.state : { ...state, rejected, rejected_total };
        expect(step.state).toEqual(untouched);
        const example = preview.ok ? payload : preview.example;
        expect(example === null || previewAnswer(state, example).ok).toBe(true);
      }),
      property,
    );
  });
});
