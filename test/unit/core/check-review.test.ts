import * as fc from 'fast-check';
import type { PlannerVerdict, QuestionReview } from '../../../contracts/question.ts';
import { checkReview, checkSettled } from '../../../core/questions/check-review.ts';
import { asked, property } from './builders.ts';

type Verdict = QuestionReview['reviews'][number];

const context = {
  questions: [
    asked(),
    asked({ expected_answer_format: 'choice', choices: ['eu', 'us'], default_answer: 'eu' }),
  ],
  facts_total: 3,
  sources: ['goal', 'q1', 'market-research'],
  unfinished: ['prices', 'report'],
};

const answered = (question: number, over: Partial<PlannerVerdict> = {}): Verdict => ({
  question,
  verdict: 'answered',
  answer: 'eu',
  source_refs: ['goal'],
  reason: 'The goal says so.',
  ...over,
});

const awaits = (over: Partial<PlannerVerdict> = {}): Verdict =>
  answered(1, { verdict: 'awaits', answer: null, source_refs: ['prices'], ...over });

const passed = (question: number): Verdict =>
  answered(question, { verdict: 'needs_user_input', answer: null, source_refs: [] });

const faultsOf = (...reviews: readonly Verdict[]): string[] =>
  checkReview({ reviews: [...reviews] }, context).map(
    ({ path, reason, hint }) => `${path}: ${reason} ${hint}`,
  );

const loose = (verdict: PlannerVerdict['verdict'], ...source_refs: string[]) =>
  checkSettled({ reviews: [answered(1, { verdict, source_refs })] }, ['f2', 'q1']);

const checkFirst = (first: Verdict, architect: boolean) =>
  checkReview({ reviews: [first, passed(2)] }, { ...context, architect });

describe("the planner's review of an agent's questions", () => {
  it('QR1: each question has one verdict, and nothing else has', () => {
    expect(faultsOf(answered(2), passed(1))).toEqual([]);
    expect(faultsOf(answered(1))[0]).toMatch(/^reviews: no verdict on 2 Try: .*1 to 2/);
    expect(faultsOf(answered(1), answered(1), answered(2), passed(3))[0]).toContain(
      'unknown or given twice: 1, 3',
    );
  });

  it('QR2: what the agent gets fits its question, what goes to the user has no answer', () => {
    expect(faultsOf(answered(1), answered(2, { answer: 'asia' }))[0]).toMatch(
      /^reviews\[1\]\.answer: expected one of "eu", "us" Try: "eu"/,
    );
    const silent = answered(1, { verdict: 'assumed', answer: null });
    expect(faultsOf(silent, passed(2))[0]).toContain('the verdict "assumed" needs an answer');
    expect(faultsOf({ ...passed(1), answer: 'eu' }, passed(2))[0]).toContain('has no answer yet');
  });

  it('QR7: a question goes to the architect where there is one, and without an answer', () => {
    const routed = answered(1, { verdict: 'architect', answer: null, source_refs: [] });
    expect(checkFirst(routed, true)).toEqual([]);
    expect(checkFirst(routed, false)[0]?.reason).toContain('no solution architect');
    expect(checkFirst({ ...routed, answer: 'eu' }, true)[0]?.reason).toContain('has no answer yet');
  });

  it('QR3: an answer has a source, and every source exists', () => {
    for (const ref of ['goal', 'f1', 'f3', ' q1 ', 'market-research']) {
      expect(faultsOf(answered(1, { source_refs: [ref] }), passed(2))).toEqual([]);
    }
    for (const ref of ['f0', 'f4', 'f01', 'q2', 'Goal', '', 'f1x']) {
      const [fault] = faultsOf(answered(1, { source_refs: ['goal', ref] }), passed(2));
      expect(fault).toMatch(/^reviews\[0\]\.source_refs: no such source: .* Try: a fact_id/);
    }
    expect(faultsOf(answered(1, { source_refs: [] }), passed(2))[0]).toContain('is taken from');
    const assumed = answered(1, { verdict: 'assumed', source_refs: [] });
    expect(faultsOf(assumed, passed(2))).toEqual([]);
  });

  it('QR4: a critical question is answered from a source or goes to the user', () => {
    const critical = { ...context, questions: [asked({ priority: 'critical' })] };
    const pathsOf = (verdict: Verdict) =>
      checkReview({ reviews: [verdict] }, critical).map(({ path }) => path);
    expect(pathsOf(answered(1))).toEqual([]);
    expect(pathsOf(passed(1))).toEqual([]);
    expect(pathsOf(answered(1, { verdict: 'assumed' }))).toEqual(['reviews[0].verdict']);
    const [fault] = checkReview({ reviews: [answered(1, { source_refs: [] })] }, critical);
    expect(fault?.hint).toContain('"needs_user_input" with null when nothing says so');
  });

  it('QR6: what awaits a result names unfinished delegations, and has no answer', () => {
    expect(faultsOf(awaits(), passed(2))).toEqual([]);
    expect(faultsOf(awaits({ source_refs: ['prices', 'report'] }), passed(2))).toEqual([]);
    expect(faultsOf(awaits({ answer: 'eu' }), passed(2))[0]).toContain('has no answer yet');
    for (const source_refs of [[], ['market-research'], ['prices', 'goal']]) {
      expect(faultsOf(awaits({ source_refs }), passed(2))).toEqual([
        expect.stringMatching(/^reviews\[0\]\.source_refs: n.* Try: one of "prices", "report"/),
      ]);
    }
  });

  it('QR8: no answer is taken from what is assumed or superseded, and an assumption may be', () => {
    expect(loose('answered', 'goal', ' f2 ', 'q1')).toEqual([
      {
        path: 'reviews[0].source_refs',
        reason: 'assumed or superseded, so no answer: " f2 ", "q1"',
        hint: expect.stringMatching(/^Try: .*"assumed".*critical.*"needs_user_input" with null/),
      },
    ]);
    expect(loose('answered', 'goal', 'f1')).toEqual([]);
    expect(loose('assumed', 'f2')).toEqual([]);
  });

  it('QR5: all faults come at once, each with path, reason and hint, whatever the review says', () => {
    const bad = answered(2, { answer: 'asia', source_refs: ['f9'] });
    expect(faultsOf(bad)).toHaveLength(3);
    const anyVerdict = fc.record({
      question: fc.integer({ min: 1, max: 4 }),
      verdict: fc.constantFrom('answered', 'assumed', 'needs_user_input'),
      answer: fc.option(fc.constantFrom('eu', 'asia', '')),
      source_refs: fc.array(fc.constantFrom('goal', 'f2', 'f7', 'nothing'), { maxLength: 3 }),
      reason: fc.constant('So.'),
    });
    fc.assert(
      fc.property(fc.array(anyVerdict, { maxLength: 5 }), (reviews) => {
        const faults = checkReview({ reviews }, context);
        expect(faults.every(({ hint }) => hint.startsWith('Try: '))).toBe(true);
        const kept = reviews.map(({ question }) => question).toSorted((a, b) => a - b);
        expect(faults.length > 0 || kept.join() === '1,2').toBe(true);
      }),
      property,
    );
  });
});
