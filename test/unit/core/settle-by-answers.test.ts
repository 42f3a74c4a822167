import {
  openCriteria,
  applyOutcomes,
  reopenCriteria,
  checkByAnswers,
  reopenChanged,
  settleByAnswers,
} from '../../../core/criteria/criteria.ts';
import { settleWave } from '../../../core/run/settle-wave.ts';
import type { NewsItem } from '../../../contracts/messages.ts';
import { checkDecision } from '../../../core/decision/check-decision.ts';
import { criterion, decision, outcome } from './builders.ts';
import type { CriteriaByAnswers } from '../../../contracts/criterion.ts';

const criteria = [criterion('a'), criterion('b'), criterion('c', 'met'), criterion('w', 'waived')];
const answered_questions = [
  { question_id: 'q1', answered_by: 'user' },
  { question_id: 'q2', answered_by: 'default' },
  { question_id: 'q3', answered_by: 'planner' },
  { question_id: 'q4', answered_by: 'planner-assumption' },
];

const waives = (criterion_id: string, question_id: string): CriteriaByAnswers => ({
  criteria_waived: [{ criterion_id, question_id }],
});

const faultsOf = (said: CriteriaByAnswers, claimed: readonly string[] = []) =>
  checkByAnswers(said, { criteria, claimed, answered_questions });

const stateOf = (after: ReturnType<typeof settleWave>) => after[0]?.state;

describe("criteria by the user's answers", () => {
  it('finding W4: CA1: an answer of a person waives or meets an open criterion', () => {
    const said: CriteriaByAnswers = {
      ...waives('a', 'q1'),
      criteria_met_by_answer: [{ criterion_id: 'b', question_id: 'q1' }],
    };
    expect(faultsOf(said)).toEqual([]);
    const after = settleByAnswers(criteria, said);
    expect(after.slice(0, 2)).toEqual([
      { criterion_id: 'a', state: 'waived', delegation_id: null, question_id: 'q1' },
      { criterion_id: 'b', state: 'met', delegation_id: null, question_id: 'q1' },
    ]);
    expect(openCriteria(after)).toEqual([]);
  });

  it.each(['q2', 'q3', 'q4', 'q9'])('CA1: %s is no answer of the user', (question_id) => {
    expect(faultsOf(waives('a', question_id))).toEqual([
      {
        path: 'criteria_waived[0].question_id',
        reason: expect.stringMatching(/only the user can waive|no answered question/),
        hint: 'Try: leave it out, or ask the user. The user answered: "q1"',
      },
    ]);
  });

  it('CA2: only what is open or claimed in this wave, and by one answer', () => {
    expect(faultsOf(waives('c', 'q1'))[0]?.reason).toBe('"c" is met already');
    expect(faultsOf(waives('c', 'q1'), ['c'])).toEqual([]);
    expect(faultsOf(waives('w', 'q1'))[0]?.reason).toBe('"w" is waived already');
    expect(faultsOf(waives('x', 'q1'))[0]?.reason).toBe('"x" is no criterion of this run');
    const twice = {
      ...waives('a', 'q1'),
      criteria_met_by_answer: [{ criterion_id: 'a', question_id: 'q1' }],
    };
    expect(faultsOf(twice)[0]).toMatchObject({
      path: 'criteria_met_by_answer[0].criterion_id',
      reason: '"a" is listed already, at criteria_waived[0]',
    });
  });

  it('CA3: nothing else changes, and what is waived stays so', () => {
    expect(settleByAnswers(criteria, {})).toEqual(criteria);
    const met = { criteria_met_by_answer: [{ criterion_id: 'w', question_id: 'q1' }] };
    expect(settleByAnswers(criteria, met)).toEqual(criteria);
  });

  it('CA4: all faults at once, each with a hint', () => {
    const faults = faultsOf(waives('x', 'q2'));
    expect(faults.map(({ path }) => path)).toEqual([
      'criteria_waived[0].criterion_id',
      'criteria_waived[0].question_id',
    ]);
    for (const { hint } of faults) expect(hint).toMatch(/^Try: /);
  });

  it('CA5: what an answer had settled is open again once it is changed', () => {
    const met = { criteria_met_by_answer: [{ criterion_id: 'a', question_id: 'q1' }] };
    const settled = settleByAnswers(criteria, met);
    expect(reopenChanged(settled, ['q2'])).toEqual(settled);
    expect(reopenChanged(settled, ['q1'])[0]).toEqual({
      criterion_id: 'a',
      state: 'open',
      delegation_id: null,
    });
  });

  describe('CA6: plan and decision settle by what they had heard', () => {
    const changed: NewsItem = {
      news_id: 5,
      type: 'answer',
      question_id: 'q1',
      text: 'May a be left out?',
      answer: 'No.',
      answer_ref: null,
      answered_by: 'user',
      delegation_id: null,
      changed: true,
    };
    const open = [criterion('a')];
    const wave = { plan: null, outcomes: [], decision: null, news: [changed] };
    const plan = { ...waives('a', 'q1'), delegations: [] };
    const met = { criteria_met_by_answer: [{ criterion_id: 'a', question_id: 'q1' }] };

    it.each([
      [4, 'open'],
      [5, 'waived'],
    ])('a plan that had heard up to %i', (heard, state) => {
      const after = settleWave(open, { ...wave, plan, heard: { plan: heard, decision: 0 } });
      expect(stateOf(after)).toBe(state);
    });

    it.each([
      [4, 'open', 'open'],
      [5, 'waived', 'met'],
    ])('a decision that had heard up to %i', (heard, whenWaived, whenMet) => {
      const after = [waives('a', 'q1'), met].map((said) => {
        const decided = { ...decision(said), criteria_reopened: [] };
        return settleWave(open, {
          ...wave,
          decision: decided,
          heard: { plan: 3, decision: heard },
        });
      });
      expect(after.map(stateOf)).toEqual([whenWaived, whenMet]);
    });

    it('what an earlier wave settled is open again, and what an instruction waived stays so', () => {
      const heard = { plan: 0, decision: 0 };
      const settled = settleByAnswers(open, waives('a', 'q1'));
      expect(stateOf(settleWave(settled, { ...wave, heard }))).toBe('open');
      const waived: NewsItem = {
        news_id: 6,
        type: 'instruction',
        instruction: 'Leave a out.',
        criteria_waived: ['a'],
      };
      const news = [changed, waived];
      expect(stateOf(settleWave(settled, { ...wave, news, heard }))).toBe('waived');
    });
  });

  it('C6: no outcome takes back what an answer met; the planner reopens it', () => {
    const met = settleByAnswers(criteria, {
      criteria_met_by_answer: [{ criterion_id: 'a', question_id: 'q1' }],
    });
    expect(applyOutcomes(met, [outcome('d', { criteria_unmet: ['a'] })])).toEqual(met);
    expect(reopenCriteria(met, ['a'])[0]).toEqual(criterion('a'));
  });

  it('DE1: a decision is OK when an answer settles what is open', () => {
    const context = { criteria: [criterion('a')], claimed: [], answered_questions };
    expect(checkDecision(decision(), context)).toHaveLength(1);
    expect(checkDecision(decision(waives('a', 'q1')), context)).toEqual([]);
  });
});
