import * as fc from 'fast-check';
import { property, question } from './builders.ts';
import { listWaiting } from '../../../core/questions/check-asked-questions.ts';

const planned = (delegation_id: string, ...depends_on: string[]) => ({
  delegation_id,
  agent_id: 'researcher',
  title: delegation_id,
  depends_on,
  executor: { kind: 'agent' as const },
});

const planOf = (...delegations: readonly ReturnType<typeof planned>[]) => ({
  wave: 1,
  summary: '',
  expected: null,
  delegations,
});

const plan = planOf(planned('c', 'b'), planned('a'), planned('b', 'a'), planned('x'));

describe('what waits for a question', () => {
  it('LW1: every delegation that asked, in the order of asking', () => {
    const joined = question({
      delegation_id: 'x',
      also_asked_by: [{ delegation_id: 'a', agent_id: 'writer' }],
    });
    expect(listWaiting(joined, null)).toEqual({ waiting: ['x', 'a'], blocked: [] });
    expect(listWaiting(question({ delegation_id: null }), plan)).toEqual({
      waiting: [],
      blocked: [],
    });
  });

  it('LW2: and everything that depends on them, however far, in the order of the plan', () => {
    expect(listWaiting(question({ delegation_id: 'a' }), plan).blocked).toEqual(['c', 'b']);
    expect(listWaiting(question({ delegation_id: 'x' }), plan).blocked).toEqual([]);
    expect(listWaiting(question({ delegation_id: 'a', wave: 2 }), plan).blocked).toEqual([]);
    const ring = planOf(planned('a', 'b'), planned('b', 'a'));
    expect(listWaiting(question({ delegation_id: 'a' }), ring).blocked).toEqual(['b']);
  });

  it('LW2: in any plan, a delegation is blocked when one that it depends on waits or is blocked', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const edges = fc.array(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)));
    fc.assert(
      fc.property(edges, (pairs) => {
        const delegations = ids.map((id) =>
          planned(id, ...pairs.filter(([from, to]) => from === id && to < id).map(([, to]) => to)),
        );
        const asking = question({ delegation_id: 'b' });
        const stuck = new Set(['b', ...listWaiting(asking, planOf(...delegations)).blocked]);
        for (const { delegation_id: id, depends_on } of delegations) {
          const dependsOnStuck = depends_on.some((one) => stuck.has(one));
          expect(stuck.has(id)).toBe(id === 'b' || dependsOnStuck);
        }
      }),
      property,
    );
  });
});
