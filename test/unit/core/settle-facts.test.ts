import * as fc from 'fast-check';
import { admitFacts, isSameValue } from '../../../core/pool/admit-facts.ts';
import { findConflicts } from '../../../core/pool/find-conflicts.ts';
import {
  preferNewest,
  settleFacts,
  settleStanding,
  supersedeEarlier,
} from '../../../core/pool/settle-facts.ts';
import { property } from './builders.ts';
import { anyStated, fact } from './pool-builders.ts';
import type { PlannerDecision } from '../../../contracts/wave-plan.ts';
import type { Fact } from '../../../contracts/agent-output.ts';

type Resolution = PlannerDecision['conflicts_resolved'][number];

function resolves(conflict: string, origin: string, superseded: string): Resolution {
  return { conflict, resolution: 'so it is', origin, superseded };
}

const anyResolution: fc.Arbitrary<Resolution> = fc
  .record({
    conflict: fc.constantFrom('conflict:price', ' conflict:region ', 'in words', 'conflict:'),
    origin: fc.constantFrom('f1', ' f2', 'f3', 'wave-001/a', 'wave-002/b', 'planner', 'nobody'),
    superseded: fc.constantFrom('f1', 'f2 ', 'f4', 'wave-001/a', 'nobody'),
  })
  .map(({ conflict, origin, superseded }) => resolves(conflict, origin, superseded));

const anyPool = fc.array(anyStated, { maxLength: 12 }).map((list) => admitFacts([], list, 1));
const anyResolutions = fc.array(anyResolution, { maxLength: 4 });

const marks = (pool: readonly Fact[]) => pool.map(({ superseded_by }) => superseded_by);

it('SF1: nothing changes but superseded_by, once, and settling twice is settling once', () => {
  fc.assert(
    fc.property(anyPool, anyResolutions, anyResolutions, (pool, first, second) => {
      const once = settleFacts(pool, 1, first);
      expect(once.map((one) => ({ ...one, superseded_by: null }))).toEqual(pool);
      expect(settleFacts(once, 1, first)).toEqual(once);
      const later = settleFacts(once, 2, second);
      const kept = marks(once).map((mark, i) => mark ?? marks(later)[i]);
      expect(marks(later)).toEqual(kept);
    }),
    property,
  );
});

it('SF2: what the user said gives way only to what the user said', () => {
  fc.assert(
    fc.property(anyPool, anyResolutions, (pool, resolutions) => {
      const settled = settleFacts(pool, 1, resolutions);
      const retired = settled.filter((one) => one.origin === 'user' && one.superseded_by !== null);
      for (const { superseded_by } of retired) {
        expect(settled.find(({ fact_id }) => fact_id === superseded_by)?.origin).toBe('user');
      }
    }),
    property,
  );
  const pool = [fact(1, 'price', '10', { origin: 'user' }), fact(2, 'price', '12')];
  expect(marks(settleFacts(pool, 1, [resolves('conflict:price', 'f2', 'f1')]))).toEqual([
    null,
    null,
  ]);
  expect(marks(settleFacts(pool, 1, [resolves('conflict:price', 'f1', 'f2')]))).toEqual([
    null,
    'f1',
  ]);
});

it('SF3: only the value of the side that won stands under its key', () => {
  const pool = [
    fact(1, 'price', '10'),
    fact(2, 'price', '12', { source_refs: ['wave-001/b', 'turn-1'] }),
    fact(3, 'price', '12.0', { source_refs: ['wave-001/c'] }),
    fact(4, 'price', '14', { origin: 'planner', source_refs: ['wave-000/planner_decision'] }),
    fact(5, 'region', '10'),
  ];
  const settled = settleFacts(pool, 1, [resolves(' conflict:price ', ' wave-001/b ', 'f1')]);
  expect(marks(settled)).toEqual(['f2', null, null, 'f2', null]);
  expect(findConflicts(settled, [])).toEqual([]);
  // Who is no side wins nothing.
  expect(settleFacts(pool, 1, [resolves('conflict:price', 'f5', 'f1')])).toEqual(pool);
});

