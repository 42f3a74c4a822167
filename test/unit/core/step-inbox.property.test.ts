import * as fc from 'fast-check';
import {
  carryInbox,
  openInbox,
  previewAnswer,
  stepInbox,
} from '../../../core/questions/step-inbox.ts';
import type { InboxEffect, InboxEvent, InboxState } from '../../../core/questions/step-inbox.ts';
import { asked, escalation, property } from './builders.ts';

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
  fc.nat(12).map((n): InboxEvent => ({ type: 'deadline', question_id: `q${n}`, now: 3 })),
  fc.nat(12).map((n): InboxEvent => ({ type: 'stored', question_id: `q${n}`, answer_ref: 'r' })),
);

function anyAsk(): fc.Arbitrary<InboxEvent> {
  return fc
    .record({
      id: fc.nat(20),
      task: fc.constantFrom('d1', 'd2'),
      questions: fc.array(anyAsked, { maxLength: 3 }),
      use_defaults: fc.boolean(),
      deadline: fc.constantFrom(null, 60),
    })
    .map(({ id, task, questions, use_defaults, deadline }) => ({
      type: 'ask',
      escalation: escalation(`e${id}`, questions, { delegation_id: task, from: task }),
      now: 1,
      use_defaults,
      deadline_seconds: deadline,
    }));
}

/** What an outsider knows from effects alone. */
class Watcher {
  readonly opened = new Set<string>();
  readonly answered = new Map<string, string>();
  /** Of escalations that wait: how many questions they have. */
  readonly waiting = new Map<string, number>();

  follow(event: InboxEvent, effects: readonly InboxEffect[]): void {
    if (event.type === 'ask') {
      const key = `${event.escalation.from}/${event.escalation.escalation_id}`;
      if (!this.waiting.has(key)) this.waiting.set(key, event.escalation.questions.length);
    }
    for (const effect of effects) this.note(effect);
  }

  private note(effect: InboxEffect): void {
    switch (effect.type) {
      case 'opened':
        expect(this.opened.has(effect.question.question_id)).toBe(false);
        this.opened.add(effect.question.question_id);
        return;
      case 'answered':
        expect(this.opened.has(effect.question.question_id)).toBe(true);
        expect(this.answered.has(effect.question.question_id)).toBe(false);
        this.answered.set(effect.question.question_id, effect.text);
        return;
      case 'deliver': {
        const key = `${effect.from}/${effect.escalation_id}`;
        expect(effect.answers).toHaveLength(this.waiting.get(key) ?? -1);
        this.waiting.delete(key);
        for (const { question_id, answer_text, loop } of effect.answers) {
          if (!loop) expect(answer_text).toBe(this.answered.get(question_id));
        }
        return;
      }
      case 'rejected':
      case 'repeated':
    }
  }
}

const roundTrip = (state: InboxState): InboxState =>
  openInbox(JSON.parse(JSON.stringify(carryInbox(state))) as InboxState);

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
        if (preview.ok) return;
        expect({ ...step.state, rejected: [] }).toEqual({ ...state, rejected: [] });
        if (preview.example !== null) {
          expect(previewAnswer(state, preview.example)).toEqual({ ok: true });
        }
      }),
      property,
    );
  });
});
