import * as fc from 'fast-check';
import type { EffectReceipt } from '../../../contracts/effect.ts';
import {
  findEarlierBeginning,
  openEffect,
  reopenEffect,
  stepEffect,
} from '../../../core/effects/step-effect.ts';
import type {
  Beginning,
  EffectEvent,
  EffectState,
  EffectStep,
  EffectVerdict,
} from '../../../core/effects/step-effect.ts';

const receipt: EffectReceipt = { target: 'a.md', sha256: '0'.repeat(64), bytes: 1 };
const happened: EffectVerdict = { type: 'happened', receipt };
const absent: EffectVerdict = { type: 'absent' };
const unknown: EffectVerdict = { type: 'unknown', found: 'something else' };

const beginning: Beginning = { before: 'nothing', run_id: 'r1' };
const intended: EffectState = { type: 'intended', round: 1 };
const started: EffectState = { type: 'started', round: 1, ...beginning };
const unverified: EffectState = { type: 'unverified', round: 1, found: 'something else' };
const lastStates: readonly EffectState[] = [
  { type: 'confirmed', receipt, beginning },
  { type: 'confirmed', receipt: null, beginning: null },
  { type: 'failed', reason: 'the disk is full' },
  { type: 'skipped', found: 'something else' },
];
const states = [intended, started, unverified, ...lastStates];

const begun: EffectEvent = { type: 'begun', ...beginning };
const acted: EffectEvent = { type: 'acted', receipt };
const threw = (verdict: EffectVerdict): EffectEvent => ({ type: 'threw', reason: 'boom', verdict });
const checked = (verdict: EffectVerdict): EffectEvent => ({ type: 'checked', verdict });
const resolved = (choice: 'verified' | 'retry' | 'skip', round = 1): EffectEvent => ({
  type: 'resolved',
  round,
  choice,
});
const events: readonly EffectEvent[] = [
  begun,
  acted,
  ...[happened, absent, unknown].flatMap((verdict) => [threw(verdict), checked(verdict)]),
  ...(['verified', 'retry', 'skip'] as const).flatMap((choice) => [
    resolved(choice),
    resolved(choice, 2),
  ]),
];

const anyState = fc.constantFrom(...states);
const anyEvent = fc.constantFrom(...events);

const typesOf = (from: EffectState, ...then: EffectEvent[]): string[] =>
  then
    .reduce<EffectState[]>(
      (seen, event) => [...seen, stepEffect(seen.at(-1) ?? from, event).state],
      [from],
    )
    .map(({ type }) => type);

it('EF1: every state takes every event, and one that does not fit changes nothing', () => {
  fc.assert(
    fc.property(anyState, fc.array(anyEvent), (from, then) => {
      let state = from;
      for (const event of then) {
        const step = stepEffect(state, event);
        // Twice the same gives the same.
        expect(stepEffect(state, event)).toEqual(step);
        const isSame = step.state === state && event.type !== 'checked';
        expect(isSame ? step.command : null).toBe(isSame ? openEffect(state).command : null);
        ({ state } = step);
      }
    }),
  );
  expect(stepEffect(intended, acted).state).toBe(intended);
  expect(stepEffect(started, begun).state).toBe(started);
  expect(stepEffect(unverified, acted).state).toBe(unverified);
});

it('EF2: it acts only out of a state that says so in the ledger, and a found one is checked first', () => {
  fc.assert(
    fc.property(anyState, anyEvent, (state, event) => {
      const step = stepEffect(state, event);
      expect(step.command === 'act' ? step.state.type : 'started').toBe('started');
    }),
  );
  for (const found of [null, ...states]) expect(openEffect(found).command).not.toBe('act');
  expect(openEffect(null)).toEqual({ state: intended, command: 'begin' });
  expect(openEffect(started).command).toBe('check');
  expect(stepEffect(intended, begun)).toEqual({ state: started, command: 'act' });
});

it('EF3: confirmed, failed and skipped are for ever', () => {
  for (const state of lastStates) {
    for (const event of events) {
      expect(stepEffect(state, event)).toEqual({ state, command: 'report' });
    }
  }
});

