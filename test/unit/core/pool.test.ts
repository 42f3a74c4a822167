import * as fc from 'fast-check';
import { engineLimits } from '../../../core/limits.ts';
import {
  admitFacts,
  checkStatedFacts,
  isSameValue,
  normaliseKey,
  normaliseValue,
} from '../../../core/pool/admit-facts.ts';
import { chooseConflicts, chooseSides, findConflicts } from '../../../core/pool/find-conflicts.ts';
import { property } from './builders.ts';
import { anyStated, fact, stated } from './pool-builders.ts';
import type { Fact, ProposedFact } from '../../../contracts/agent-output.ts';

describe('normaliseKey and normaliseValue', () => {
  it('FK1: case, white space, punctuation and what nobody sees make no other key', () => {
    const keys = ['Hosting price', ' hosting_price', 'hosting-\u200bprice:', 'HOSTING\tPRICE'];
    expect(new Set(keys.map(normaliseKey))).toEqual(new Set(['hosting-price']));
    expect(normaliseKey('hosting prices')).not.toBe('hosting-price');
    expect([' ', '\u200b', '\u0000'].map(normaliseKey)).toEqual([null, null, null]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (key) => {
        const normalised = normaliseKey(key);
        expect(normalised === null ? null : normaliseKey(normalised)).toBe(normalised);
      }),
      property,
    );
  });

  it('FK2: values differ in digits, signs and units, not in how they are written', () => {
    for (const [a, b] of [
      ['EU', ' eu '],
      ['49  EUR', '49 eur'],
      ['10', '10.00'],
      ['+007.5', '7.50'],
      ['-0', '0'],
    ] as const)
      expect(isSameValue(a, b)).toBe(true);
    for (const [a, b] of [
      ['5', '-5'],
      ['10', '10 %'],
      ['1.5', '15'],
      ['1,000', '1000'],
      ['9007199254740993', '9007199254740992'],
      ['c', 'c#'],
    ] as const)
      expect(isSameValue(a, b)).toBe(false);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(normaliseValue(normaliseValue(value))).toBe(normaliseValue(value));
      }),
      property,
    );
  });
});

/** Proposes the fact again that the database is PostgreSQL. */
const again = (over: Partial<ProposedFact> = {}) =>
  stated('Database', 'postgresql', { source_refs: ['wave-001/b'], ...over });

describe('admitFacts', () => {
  const lists = fc.array(fc.array(anyStated, { maxLength: 6 }), { maxLength: 6 });

  it('PF1: what is in the pool stays as it is, in its place', () => {
    fc.assert(
      fc.property(lists, (waves) => {
        let pool: readonly Fact[] = [];
        for (const proposed of waves) {
          const next = admitFacts(pool, proposed, 1);
          expect(next.slice(0, pool.length)).toEqual(pool);
          pool = next;
        }
      }),
      property,
    );
  });

  it('PF2: ids count on in the order of the proposals', () => {
    const pool = admitFacts([], [stated('a', '1'), stated('b', '1'), stated('a', '1')], 1);
    const next = admitFacts(pool, [stated('c', '1'), stated(null, null)], 2);
    expect(next.map(({ fact_id, key }) => [fact_id, key])).toEqual([
      ['f1', 'a'],
      ['f2', 'b'],
      ['f3', 'c'],
      ['f4', null],
    ]);
    expect(next.map(({ recorded_at }) => recorded_at)).toEqual([1, 1, 2, 2]);
  });

  it('PF3: the same proposals twice, together with others or in pieces, are the same once', () => {
    fc.assert(
      fc.property(lists, (waves) => {
        const once = waves.reduce<readonly Fact[]>((pool, one) => admitFacts(pool, one, 1), []);
        expect(admitFacts(once, waves.flat(), 2)).toBe(once);
        expect(admitFacts([], [...waves.flat(), ...waves.flat()], 1)).toEqual(once);
      }),
      property,
    );
  });

  it('PF3: who says the same in other words repeats it; another value or source does not', () => {
    const pool = admitFacts([], [stated('Price', '10')], 1);
    expect(admitFacts(pool, [stated('price', '10.0', { statement: 'Ten.' })], 2)).toBe(pool);
    const others = [
      stated('price', '-10'),
      stated('price', '10', { source_refs: ['wave-001/b'] }),
      stated('price', '10', { origin: 'planner' }),
      stated(null, null, { statement: 'q1 Answer: 5' }),
      stated(null, null, { statement: 'q1 Answer: -5' }),
    ];
    expect(admitFacts(pool, others, 2)).toHaveLength(1 + others.length);
  });

  it('PF5: an assumption that is said again stays one, until the user says it or something shows it', () => {
    const assumed = stated('database', 'PostgreSQL', { is_assumption: true, source_refs: ['q1'] });
    const kinds = (...proposed: readonly ProposedFact[]) =>
      admitFacts([], [assumed, ...proposed], 1).map(({ is_assumption }) => is_assumption);
    expect(kinds(again(), again({ origin: 'planner' }))).toEqual([true, true, true]);
    expect(kinds(again({ settled_by: ' ' }))).toEqual([true, true]);
    expect(kinds(again({ origin: 'user' }), again({ source_refs: ['wave-002/c'] }))).toEqual([
      true,
      false,
      false,
    ]);
    expect(kinds(again({ value: 'MySQL' }), again({ key: 'store' }))).toEqual([true, false, false]);
    const [, shown] = admitFacts([], [assumed, again({ settled_by: 'docker-compose.yml' })], 1);
    expect(shown).toMatchObject({
      is_assumption: false,
      source_refs: ['wave-001/b', 'docker-compose.yml'],
    });
  });

  it('PF4: keys are normalised, and no fact has a value without a key', () => {
    fc.assert(
      fc.property(fc.array(anyStated), (proposed) => {
        for (const { key, value } of admitFacts([], proposed, 1)) {
          expect(key === null).toBe(value === null);
          expect(key === null ? null : normaliseKey(key)).toBe(key);
        }
      }),
      property,
    );
  });
});

