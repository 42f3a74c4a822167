import * as fc from 'fast-check';
import { applyOutcomes } from '../../../core/criteria/criteria.ts';
import { checkInputs } from '../../../core/plan/check-inputs.ts';
import {
  dropReplaced,
  dropReplacedOutcomes,
  listReplaced,
  mapReplaced,
} from '../../../core/schedule/dependencies.ts';
import { criterion, delegation, outcome } from './builders.ts';
import { listSuperseded } from '../../../core/run/list-deliverables.ts';
import { checkReplaced } from '../../../core/plan/check-plan.ts';

const draft = delegation('draft', { produces: ['text'] });
const review = delegation('review', { depends_on: ['draft'] });
const final = delegation('final', {
  depends_on: ['draft', 'review'],
  produces: ['text'],
  replaces: 'draft',
});

const reasons = (...plan: Parameters<typeof checkReplaced>[0]) =>
  checkReplaced(plan, ['old']).map(({ path, reason }) => `${path}: ${reason}`);

const states = (...outcomes: Parameters<typeof applyOutcomes>[1]) =>
  applyOutcomes([criterion('a'), criterion('b')], outcomes).map(({ state }) => state);

describe('a result that replaces another', () => {
  it('RE1: counts instead of it, once it is there', () => {
    expect(dropReplaced([draft, review, final])).toEqual([review, final]);
    const outcomes = [outcome('draft'), outcome('review'), outcome('final', { replaces: 'draft' })];
    expect(dropReplacedOutcomes(outcomes).map((one) => one.delegation_id)).toEqual([
      'review',
      'final',
    ]);
    const failed = outcome('final', { replaces: 'draft', status: 'failed' });
    expect(dropReplacedOutcomes([outcome('draft'), failed])).toHaveLength(2);
  });

  it('RE2: stands for all that it replaced, and cycles end', () => {
    const third = delegation('third', { replaces: 'final' });
    expect(listReplaced(third, [draft, final, third])).toEqual(['final', 'draft']);
    expect(listReplaced(draft, [draft])).toEqual([]);
    const a = delegation('a', { replaces: 'b' });
    const b = delegation('b', { replaces: 'a' });
    expect(listReplaced(a, [a, b])).toEqual(['b', 'a']);
  });

  it('RE2: is found for each that it replaced, the first of several', () => {
    const version = fc.record({
      delegation_id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      replaces: fc.constantFrom('a', 'b', 'c', 'd', 'e', undefined),
    });
    const versions = fc.uniqueArray(version, { selector: (one) => one.delegation_id });
    fc.assert(
      fc.property(versions, (all) => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) {
          const newest = dropReplaced(all).find((one) => listReplaced(one, all).includes(id));
          expect(mapReplaced(all).get(id)).toBe(newest);
        }
      }),
    );
  });

  it('is found in a run of thousands of results', () => {
    const outcomes = Array.from({ length: 3_000 }, (_, at) =>
      outcome(`d${at}`, at % 3 === 2 ? { replaces: `d${at - 1}` } : {}),
    );
    const superseded = listSuperseded({ waves: [{ wave: 1, outcomes }] });
    expect(superseded).toHaveLength(1_000);
    expect(superseded[0]).toMatchObject({
      older: { delegation_id: 'd1', wave: 1 },
      newest: { delegation_id: 'd2', wave: 1 },
    });
  });

  it('finding W5: P13: "mend after review" is a plan', () => {
    const ship = delegation('ship', { depends_on: ['final'], required_inputs: ['text'] });
    const plan = [draft, review, final, ship];
    expect(checkReplaced(plan, [])).toEqual([]);
    expect(checkInputs(plan, [])).toEqual([]);
    expect(checkReplaced([delegation('again', { replaces: 'old' })], ['old'])).toEqual([]);
  });

  it('P13: what is replaced has a result, comes before, and is replaced once', () => {
    expect(reasons(delegation('x', { replaces: 'nothing' }))).toEqual([
      'delegations[0].replaces: "nothing" has no result that could be replaced',
    ]);
    expect(reasons(draft, delegation('x', { replaces: 'draft' }))[0]).toContain(
      'depends_on does not lead there',
    );
    expect(
      reasons(delegation('x', { replaces: 'old' }), delegation('y', { replaces: 'old' })),
    ).toEqual(['delegations[1].replaces: "old" is replaced by delegations[0] already']);
  });

  it('P13: nobody goes on with what is replaced', () => {
    const ship = delegation('ship', { depends_on: ['draft'] });
    expect(checkReplaced([draft, review, final, ship], [])).toEqual([
      {
        path: 'delegations[3].depends_on',
        reason: 'it builds on "draft", which "final" replaces',
        hint: 'Try: depend on "final"; or let "final" depend on "ship"',
      },
    ]);
  });

  it('C4: the newer version has the last word on the criteria that it names', () => {
    const first = outcome('draft', { criteria_met: ['b'], criteria_unmet: ['a'] });
    const second = outcome('final', { criteria_met: ['a'], replaces: 'draft' });
    expect(states(first, second)).toEqual(['met', 'met']);
    expect(states(second, first)).toEqual(['met', 'met']);
    expect(states(first, { ...second, status: 'failed' })).toEqual(['open', 'met']);
  });
});
