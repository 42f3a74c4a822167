import {
  applyOutcomes,
  applyPlan,
  isDone,
  openCriteria,
  reopenCriteria,
  waiveCriteria,
  checkByAnswers,
  reopenChanged,
  settleByAnswers,
} from '../../../core/criteria/criteria.ts';
import { criterion, delegation, outcome, decision } from './builders.ts';
import { checkDecision } from '../../../core/decision/check-decision.ts';
import type { CriteriaByAnswers } from '../../../contracts/criterion.ts';

const met = (id: string, ...ids: string[]) => outcome(id, { criteria_met: ids });
const unmet = (id: string, ...ids: string[]) => outcome(id, { criteria_unmet: ids });

describe('criteria', () => {
  it('C1: a waived criterion stays waived', () => {
    const waived = [criterion('a', 'waived')];
    expect(applyPlan(waived, [delegation('d', { criterion_ids: ['a'] })])).toEqual(waived);
    expect(applyOutcomes(waived, [met('d', 'a')])).toEqual(waived);
    expect(applyOutcomes(waived, [unmet('d', 'a')])).toEqual(waived);
    expect(reopenCriteria(waived, ['a'])).toEqual(waived);
  });

  it('C2: planning adds open criteria once and changes no other', () => {
    const before = [criterion('a', 'met'), criterion('b')];
    const after = applyPlan(before, [
      delegation('d1', { criterion_ids: ['a', 'c'] }),
      delegation('d2', { criterion_ids: ['c', 'b'] }),
    ]);
    expect(after).toEqual([...before, criterion('c')]);
  });

  it('C8: what decides questions of another task adds no criterion', () => {
    const decides = delegation('d', { criterion_ids: ['decided'], answers: 'asker' });
    expect(applyPlan([], [decides, delegation('e', { criterion_ids: ['a'] })])).toEqual([
      criterion('a'),
    ]);
    expect(applyOutcomes([criterion('a')], [met('d', 'decided')])).toEqual([criterion('a')]);
  });

  it('C3: a criterion becomes met by an outcome that names it, and by nothing else', () => {
    const after = applyOutcomes([criterion('a'), criterion('b')], [met('d1', 'a', 'unknown')]);
    expect(after).toEqual([
      { criterion_id: 'a', state: 'met', delegation_id: 'd1' },
      criterion('b'),
    ]);
  });

  it('C4: where outcomes disagree the criterion is open, in either order', () => {
    const outcomes = [met('d1', 'a'), unmet('d2', 'a')];
    expect(openCriteria(applyOutcomes([criterion('a')], outcomes))).toEqual(['a']);
    expect(openCriteria(applyOutcomes([criterion('a')], outcomes.toReversed()))).toEqual(['a']);
  });

  it('C5: an outcome without output takes nothing back', () => {
    const skipped = outcome('d2', { status: 'skipped', criteria_unmet: ['a'], output_ref: null });
    const after = applyOutcomes([criterion('a')], [met('d1', 'a'), skipped]);
    expect(openCriteria(after)).toEqual([]);
    expect(openCriteria(applyOutcomes([criterion('a', 'met')], [skipped]))).toEqual([]);
  });

  it('C5: a failed outcome with output has spoken', () => {
    const failed = outcome('d2', { status: 'failed', criteria_unmet: ['a'], criteria_met: ['b'] });
    const after = applyOutcomes([criterion('a', 'met'), criterion('b')], [failed]);
    expect(openCriteria(after)).toEqual(['a']);
  });

  it('C7: done needs at least one criterion and none open', () => {
    expect(isDone([])).toBe(false);
    expect(isDone([criterion('a', 'met'), criterion('b')])).toBe(false);
    expect(isDone([criterion('a', 'met'), criterion('b', 'waived')])).toBe(true);
  });

  it('reopening and waiving change only what they name', () => {
    const all = [criterion('a', 'met'), criterion('b', 'met'), criterion('c')];
    expect(openCriteria(reopenCriteria(all, ['a', 'nope']))).toEqual(['a', 'c']);
    expect(openCriteria(waiveCriteria(all, ['c', 'nope']))).toEqual([]);
  });
});

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