it('SK1: no list gives one key two values, and every key says something', () => {
  const list = [
    { key: 'Price', value: '10' },
    { key: 'price', value: '10.0' },
    { key: 'price!', value: '12' },
    { key: ' ', value: '1' },
  ];
  const faults = checkStatedFacts(list);
  expect(faults.map(({ path }) => path)).toEqual(['facts[2].key', 'facts[3].key']);
  expect(faults[0]?.reason).toContain('facts[0]: "10" there, "12" here');
  for (const { hint } of faults) expect(hint).toMatch(/^Try: /);
});

describe('findConflicts', () => {
  it('CO1: one key, other values, both standing', () => {
    const pool = [
      fact(1, 'price', '10'),
      fact(2, 'region', 'EU'),
      fact(3, 'old', '1', { superseded_by: 'f9' }),
      fact(4, null, null),
    ];
    const conflicts = findConflicts(pool, [
      stated('Price', '12', { source_refs: ['wave-002/b'] }),
      stated('region', 'eu'),
      stated('old', '2'),
      stated(null, null),
    ]);
    expect(conflicts).toEqual([
      {
        conflict_id: 'conflict:price',
        key: 'price',
        sides: [
          { source: 'f1', value: '10', origin: 'agent' },
          { source: 'wave-002/b', value: '12', origin: 'agent' },
        ],
      },
    ]);
  });

  it('CO1: no two standing facts of one key differ exactly when there is no conflict', () => {
    fc.assert(
      fc.property(fc.array(anyStated), fc.array(anyStated), (first, second) => {
        const pool = admitFacts([], first, 1);
        const all = admitFacts(pool, second, 1);
        const keys = new Set(all.map(({ key }) => key).filter((key) => key !== null));
        const torn = [...keys].filter((key) => {
          const values = all.filter((one) => one.key === key).map(({ value }) => value ?? '');
          return new Set(values.map(normaliseValue)).size > 1;
        });
        const found = findConflicts(pool, second).map(({ key }) => key);
        expect(found).toEqual(torn.toSorted());
      }),
      property,
    );
  });

  it('CO2: the order in which statements come changes nothing', () => {
    fc.assert(
      fc.property(
        fc.array(anyStated),
        fc.array(anyStated),
        fc.infiniteStream(fc.nat()),
        (a, b, order) => {
          const pool = admitFacts([], a, 1);
          const shuffled = b
            .map((one) => ({ one, at: Number(order.next().value) }))
            .toSorted((x, y) => x.at - y.at)
            .map(({ one }) => one);
          const sidesOf = (list: typeof b) =>
            findConflicts(pool, list).map(({ conflict_id, sides }) => [
              conflict_id,
              sides.map(({ source, value }) => `${source} ${value}`),
            ]);
          expect(sidesOf(shuffled)).toEqual(sidesOf(b));
        },
      ),
      property,
    );
  });

  it('CO3: a bounded number is shown, and each value before any second side', () => {
    const { conflictsShownMax, conflictSidesShownMax } = engineLimits;
    const many = Array.from({ length: conflictsShownMax + 1 }, (_, n) => `k${n}`);
    const all = findConflicts(
      [],
      many.flatMap((key) => [stated(key, '1'), stated(key, '2')]),
    );
    expect(chooseConflicts(all, [])).toEqual(all.slice(0, conflictsShownMax));
    // What is asked about only once comes first.
    const [last, ...rest] = all.toReversed();
    const disputes = last === undefined ? [] : [last];
    expect(chooseConflicts(rest, disputes)).toEqual([last, ...rest].slice(0, conflictsShownMax));
    const same = Array.from({ length: conflictSidesShownMax }, (_, n) =>
      stated('k', '1', { source_refs: [`wave-001/a${n}`] }),
    );
    const [conflict] = findConflicts([], [...same, stated('k', '2', { source_refs: ['z'] })]);
    const shown = conflict === undefined ? [] : chooseSides(conflict);
    expect(shown).toHaveLength(conflictSidesShownMax);
    expect(shown.map(({ value }) => value)).toContain('2');
    expect(shown.map(({ source }) => source).slice(0, 2)).toEqual(['wave-001/a0', 'wave-001/a1']);
  });
});
