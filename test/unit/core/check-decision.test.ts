import { checkDecision, checkNamedAnswer } from '../../../core/decision/check-decision.ts';
import { asked, criterion, decision } from './builders.ts';

const met = [criterion('a', 'met'), criterion('w', 'waived')];
const open = [criterion('a', 'met'), criterion('b')];
const reopen = (...ids: string[]) => ({
  criteria_reopened: ids.map((criterion_id) => ({ criterion_id, reason: 'The source is a blog.' })),
});
const notOk = { io_status: 'NOT_OK' as const, not_ok_reasons: ['b is open'] };

const check = (
  made: ReturnType<typeof decision>,
  context: Partial<Parameters<typeof checkDecision>[1]>,
) => checkDecision(made, { criteria: [], claimed: [], answered_questions: [], ...context });

const paths = (made: ReturnType<typeof decision>, criteria = met) =>
  check(made, { criteria }).map((fault) => fault.path);

describe('checkDecision', () => {
  it('DE1: OK holds only when nothing is open after reopening, and nothing speaks against it', () => {
    expect(paths(decision())).toEqual([]);
    expect(paths(decision(), open)).toEqual(['planner_decision.io_status']);
    expect(paths(decision(reopen('a')))).toEqual(['planner_decision.io_status']);
    expect(paths(decision({}, { not_ok_reasons: ['but'] }))).toEqual([
      'planner_decision.not_ok_reasons',
    ]);
    const [fault] = check(decision(), { criteria: open });
    expect(fault?.reason).toContain('"b"');
  });

  it('DE2: NOT_OK names reasons, and something is open or reopened', () => {
    expect(paths(decision({}, notOk), open)).toEqual([]);
    expect(paths(decision(reopen('a'), notOk))).toEqual([]);
    expect(paths(decision({}, notOk))).toEqual(['planner_decision.io_status']);
    expect(paths(decision({}, { ...notOk, not_ok_reasons: [' '] }), open)).toEqual([
      'planner_decision.not_ok_reasons',
    ]);
  });

  it('DE3: only met criteria are reopened', () => {
    const made = decision(reopen('a', 'b', 'w', 'x'), notOk);
    const faults = check(made, { criteria: [...open, criterion('w', 'waived')] });
    expect(faults.map((f) => f.path)).toEqual([
      'criteria_reopened[1].criterion_id',
      'criteria_reopened[2].criterion_id',
      'criteria_reopened[3].criterion_id',
    ]);
    expect(faults[1]?.reason).toContain('waived');
    expect(faults[2]?.hint).toContain('"a"');
  });

  it('DE4: flag and questions say the same, and the questions are well-formed', () => {
    expect(paths(decision({ needs_user_input: true }))).toEqual(['user_questions']);
    expect(paths(decision({ user_questions: [asked()] }))).toEqual(['needs_user_input']);
    const choice = asked({ expected_answer_format: 'choice', choices: ['one'] });
    expect(paths(decision({ needs_user_input: true, user_questions: [choice] }))).toEqual([
      'user_questions[0].choices',
    ]);
  });

  it('DE5: OK names an answer, and a named answer exists (finding R1)', () => {
    expect(paths(decision({ has_answer: false }))).toEqual(['answer']);
    expect(paths(decision({ has_answer: false }, notOk), open)).toEqual([]);
    const there = { delegations: ['guide', 'review'], files: ['src/duration.ts', 'README.md'] };
    for (const answer of [
      null,
      { kind: 'text', value: 'Take the second.' },
      { kind: 'delegation', value: 'guide' },
      { kind: 'file', value: 'src/duration.ts' },
      { kind: 'file', value: 'src/duration.ts\nREADME.md\n' },
    ] as const) {
      expect(checkNamedAnswer(answer, there)).toEqual([]);
    }
    expect(checkNamedAnswer({ kind: 'delegation', value: 'draft' }, there)).toEqual([
      {
        path: 'answer.value',
        reason: '"draft" is no delegation of this run that completed',
        hint: 'Try: one of "guide", "review"',
      },
    ]);
    expect(checkNamedAnswer({ kind: 'file', value: 'guide' }, there)).toMatchObject([
      { hint: 'Try: one of "src/duration.ts", "README.md"' },
    ]);
    const halfThere = { kind: 'file', value: 'README.md\nLICENSE' } as const;
    expect(checkNamedAnswer(halfThere, there)).toMatchObject([
      { reason: '"LICENSE" is no file that this run is known to have written' },
    ]);
    const nothing = { delegations: [], files: [] };
    expect(checkNamedAnswer({ kind: 'file', value: 'x' }, nothing)).toMatchObject([
      { hint: expect.stringContaining('"kind":"text"') },
    ]);
  });

  it('DE6: all faults at once, each with a hint', () => {
    const made = decision({ needs_user_input: true, ...reopen('x') }, { io_status: 'NOT_OK' });
    const faults = check(made, { criteria: met });
    expect(faults).toHaveLength(4);
    for (const fault of faults) expect(fault.hint).toMatch(/^Try: /);
  });
});
