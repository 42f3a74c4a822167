import * as fc from 'fast-check';
import type { Question } from '../../../contracts/question.ts';
import { property, question } from './builders.ts';
import {
  questionMoments,
  resolveQuestionRules,
  whenComes,
} from '../../../core/questions/inbox-event.ts';

const week = 604_800;
const year = 52 * week;

/** All reminders of a question that nobody answers for so long, in seconds after it was asked. */
function remindersOf(asked: Question, seconds: number): number[] {
  const found: number[] = [];
  for (let now = asked.asked_at; ;) {
    const at = whenComes('reminder', asked, now);
    if (at === null || at > asked.asked_at + seconds) return found;
    found.push(at - asked.asked_at);
    now = at;
  }
}

const anyQuestion = fc
  .record({
    deadline_seconds: fc.option(fc.integer({ min: 1, max: year })),
    remind_seconds: fc.integer({ min: 1, max: year }),
    after_seconds: fc.integer({ min: 1, max: year }),
    escalated: fc.boolean(),
  })
  .map(({ deadline_seconds, remind_seconds, after_seconds, escalated }) =>
    question({
      deadline_seconds,
      remind_seconds,
      default_answer: 'eu',
      escalate_to: { person: 'Maria', after_seconds },
      escalated_at: escalated ? 1_001 : null,
    }),
  );

describe('what comes to a question that nobody answers', () => {
  it('is nothing but a reminder a week when the input says nothing', () => {
    const { deadline_seconds, remind_seconds, escalate_to } = resolveQuestionRules(undefined);
    const asked = question({ deadline_seconds, remind_seconds, escalate_to });
    expect(remindersOf(asked, 4 * week)).toEqual([week, 2 * week, 3 * week, 4 * week]);
    expect(whenComes('deadline', asked, 0)).toBeNull();
    expect(whenComes('hand_over', asked, 0)).toBeNull();
  });

  it('QM1: the same moments are found at any time before them', () => {
    fc.assert(
      fc.property(anyQuestion, fc.nat(year), fc.nat(year), (asked, waited, later) => {
        const now = asked.asked_at + waited + later;
        const coming = questionMoments
          .map((moment) => ({ moment, at: whenComes(moment, asked, asked.asked_at + waited) }))
          .filter(({ at }) => at !== null && at > now);
        expect(coming.map(({ moment }) => whenComes(moment, asked, now))).toEqual(
          coming.map(({ at }) => at),
        );
      }),
      property,
    );
  });

  it('QM2: nothing comes at the deadline or after it', () => {
    const escalate_to = { person: 'Maria', after_seconds: 60 };
    const both = question({ deadline_seconds: 60, remind_seconds: 60, escalate_to });
    expect(questionMoments.map((moment) => whenComes(moment, both, 1_000))).toEqual([
      1_060,
      null,
      null,
    ]);
    fc.assert(
      fc.property(anyQuestion, fc.nat(year), (asked, waited) => {
        const now = asked.asked_at + waited;
        const deadline = whenComes('deadline', asked, now) ?? Infinity;
        expect(whenComes('reminder', asked, now) ?? 0).toBeLessThan(deadline);
        expect(whenComes('hand_over', asked, now) ?? 0).toBeLessThan(deadline);
      }),
      property,
    );
  });

  it('QM3: reminders are ever further apart and few, and missed ones are not made up for', () => {
    expect(remindersOf(question({ remind_seconds: 60 }), 1_000)).toEqual([60, 180, 420, 900]);
    expect(remindersOf(question({ remind_seconds: 1 }), year).length).toBeLessThan(80);
    expect(remindersOf(question({ remind_seconds: 2 * week }), year)).toHaveLength(26);
    fc.assert(
      fc.property(anyQuestion, fc.nat(3 * year), (asked, waited) => {
        const now = asked.asked_at + waited;
        const at = whenComes('reminder', { ...asked, deadline_seconds: null }, now);
        expect(at).toBeGreaterThan(now);
        expect((at ?? 0) - now).toBeLessThanOrEqual(Math.max(week, asked.remind_seconds));
      }),
      property,
    );
  });

  it('QM4: a hand-over comes once, also when its time has passed', () => {
    const asked = question({ escalate_to: { person: 'Maria', after_seconds: 60 } });
    expect(whenComes('hand_over', asked, 9_999)).toBe(1_060);
    expect(whenComes('hand_over', { ...asked, escalated_at: 1_060 }, 9_999)).toBeNull();
  });
});
