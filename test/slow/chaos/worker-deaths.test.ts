import { killProcesses } from '../../support/worker-process.ts';
import { eventually } from '../../support/eventually.ts';
import { startOwnServer } from '../../support/own-server.ts';
import type { OwnServer } from '../../support/own-server.ts';
import { sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { Lane } from '../../chaos/lane.ts';
import { atEvents } from '../../chaos/phases/at-events.ts';
import type { Phase } from '../../chaos/phases/phase.ts';
import { withServer } from '../../chaos/phases/with-server.ts';
import { playPhase } from '../../chaos/play-phase.ts';
import { momentsOf, playReference } from '../../chaos/play-reference.ts';
import type { PlayedReference } from '../../chaos/play-reference.ts';
import { playTrial } from '../../chaos/play-trial.ts';
import type { PlayedTrial } from '../../chaos/trial.ts';
import { createPrng } from '../../support/prng.ts';
import { triadTask } from '../../chaos/runs/with-triad.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, seed, strikeEachWay } from './sample.ts';
import type { Strike } from '../../chaos/strike.ts';
import { addTrial, createTally } from '../../chaos/tally.ts';
import type { Tally } from '../../chaos/tally.ts';

/** A sample of `npm run chaos`, on every run of the tests, with the phase `servers` on a server of its own. */

let server: OwnServer;
let lane: Lane;
let reference: PlayedReference;
beforeAll(async () => {
  quietRuntime();
  server = await startOwnServer();
  lane = await openLane({ address: server.address, server, workerFile: sharedWorker() });
  reference = await playReference(lane);
});
afterAll(async () => {
  await lane.close();
  await killProcesses();
  await server.stop();
});

it('fault 1: kill -9 right after some history events of a reference run', async () => {
  const tally = await playSample('sample-events', atEvents, 3);
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed at a history event']).toBeGreaterThan(0);
});

it('part of fault 12: kill -9 of the server and the worker together', async () => {
  const tally = await playSample('sample-servers', withServer, 2);
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker and server killed']).toBeGreaterThan(0);
});

/** A sample of a phase as the campaign plays it. */
function playSample(name: string, phase: Phase, blows: number): Promise<Tally> {
  return playPhase({
    phase,
    name,
    lanes: [lane],
    reference,
    random: createPrng(seed),
    blows,
    onPlayed: () => {},
  });
}

it('fault 3: kill -9 between the reply and the completion: the ledger has it, nothing is bought again', async () => {
  const strikes = ['plan 1', 'decision 1'].map((call): Strike => ({
    moment: { at: 'call', call, stage: 'recorded' },
    blow: { type: 'kill worker' },
  }));
  const played = await playTrial(lane, {
    name: 'sample-completions',
    run: reference.run,
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
});

it('a worker that ends by itself is replaced, and its end is a finding', async () => {
  const playing = playTrial(lane, {
    name: 'sample-own-end',
    isHomeUsed: true,
    run: reference.run,
    strikes: [],
    answering: 'plain',
    modelFaultChance: 0,
    random: createPrng(seed),
  });
  await eventually('a model call', () => Promise.resolve(lane.rehearsal.calls()[0]));
  lane.workers[0]?.signal('SIGTERM');
  const played = await playing;
  expect(played.stuck).toBeNull();
  expect(played.broken).toEqual([
    expect.stringMatching(/^a worker ended by itself \(exit code 0\): .+/),
  ]);
  expect(lane.workers).toHaveLength(1);
});

/** How many activities were completed by another attempt than their first. */
function secondAttempts({ histories }: PlayedTrial): number {
  return histories
    .flatMap(({ history }) => history.events ?? [])
    .filter((event) => (event.activityTaskStartedEventAttributes?.attempt ?? 1) > 1).length;
}

// One run takes all the blows.
describe('over a whole triad', () => {
  const blows = { events: 3, calls: 2, completions: 2 };

  let tally: Tally;
  beforeAll(async () => {
    const moments = momentsOf(reference, triadTask);
    tally = await strikeEachWay('triad', { lane, reference, moments, blows });
  }, 1_200_000);

  it('fault 1: kill -9 right after some history events of its delegation and its phases', () => {
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker killed at a history event']).toBe(blows.events);
  });

  it('fault 2: kill -9 inside calls of its members', () => {
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker killed in a model call']).toBe(blows.calls);
    // N ≤ calls ≤ N + those that a kill found without a recorded reply: the judge compares them one by one.
    expect(tally.boughtAgain).toBeGreaterThanOrEqual(blows.calls);
    expect(tally.boughtAgain).toBeLessThanOrEqual(tally.boughtAgainMax);
  });

  it('fault 3: kill -9 between replies of its members and their completions', () => {
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker killed between reply and completion']).toBe(blows.completions);
  });
});
