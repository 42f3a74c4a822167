import {
  applyOutcomes,
  applyPlan,
  isDone,
  openCriteria,
  reopenCriteria,
  waiveCriteria,
} from '../../../core/criteria/criteria.ts';
import type { TeamOutcome } from '../../../contracts/team-run.ts';
import { teamOutcome } from '../../support/team-fixtures.ts';
import { criterion, delegation, outcome, ref } from './builders.ts';

const met = (id: string, ...ids: string[]) => outcome(id, { criteria_met: ids });
const unmet = (id: string, ...ids: string[]) => outcome(id, { criteria_unmet: ids });

/** A triad whose `execute` ended so. */
const ended = (status: 'done' | 'failed') => {
  const phase = { phase: 'execute', attempt: 1, status, rounds: 1, report_ref: ref } as const;
  const about = { reason: '', members: [], dissent: [], failure: null };
  const work = { ...about, type: 'consensus', phases: [phase] } as const;
  const executor = { kind: 'triad', work } as const;
  return outcome('d2', { status: 'failed', criteria_unmet: ['a'], executor });
};

const failedBy = (work: TeamOutcome) => {
  const executor = { kind: 'team', work } as const;
  return outcome('d2', { status: 'failed', criteria_unmet: ['a'], executor });
};

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

  it('C5: what a triad without an output leaves takes nothing back, and its output does', () => {
    const before = [criterion('a', 'met')];
    expect(openCriteria(applyOutcomes(before, [ended('failed')]))).toEqual([]);
    expect(openCriteria(applyOutcomes(before, [ended('done')]))).toEqual(['a']);
  });

  it('C5: what the engine writes for a team without an answer takes nothing back, and its answer does', () => {
    const before = [criterion('a', 'met')];
    const work = { ...teamOutcome(), unanswered: true } as const;
    expect(openCriteria(applyOutcomes(before, [failedBy(work)]))).toEqual([]);
    expect(openCriteria(applyOutcomes(before, [failedBy(teamOutcome())]))).toEqual(['a']);
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
