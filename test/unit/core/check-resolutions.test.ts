import { checkResolutions } from '../../../core/decision/check-resolutions.ts';
import type { ResolutionContext } from '../../../core/decision/check-resolutions.ts';
import { engineLimits } from '../../../core/limits.ts';
import { decision } from '../../support/scripted-work.ts';
import { fact, stated } from './pool-builders.ts';
import { findLostLines } from '../../../core/decision/check-decision.ts';

const fromB = { source_refs: ['wave-002/b'] };
const torn: ResolutionContext = {
  pool: [fact(1, 'price', '10'), fact(2, 'region', 'EU')],
  stated: [stated('Price', '12', fromB), stated('price', '14', { source_refs: ['wave-002/c'] })],
  disputes: [],
};
const calm: ResolutionContext = { ...torn, stated: [] };

interface Said {
  readonly compact?: string;
  readonly facts?: readonly (readonly [key: string, value: string])[];
}

/** A decision with entries [conflict, origin, superseded]. */
function decides(entries: readonly (readonly [string, string, string])[], said: Said = {}) {
  const made = decision();
  return {
    ...made,
    wave_compact: said.compact ?? 'All is well.',
    facts: (said.facts ?? []).map(([key, value]) => ({
      key,
      value,
      statement: 'So it is.',
      confidence: 'high' as const,
    })),
    planner_decision: {
      ...made.planner_decision,
      conflicts_resolved: entries.map(([conflict, origin, superseded]) => ({
        conflict,
        resolution: 'so it is',
        origin,
        superseded,
      })),
    },
  };
}

const faultsOf = (
  entries: readonly (readonly [string, string, string])[],
  { context = torn, ...said }: Said & { readonly context?: ResolutionContext } = {},
) => checkResolutions(decides(entries, said), context);
const pathsOf = (...args: Parameters<typeof faultsOf>) => faultsOf(...args).map(({ path }) => path);

const id = 'conflict:price';
const entry = 'planner_decision.conflicts_resolved';