it('SF4: what the decision states supersedes every other value of its key, but not what the user said', () => {
  const own = { origin: 'planner', source_refs: ['wave-002/planner_decision', 'a'] } as const;
  const pool = [
    fact(1, 'price', '10'),
    fact(2, 'price', '12', { origin: 'user' }),
    fact(3, 'price', '14', { origin: 'planner', source_refs: ['wave-001/planner_decision'] }),
    fact(4, 'price', '16.0'),
    fact(5, 'price', '16', own),
  ];
  expect(marks(settleFacts(pool, 2, []))).toEqual(['f5', null, 'f5', null, null]);
  // What an earlier decision stated does it no second time.
  expect(marks(settleFacts(pool, 3, []))).toEqual([null, null, null, null, null]);
  fc.assert(
    fc.property(anyPool, (some) => {
      const settled = settleFacts(some, 1, []);
      for (const winner of some.filter(
        ({ source_refs }) => source_refs[0] === 'wave-001/planner_decision',
      )) {
        const others = settled.filter(
          ({ key, value, origin, superseded_by }) =>
            key !== null &&
            key === winner.key &&
            origin === 'agent' &&
            superseded_by === null &&
            !isSameValue(value ?? '', winner.value ?? ''),
        );
        expect(others).toEqual([]);
      }
    }),
    property,
  );
});

it('SF5: a conflict told in words retires the fact that it names by its id, and nothing else', () => {
  const pool = [fact(1, null, null), fact(2, null, null), fact(3, 'price', '10')];
  expect(marks(settleFacts(pool, 2, [resolves('Cloud or not', 'f2', ' f1 ')]))).toEqual([
    'f2',
    null,
    null,
  ]);
  expect(marks(settleFacts(pool, 2, [resolves('Cloud or not', 'the writer', 'f3')]))).toEqual([
    null,
    null,
    'wave-002/planner_decision',
  ]);
  for (const [origin, superseded] of [
    ['f2', 'what f1 says'],
    ['f1', 'f1'],
    ['f1', 'wave-001/a'],
  ] as const) {
    expect(settleFacts(pool, 2, [resolves('Cloud or not', origin, superseded)])).toEqual(pool);
  }
});

const answer = (n: number, question: string, over: Partial<Fact> = {}) =>
  fact(n, null, null, { source_refs: [question, `amended-${n}`], origin: 'user', ...over });

it('SF6: the newest answer to a question supersedes the earlier ones, and nothing else', () => {
  const pool = [
    answer(1, 'q1', { origin: 'agent', is_assumption: true }),
    answer(2, 'q11'),
    answer(3, 'q1'),
    answer(4, 'q1'),
  ];
  expect(marks(supersedeEarlier(pool, 'q1'))).toEqual(['f4', null, 'f4', null]);
  expect(supersedeEarlier(supersedeEarlier(pool, 'q1'), 'q1')).toEqual(
    supersedeEarlier(pool, 'q1'),
  );
  expect(supersedeEarlier(pool, 'q9')).toBe(pool);
});

it("SF7: beside what the user said stands nobody else's value, and an instruction beats an earlier word", () => {
  const user = { origin: 'user' } as const;
  const pool = [
    fact(1, 'region', 'us-east'),
    fact(2, 'region', 'eu-west', user),
    fact(3, 'region', 'EU-West', { source_refs: ['wave-001/b'] }),
    fact(4, 'region', 'asia', { origin: 'planner' }),
    fact(5, 'price', '10'),
    // Two words of the user that differ are for the planner to see, not for code to choose from.
    fact(6, 'region', 'eu-north', user),
  ];
  const settled = settleStanding(pool);
  expect(marks(settled)).toEqual(['f2', null, null, 'f2', null, null]);
  expect(settleStanding(settled)).toEqual(settled);
  expect(marks(settleStanding(preferNewest(pool, 5)))).toEqual([
    'f6',
    'f6',
    'f6',
    'f6',
    null,
    null,
  ]);
  fc.assert(
    fc.property(anyPool, (some) => {
      const once = settleStanding(some);
      expect(settleStanding(once)).toEqual(once);
      for (const { sides } of findConflicts(once, [])) {
        const said = sides.filter(({ origin }) => origin === 'user');
        const isSaid = ({ value }: { readonly value: string }) =>
          said.some((one) => isSameValue(one.value, value));
        expect(said.length === 0 || sides.every(isSaid)).toBe(true);
      }
    }),
    property,
  );
});

it('SF8: an assumption gives way to the fact that says the same, and to no other', () => {
  const assumed = { is_assumption: true, origin: 'planner' } as const;
  const pool = [
    fact(1, 'database', 'PostgreSQL', assumed),
    fact(2, 'region', 'EU', assumed),
    fact(3, null, null, assumed),
    fact(4, 'database', 'postgresql', { origin: 'user' }),
    fact(5, 'region', 'EU', { is_assumption: true }),
  ];
  expect(marks(settleStanding(pool))).toEqual(['f4', null, null, null, null]);
});
