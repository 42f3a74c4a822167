import { killProcesses } from '../../support/worker-process.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedServer, sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { Lane } from '../../chaos/lane.ts';
import { atEvents } from '../../chaos/phases/at-events.ts';
import { beforeCompletions, inCalls } from '../../chaos/phases/in-calls.ts';
import type { Phase } from '../../chaos/phases/phase.ts';
import { playPhase } from '../../chaos/play-phase.ts';
import { momentsOf, playReference } from '../../chaos/play-reference.ts';
import type { PlayedReference } from '../../chaos/play-reference.ts';
import { playTrial } from '../../chaos/play-trial.ts';
import type { PlayedTrial } from '../../chaos/trial.ts';
import { createPrng } from '../../support/prng.ts';
import { triadTask } from '../../chaos/runs/with-triad.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, seed } from './sample.ts';
import type { Strike } from '../../chaos/strike.ts';
import { addTrial, createTally } from '../../chaos/tally.ts';
import type { Tally } from '../../chaos/tally.ts';

/** A sample of `npm run chaos`, on every run of the tests. */

let lanes: Lane[];
let reference: PlayedReference;
beforeAll(async () => {
  quietRuntime();
  const { address } = sharedServer();
  const options = { address, workerFile: sharedWorker() };
  lanes = [await openLane(options), await openLane(options)];
  reference = await playReference(firstLane());
});
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
    blows: 3,
    onPlayed: () => {},
  });
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed at a history event']).toBeGreaterThan(0);
});

it('fault 3: kill -9 between the reply and the completion: the ledger has it, nothing is bought again', async () => {
  const strikes = ['plan 1', 'decision 1'].map((call): Strike => ({
    moment: { at: 'call', call, stage: 'recorded' },
    blow: { type: 'kill worker' },
  }));
  const played = await playTrial(firstLane(), {
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
  const lane = firstLane();
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

describe('over a whole triad', () => {
  it('fault 1: kill -9 right after some history events of its delegation and its phases', async () => {
    const tally = await strikeTriad('triad-events', atEvents, 3);
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker killed at a history event']).toBe(3);
  });

  it('fault 2: kill -9 inside calls of its members', async () => {
    const tally = await strikeTriad('triad-calls', inCalls, 2);
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker killed in a model call']).toBe(2);
    // N ≤ calls ≤ N + those that a kill found without a recorded reply: the judge compares them one by one.
    expect(tally.boughtAgain).toBeGreaterThan(0);
    expect(tally.boughtAgain).toBeLessThanOrEqual(tally.boughtAgainMax);
  });

  it('fault 3: kill -9 between replies of its members and their completions', async () => {
    const tally = await strikeTriad('triad-completions', beforeCompletions, 2);
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker killed between reply and completion']).toBe(2);
  });
});

function strikeTriad(name: string, phase: Phase, blows: number): Promise<Tally> {
  // Another kill before the answers is not what the title says.
  const plan: Phase['plan'] = (...given) =>
    phase.plan(...given).map((harm) => ({ ...harm, answering: 'plain' }));
  return playPhase({
    phase: { ...phase, plan },
    name,
    lanes,
    reference,
    moments: momentsOf(reference, triadTask),
    random: createPrng(seed),
    blows,
    onPlayed: () => {},
  });
}
