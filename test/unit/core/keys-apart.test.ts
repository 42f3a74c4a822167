import { checkResolutions } from '../../../core/decision/check-resolutions.ts';
import type { ResolutionContext } from '../../../core/decision/check-resolutions.ts';
import { findConflicts } from '../../../core/pool/find-conflicts.ts';
import { keyApart } from '../../../core/decision/check-keys-apart.ts';
import { settleFacts } from '../../../core/pool/settle-facts.ts';
import { decision } from '../../support/scripted-work.ts';
import { fact, stated } from './pool-builders.ts';

const fromB = { source_refs: ['wave-002/b'] };
const pool = [fact(1, 'price', '49'), fact(2, 'price-of-netcup', '9')];
const context: ResolutionContext = { pool, stated: [stated('Price', '29', fromB)], disputes: [] };

type Pairs = readonly (readonly [source: string, key: string])[];

function apart(pairs: Pairs, conflict = 'conflict:price') {
  const keys_apart = pairs.map(([source, key]) => ({ source, key }));
  return { conflict, resolution: 'Two providers.', origin: '', superseded: '', keys_apart };
}

function faultsOf(
  pairs: Pairs,
  over: Partial<ResolutionContext> = {},
  facts: Pairs = [],
): readonly string[] {
  const made = decision();
  const judged = {
    ...made,
    facts: facts.map(([key, value]) => ({
      key,
      value,
      statement: 'So it is.',
      confidence: 'high' as const,
    })),
    planner_decision: { ...made.planner_decision, conflicts_resolved: [apart(pairs)] },
  };
  return checkResolutions(judged, { ...context, ...over }).map(
    ({ path, reason, hint }) => `${path}: ${reason}. ${hint}`,
  );
}

const entry = 'planner_decision.conflicts_resolved[0].keys_apart';
const hetzner = ['f1', 'price of Hetzner'] as const;
const scaleway = ['wave-002/b', 'price of Scaleway'] as const;

describe('keys_apart in a decision', () => {
  it('finding F7: facts about different subjects can all stand, each under a key of its own', () => {
    expect(faultsOf([hetzner, scaleway])).toEqual([]);
    // One of them may keep the key that they met under.
    expect(faultsOf([['f1', 'Price'], scaleway])).toEqual([]);
    const before = [...pool, fact(3, 'price', '29', fromB)];
    const entries = [apart([hetzner, scaleway])];
    const after = settleFacts(keyApart(before, 2, entries, 5), 2, entries);
    expect(after.filter(({ superseded_by }) => superseded_by === null)).toMatchObject([
      { fact_id: 'f2', key: 'price-of-netcup', value: '9' },
      { key: 'price-of-hetzner', value: '49', source_refs: ['wave-001/a'] },
      { key: 'price-of-scaleway', value: '29', source_refs: ['wave-002/b'] },
    ]);
    expect(findConflicts(after, [])).toEqual([]);
  });

  it('CK1: every side is named once, and nothing else', () => {
    expect(faultsOf([hetzner])).toEqual([expect.stringContaining('no key for "wave-002/b"')]);
    expect(faultsOf([hetzner, scaleway, hetzner])).toEqual([
      expect.stringMatching(/^.*\[2\]\.source: "f1" is no side of conflict:price, or named twice/),
    ]);
    expect(faultsOf([hetzner, scaleway, ['f2', 'x']])[0]).toContain(`${entry}[2].source`);
  });

  it('CK2: no two values are under one key then', () => {
    expect(faultsOf([hetzner, ['wave-002/b', 'Price of hetzner!']])).toEqual([
      expect.stringContaining(`${entry}[1].key: "price-of-hetzner" is "49" already`),
    ]);
    expect(faultsOf([['f1', 'price of Netcup'], scaleway])).toEqual([
      expect.stringContaining(`${entry}[0].key: "price-of-netcup" is "9" already`),
    ]);
    expect(faultsOf([hetzner, scaleway], {}, [['price of Scaleway', '31']])).toEqual([
      expect.stringContaining(`${entry}[1].key: "price-of-scaleway" is "31" already`),
    ]);
    expect(faultsOf([hetzner, scaleway], {}, [['price of Scaleway', '29.0']])).toEqual([]);
    expect(faultsOf([hetzner, ['wave-002/b', ' \u200b']])[0]).toContain('the key is blank');
  });

  it('CK3: what the user said keeps its key, and the decision keys its own facts at once', () => {
    const said = { pool: [fact(1, 'price', '49', { origin: 'user' })] };
    expect(faultsOf([hetzner, scaleway], said)).toEqual([
      expect.stringContaining('f1 is what the user said: it keeps the key "price"'),
    ]);
    expect(faultsOf([['f1', 'price'], scaleway], said)).toEqual([]);
    expect(faultsOf([hetzner, scaleway], {}, [['price', '29']])).toEqual([
      expect.stringContaining('facts state a value of their own under "price"'),
    ]);
    const [dispute] = findConflicts([], [stated('price', '1'), stated('price', '2', fromB)]);
    if (dispute === undefined) throw new Error('There is no conflict.');
    const disputes = [{ ...dispute }];
    const torn = faultsOf(
      [
        ['wave-001/a', 'a'],
        ['wave-002/b', 'b'],
      ],
      { pool: [], stated: [], disputes },
    );
    expect(torn[0]).toContain('is a dispute about a text');
  });
});

describe('keyApart', () => {
  const entries = [apart([hetzner, scaleway])];
  const before = [...pool, fact(3, 'price', '29', fromB)];

  it('KA1: what was there stays but for superseded_by, and says the same under the new key', () => {
    const after = keyApart(before, 2, entries, 5);
    expect(after.slice(0, 3).map((one) => ({ ...one, superseded_by: null }))).toEqual(before);
    expect(after.map(({ superseded_by }) => superseded_by)).toEqual(['f4', null, 'f5', null, null]);
    const { fact_id: _id, recorded_at: _at, superseded_by: _by, ...same } = fact(1, 'price', '49');
    expect(after[3]).toMatchObject({ ...same, key: 'price-of-hetzner' });
  });

  it('KA2: doing it twice is doing it once', () => {
    const once = keyApart(before, 2, entries, 5);
    expect(keyApart(once, 2, entries, 6)).toEqual(once);
  });

  it('KA3: what the user said keeps its key', () => {
    const said = [fact(1, 'price', '49', { origin: 'user' })];
    expect(keyApart(said, 2, entries, 5)).toEqual(said);
  });
});
