import * as fc from 'fast-check';
import type { Consumption, ShownToWave } from '../../../contracts/run-record.ts';
import { engineLimits } from '../../../core/limits.ts';
import { chooseStale, markRedone, markStale } from '../../../core/pool/mark-stale.ts';
import type { StaleCause } from '../../../contracts/run-log.ts';
import type { Edges } from '../../../core/pool/mark-stale.ts';
import { property } from './builders.ts';
import { fact } from './pool-builders.ts';

function consumes(
  wave: number,
  delegation_id: string,
  inputs: readonly (readonly [name: string, source: string])[] = [],
  question_ids: readonly string[] = [],
): Consumption {
  return {
    delegation_id,
    wave,
    question_ids,
    inputs: inputs.map(([name, source]) => ({ name, source })),
  };
}

const [a, b] = ['wave-001/a', 'wave-001/b'];

/** Wave 1: a, and b on a. Wave 2, which was shown f1, q1 and the first decision: c, d on "table" of b, e on d. */
const edges: Edges = {
  consumptions: [
    consumes(1, 'a', [], ['q2']),
    consumes(1, 'b', [['a', a]]),
    consumes(2, 'c'),
    consumes(2, 'd', [['table', b]]),
    consumes(2, 'e', [['d', 'wave-002/d']]),
  ],
  shown: new Map<number, ShownToWave>([
    [1, { fact_ids: [], question_ids: [], decision: null }],
    [2, { fact_ids: ['f1'], question_ids: ['q1'], decision: 'wave-001/planner_decision' }],
  ]),
};

function superseded(n: number, source: string, by = 'wave-003/x'): StaleCause {
  return {
    type: 'fact',
    fact: fact(n, 'k', '1', { source_refs: [source], superseded_by: 'f9' }),
    by,
  };
}

const idsOf = (...causes: readonly StaleCause[]) =>
  markStale([], edges, causes).map(({ delegation_id }) => delegation_id);

const anyCause: fc.Arbitrary<StaleCause> = fc.constantFrom<StaleCause>(
  superseded(1, 'q9'),
  superseded(2, a),
  superseded(3, b),
  superseded(4, 'wave-001/planner_decision'),
  superseded(5, 'nobody'),
  { type: 'answer', question_id: 'q1' },
  { type: 'answer', question_id: 'q2' },
  { type: 'input', name: 'table', source: b, by: 'wave-003/x' },
  { type: 'input', name: 'a', source: a, by: 'wave-003/x' },
);

const reads = (wave: number, id: string) => consumes(wave, id, [['d', 'wave-002/d']]);

describe('markStale', () => {
  it('ST1: who consumed what changed, and who consumed the output of those, and nobody else', () => {
    expect(idsOf(superseded(1, 'q9'))).toEqual(['c', 'd', 'e']);
    expect(idsOf(superseded(2, a))).toEqual(['b', 'd', 'e']);
    expect(idsOf(superseded(3, b))).toEqual(['d', 'e']);
    expect(idsOf(superseded(4, 'wave-001/planner_decision'))).toEqual(['c', 'd', 'e']);
    expect(idsOf(superseded(5, 'nobody'))).toEqual([]);
    expect(idsOf({ type: 'answer', question_id: 'q1' })).toEqual(['c', 'd', 'e']);
    expect(idsOf({ type: 'answer', question_id: 'q2' })).toEqual(['a', 'b', 'd', 'e']);
    expect(idsOf({ type: 'input', name: 'table', source: b, by: 'x' })).toEqual(['d', 'e']);
    expect(idsOf({ type: 'input', name: 'b', source: b, by: 'x' })).toEqual([]);
    expect(idsOf({ type: 'input', name: 'table', source: a, by: 'x' })).toEqual([]);
    const [d, e] = markStale([], edges, [superseded(3, b)]);
    expect(d?.reasons).toEqual(['f3 is superseded by f9']);
    expect(e?.reasons).toEqual(['it builds on wave-002/d, which is stale']);
  });

  it('ST1: work that is built on a stale output later is stale too', () => {
    const stale = markStale([], edges, [superseded(3, b)]);
    const later = consumes(3, 'f', [['e', 'wave-002/e']]);
    const all = { ...edges, consumptions: [...edges.consumptions, later] };
    expect(markStale(stale, all, []).map(({ delegation_id }) => delegation_id)).toEqual([
      'd',
      'e',
      'f',
    ]);
  });

  it('ST2: who states what holds instead, or produces the newer output, is not stale by that', () => {
    expect(idsOf(superseded(1, 'q9', 'wave-002/d'))).toEqual(['c', 'e']);
    expect(idsOf({ type: 'input', name: 'table', source: b, by: 'wave-002/d' })).toEqual([]);
  });

  it('ST2: who asked what holds instead has heard the answer', () => {
    const { consumptions, shown } = edges;
    const asked = { consumptions: [...consumptions, consumes(2, 'asker', [], ['q7'])], shown };
    const staleBy = (by: string) =>
      markStale([], asked, [superseded(1, 'q9', by)]).map(({ delegation_id }) => delegation_id);
    expect(staleBy('q7')).toEqual(['c', 'd', 'e']);
    expect(staleBy('q8')).toEqual(['asker', 'c', 'd', 'e']);
  });

  it('ST3: what was done again stays so, and is no longer offered', () => {
    const stale = markStale([], edges, [superseded(3, b)]);
    const redone = markRedone(stale, new Map([['d', 'd-again']]));
    expect(chooseStale(redone).map(({ delegation_id }) => delegation_id)).toEqual(['e']);
    expect(
      markStale(redone, edges, [superseded(2, a)]).find((one) => one.delegation_id === 'd'),
    ).toEqual(redone[0]);
    expect(markRedone(redone, new Map([['d', 'd-third']]))).toEqual(redone);
  });

  it('ST4: twice is once, and the order of causes does not change who is stale', () => {
    const causes = fc.array(anyCause, { maxLength: 6 });
    fc.assert(
      fc.property(causes, causes, (first, second) => {
        const once = markStale([], edges, first);
        expect(markStale(once, edges, first)).toEqual(once);
        const ids = markStale(once, edges, second).map(({ delegation_id }) => delegation_id);
        expect(idsOf(...second, ...first)).toEqual(ids);
        expect(ids.length).toBeGreaterThanOrEqual(once.length);
      }),
      property,
    );
  });

  it('ST5: a redo that reads what it redoes is not stale by that, and others that read it are', () => {
    const stale = markStale([], edges, [superseded(3, b)]);
    const first = markRedone(stale, new Map([['d', 'd-2']]));
    const later = [reads(3, 'd-2'), reads(4, 'd-3'), reads(4, 'f')];
    const all = { ...edges, consumptions: [...edges.consumptions, ...later] };
    const idsAfter = (known: typeof stale): string[] =>
      markStale(known, all, []).map(({ delegation_id }) => delegation_id);
    expect(idsAfter(first)).toEqual(['d', 'e', 'd-3', 'f']);
    const again = { delegation_id: 'd-2', wave: 3, reasons: ['r'], redone_by: 'd-3' };
    expect(idsAfter([...first, again])).toEqual(['d', 'e', 'd-2', 'f']);
  });

  it('a delegation keeps a bounded number of reasons', () => {
    const causes = Array.from({ length: engineLimits.staleReasonsMax + 2 }, (_, n) =>
      superseded(n + 10, b),
    );
    expect(markStale([], edges, causes)[0]?.reasons).toHaveLength(engineLimits.staleReasonsMax);
  });
});