describe('checkResolutions', () => {
  it('DR1: every conflict is resolved by its id, with two of its sides that differ', () => {
    const [fault] = faultsOf([]);
    expect(fault).toMatchObject({ path: entry });
    expect(fault?.reason).toBe(
      'conflict:price is not resolved: "10" (f1) against "12" (wave-002/b) against "14" (wave-002/c)',
    );
    expect(fault?.hint).toContain(
      '{"conflict":"conflict:price","resolution":"…","origin":"f1","superseded":"wave-002/b"}',
    );
    expect(pathsOf([[id, 'f1', 'wave-002/b']])).toEqual([]);
    expect(pathsOf([[` ${id} `, ' wave-002/c ', 'f1 ']])).toEqual([]);
    // Words of its own resolve nothing that has an id.
    expect(pathsOf([['the price', 'f1', 'wave-002/b']])).toEqual([entry]);
    expect(pathsOf([[id, 'f2', 'f1']])).toEqual([`${entry}[0].origin`]);
    expect(pathsOf([[id, 'f1', 'b']])).toEqual([`${entry}[0].superseded`]);
    expect(pathsOf([[id, 'f1', 'f1']])).toEqual([`${entry}[0]`]);
  });

  it('DR1: an id of no conflict is a fault, and words without one are not', () => {
    const entries = [
      [id, 'f1', 'wave-002/b'],
      ['conflict:colour', 'a', 'b'],
      ['Taste', 'a', 'b'],
    ] as const;
    const faults = faultsOf(entries);
    expect(faults.map(({ path }) => path)).toEqual([`${entry}[1].conflict`]);
    expect(faults[0]?.hint).toContain('"conflict:price"');
    expect(pathsOf([['conflict:region', 'f2', 'f1']], { context: calm })).toEqual([
      `${entry}[0].conflict`,
    ]);
  });

  it('DR1: what was not shown is not asked for', () => {
    const keys = Array.from({ length: engineLimits.conflictsShownMax + 1 }, (_, n) => `k${n}`);
    const context = {
      pool: [],
      stated: keys.flatMap((key) => [stated(key, '1'), stated(key, '2', fromB)]),
      disputes: [],
    };
    expect(faultsOf([], { context })).toHaveLength(engineLimits.conflictsShownMax);
  });

  it('DR2: one value stands, in all entries for a conflict and in facts', () => {
    const both = [
      [id, 'f1', 'wave-002/b'],
      [id, 'f1', 'wave-002/c'],
    ] as const;
    expect(pathsOf(both)).toEqual([]);
    expect(pathsOf([both[0], [id, 'wave-002/b', 'wave-002/c']])).toEqual([`${entry}[1]`]);
    expect(pathsOf(both, { facts: [['price', '10.0']] })).toEqual([]);
    expect(pathsOf([both[0]], { facts: [['PRICE', '12']] })).toEqual([`${entry}[0]`]);
    expect(pathsOf([[id, 'planner', 'f1']], { facts: [['price', '11']] })).toEqual([]);
    expect(pathsOf([[id, 'planner', 'f1']])).toEqual([`${entry}[0].origin`]);
    expect(
      pathsOf(both, {
        facts: [
          ['a', '1'],
          ['A', '2'],
        ],
      }),
    ).toContain('facts[1].key');
  });

  it('DR3: what the user said gives way to nothing else', () => {
    const context = {
      pool: [
        fact(1, 'price', '10', { origin: 'user' }),
        fact(2, 'price', '11', { origin: 'user' }),
      ],
      stated: [stated('price', '12', fromB)],
      disputes: [],
    };
    const [fault] = faultsOf([[id, 'wave-002/b', 'f1']], { context });
    expect(fault?.reason).toContain('f1 is what the user said');
    expect(pathsOf([[id, 'f2', 'wave-002/b']], { context })).toEqual([]);
    expect(pathsOf([[id, 'planner', 'f1']], { context, facts: [['price', '9']] })).toEqual([
      `${entry}[0]`,
    ]);
  });

  it('DR4: a stated fact against one that stands has to be resolved too', () => {
    const said = { context: calm, facts: [['Region', 'US']] } as const;
    const [fault] = faultsOf([], said);
    expect(fault?.reason).toBe('conflict:region is not resolved: "EU" (f2) against "US" (planner)');
    expect(fault?.hint).toContain('"origin":"planner","superseded":"f2"');
    expect(fault?.hint).toContain('or state in facts what the others say');
    expect(pathsOf([['conflict:region', 'planner', 'f2']], said)).toEqual([]);
    expect(pathsOf([['conflict:region', 'f2', 'planner']], said)).toEqual([`${entry}[0]`]);
    expect(
      pathsOf([], {
        context: calm,
        facts: [
          ['region', 'eu'],
          ['new', '1'],
        ],
      }),
    ).toEqual([]);
  });

  it('DR5: wave_compact does not go on saying what lost', () => {
    const resolved = [[id, 'wave-002/b', 'f1']] as const;
    const [fault] = faultsOf(resolved, { compact: '# Truth\n\n- **Price:** 10' });
    expect(fault).toMatchObject({ path: 'wave_compact' });
    expect(fault?.reason).toContain('line 3 says "- **Price:** 10"');
    expect(pathsOf(resolved, { compact: 'price: 14' })).toEqual(['wave_compact']);
    expect(pathsOf(resolved, { compact: 'price: 12\nThe price was 10 before.' })).toEqual([]);
    const pool = [fact(1, 'price', '8', { superseded_by: 'f2' }), fact(2, 'price', '10')];
    const context = { pool, stated: [], disputes: [] };
    expect(pathsOf([], { context, compact: 'Price: 8.' })).toEqual(['wave_compact']);
    expect(pathsOf([], { context, compact: 'Price: 9' })).toEqual([]);
  });

  it('DR6: all faults at once, each with a hint', () => {
    const faults = faultsOf([['conflict:x', 'a', 'b']], {
      facts: [
        ['region', 'US'],
        ['region', 'UK'],
      ],
    });
    expect(faults).toHaveLength(4);
    for (const { hint, reason } of faults) {
      expect(hint).toMatch(/^Try: /);
      expect(reason).not.toBe('');
    }
  });
});

it('LL1: only a line that is key and value counts, without its marks, and only while the value stands nowhere', () => {
  const lost = { superseded_by: 'f9' };
  const pool = [
    fact(1, 'price', '8 EUR', lost),
    fact(2, 'api-version', '1.0', lost),
    fact(3, 'region', 'EU', lost),
    fact(4, 'region', 'eu'),
  ];
  const found = (line: string) => findLostLines(line, { pool, resolved: [] }).length;
  for (const line of [
    'price: 8 EUR',
    '2. `Price`: 8 eur.',
    '* **price**: 8  EUR',
    'API: version: 1',
  ]) {
    expect([line, found(line)]).toEqual([line, 1]);
  }
  for (const line of [
    'price: 8',
    'price 8 EUR',
    'The price: 8 EUR',
    'price: 8 EUR a month',
    'region: EU',
  ]) {
    expect([line, found(line)]).toEqual([line, 0]);
  }
});