it('EF4: it acts again only when the check saw nothing, or the user said so', () => {
  expect(stepEffect(started, checked(absent)).command).toBe('act');
  expect(stepEffect(started, checked(happened)).command).toBe('report');
  expect(stepEffect(started, checked(unknown)).command).toBe('ask');
  // A tool that threw is not called again by itself.
  expect(stepEffect(started, threw(absent))).toEqual({
    state: { type: 'failed', reason: 'boom' },
    command: 'report',
  });
  expect(stepEffect(started, threw(happened)).state.type).toBe('confirmed');
  expect(stepEffect(started, threw(unknown)).state.type).toBe('unverified');
  expect(typesOf(unverified, resolved('retry'), begun, acted)).toEqual([
    'unverified',
    'intended',
    'started',
    'confirmed',
  ]);
});

it('EF5: what nobody knows waits for the user, and a resolution holds for its own round', () => {
  for (const event of events.filter(({ type }) => type !== 'resolved')) {
    expect(stepEffect(unverified, event)).toEqual({ state: unverified, command: 'ask' });
  }
  expect(stepEffect(unverified, resolved('retry', 2)).state).toBe(unverified);
  expect(stepEffect(unverified, resolved('verified')).state).toEqual({
    type: 'confirmed',
    receipt: null,
    beginning: null,
  });
  expect(stepEffect(unverified, resolved('skip')).state.type).toBe('skipped');
  const again = [resolved('retry'), begun, checked(unknown)].reduce(
    (state: EffectState, event) => stepEffect(state, event).state,
    unverified,
  );
  expect(again).toMatchObject({ type: 'unverified', round: 2 });
  // The answer to the first question does not answer the second.
  expect(stepEffect(again, resolved('retry', 1)).state).toBe(again);
});

/** Where an attempt is cut off: before its nth deed, a deed being a write to the ledger, a look or an act. */
type Cut = number;

/** Plays attempts that die at the cuts, against a world that tells the truth. @returns how often the effect took place. */
function play(cuts: readonly Cut[]): number {
  let ledger: EffectState | null = null;
  let count = 0;
  const attempt = (deedsLeft: number): void => {
    let left = deedsLeft;
    const deed = (work: () => void): void => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      work();
    };
    let step: EffectStep = openEffect(ledger);
    while (step.command !== 'report') {
      let event: EffectEvent = begun;
      if (step.command === 'act') {
        deed(() => (count += 1));
        event = acted;
      }
      if (step.command === 'check') event = checked(count > 0 ? happened : absent);
      const next = stepEffect(step.state, event);
      if (next.state !== step.state) deed(() => (ledger = next.state));
      step = next;
    }
  };
  for (const cut of [...cuts, Infinity]) {
    try {
      attempt(cut);
    } catch {
      // The next attempt finds what the ledger has.
    }
  }
  return count;
}

it('EF6: however often it is killed and wherever, the effect takes place once', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 6 }), { maxLength: 12 }), (cuts) => {
      expect(play(cuts)).toBe(1);
    }),
  );
});

it('EF7: after a reset a confirmation is checked again, and never said without', () => {
  const confirmed: EffectState = { type: 'confirmed', receipt, beginning };
  expect(findEarlierBeginning(confirmed, ['r2'])).toEqual(beginning);
  for (const state of states.filter((one) => one.type !== 'confirmed')) {
    expect(findEarlierBeginning(state, ['r2'])).toBeNull();
  }
  expect(findEarlierBeginning(confirmed, ['r1'])).toBeNull();
  // An attempt that crashed made the same calls in the same order.
  expect(findEarlierBeginning(confirmed, ['r2', 'r1'])).toBeNull();
  // The user vouched for it, and no check could tell.
  expect(
    findEarlierBeginning({ type: 'confirmed', receipt: null, beginning: null }, ['r2']),
  ).toBeNull();
  expect(reopenEffect(beginning, happened)).toEqual({ state: confirmed, command: 'report' });
  expect(reopenEffect(beginning, absent)).toEqual({ state: intended, command: 'begin' });
  expect(reopenEffect(beginning, unknown)).toEqual({ state: unverified, command: 'ask' });
});
