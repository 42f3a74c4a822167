import { killProcesses } from '../support/worker-process.ts';
import { sharedServer } from '../support/shared-server.ts';
import { openLane } from './lane.ts';
import type { Lane } from './lane.ts';
import { atEvents } from './phases/at-events.ts';
import { playPhase } from './play-phase.ts';
import { playReference } from './play-reference.ts';
import type { PlayedReference } from './play-reference.ts';
import { playTrial } from './play-trial.ts';
import type { PlayedTrial } from './play-trial.ts';
import { createPrng } from '../support/prng.ts';
import { faultsOf, noFaults, quietRuntime, seed } from './sample.ts';
import type { Strike } from './strike.ts';
import { addTrial, createTally } from './tally.ts';

/** A sample of `npm run chaos`, on every run of the tests. */

let lanes: Lane[];
let reference: PlayedReference;
beforeAll(async () => {
  quietRuntime();
  const { address } = sharedServer();
  lanes = [await openLane({ address }), await openLane({ address })];
  reference = await playReference(firstLane());
}, 120_000);
afterAll(async () => {
  for (const lane of lanes) await lane.close();
  await killProcesses();
});

function firstLane(): Lane {
  const [lane] = lanes;
  if (lane === undefined) throw new Error('No lane was opened.');
  return lane;
}

it('fault 1: kill -9 right after some history events of a reference run', async () => {
  const tally = await playPhase({
    phase: atEvents,
    name: 'sample-events',
    lanes,
    reference,
    random: createPrng(seed),
    blows: 6,
    onPlayed: () => {},
  });
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed at a history event']).toBeGreaterThan(0);
}, 400_000);

it('fault 3: kill -9 between the reply and the completion: the ledger has it, nothing is bought again', async () => {
  const strikes = ['plan 1', 'decision 1'].map((call): Strike => ({
    moment: { at: 'call', call, stage: 'recorded' },
    blow: { type: 'kill worker' },
  }));
  const played = await playTrial(firstLane(), {
    name: 'sample-completions',
    strikes,
    answering: 'plain',
    modelFaultChance: 0,
    random: createPrng(seed),
  });
  const tally = createTally();
  addTrial(tally, reference, played);
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed between reply and completion']).toBeGreaterThan(0);
  expect(played.fired).toEqual(strikes);
  // The ledger was asked by a second attempt, and the model was not.
  expect(secondAttempts(played)).toBeGreaterThanOrEqual(strikes.length);
  expect(played.calls).toHaveLength(reference.calls.length);
}, 200_000);

/** How many activities were completed by another attempt than their first. */
function secondAttempts({ histories }: PlayedTrial): number {
  return histories
    .flatMap(({ history }) => history.events ?? [])
    .filter((event) => (event.activityTaskStartedEventAttributes?.attempt ?? 1) > 1).length;
}
