import type { DelegationState } from '../../../contracts/views.ts';
import { chooseAsker, findWaitCycle } from '../../../core/questions/check-review.ts';
import type { Waiting } from '../../../core/questions/check-review.ts';

const entry = (
  delegation_id: string,
  depends_on: readonly string[] = [],
  state: DelegationState = 'pending',
): Waiting => ({ delegation_id, depends_on, state });

const awaits = (asker: string, ...results: readonly string[]) => ({ asker, results });

describe('chooseAsker', () => {
  // c → b → a, f → e → d, and g alone.
  const entries = [
    entry('a', [], 'waiting'),
    entry('b', ['a']),
    entry('c', ['b']),
    entry('d', [], 'waiting'),
    entry('e', ['d']),
    entry('f', ['e', 'd']),
    entry('g', [], 'waiting'),
    entry('h', ['e']),
  ];

  it('WG1: who holds up most comes next, directly or through others; else who asked first', () => {
    expect(chooseAsker(['g', 'a', 'd'], [], entries)).toBe(2);
    expect(chooseAsker(['g', 'a'], [], entries)).toBe(1);
    expect(chooseAsker(['a', 'a', 'g'], [], entries)).toBe(0);
    expect(chooseAsker(['g', 'c', 'f'], [], entries)).toBe(0);
    expect(chooseAsker(['g'], [], entries)).toBe(0);
    expect(chooseAsker(['unknown', 'a'], [], entries)).toBe(1);
    expect(chooseAsker([], [], entries)).toBe(0);
    // The architect that decides for d holds up d, and what depends on it.
    expect(chooseAsker(['a', 'g'], [awaits('d', 'g')], entries)).toBe(1);
  });

  it('WG3: what has ended waits for nothing', () => {
    const ended = entries.map((one) =>
      ['f', 'h'].includes(one.delegation_id) ? { ...one, state: 'skipped' as const } : one,
    );
    expect(chooseAsker(['g', 'd', 'a'], [], ended)).toBe(2);
  });
});

describe('findWaitCycle', () => {
  const entries = [
    entry('a', [], 'waiting'),
    entry('b', ['a']),
    entry('c', ['b']),
    entry('x', [], 'waiting'),
    entry('y', [], 'running'),
  ];
  it('WG2: a cycle goes from the asker to itself, by the plan and by awaited results', () => {
    expect(findWaitCycle('a', [awaits('a', 'c')], entries)).toEqual(['a', 'c', 'b', 'a']);
    expect(findWaitCycle('a', [awaits('a', 'y')], entries)).toBeNull();
    const both = [awaits('x', 'a'), awaits('a', 'y', 'x')];
    expect(findWaitCycle('a', both, entries)).toEqual(['a', 'x', 'a']);
    const longer = findWaitCycle('a', [awaits('x', 'c'), awaits('a', 'x')], entries);
    expect(longer).toEqual(['a', 'x', 'c', 'b', 'a']);
    // Waits of others count once the asker itself waits for them.
    expect(findWaitCycle('y', [awaits('x', 'a'), awaits('y', 'x')], entries)).toBeNull();
  });

  it('WG3: what has ended closes no cycle', () => {
    const ended = entries.map((one) =>
      one.delegation_id === 'b' ? { ...one, state: 'failed' as const } : one,
    );
    expect(findWaitCycle('a', [awaits('a', 'c')], ended)).toBeNull();
  });
});
