import { killProcesses } from '../../support/worker-process.ts';
import { sharedServer, sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { Lane } from '../../chaos/lane.ts';
import { momentsOf, playReference } from '../../chaos/play-reference.ts';
import type { PlayedReference } from '../../chaos/play-reference.ts';
import { designTask, runWithDesign } from '../../chaos/runs/with-design.ts';
import type { Tally } from '../../chaos/tally.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, strikeEachWay } from './sample.ts';

/**
 * A sample of `npm run chaos -- --task design`, which kills the worker at every event of a design. One run takes all the
 * blows.
 */

/** How many blows come at events, in calls and before completions. */
const blows = { events: 4, calls: 3, completions: 3 };

let lane: Lane;
let reference: PlayedReference;
let tally: Tally;
beforeAll(async () => {
  quietRuntime();
  lane = await openLane({ address: sharedServer().address, workerFile: sharedWorker() });
  reference = await playReference(lane, runWithDesign);
});
beforeAll(async () => {
  const moments = momentsOf(reference, designTask);
  tally = await strikeEachWay('design', { lane, reference, moments, blows });
}, 1_200_000);
afterAll(async () => {
  await lane.close();
  await killProcesses();
});

it('the undisturbed run designs, repairs a finding, is approved and works in two waves', () => {
  const { facts, calls } = reference;
  expect(facts).toMatchObject({ status: 'completed', waves: 2, design: { status: 'approved' } });
  expect(facts.design?.plans.length).toBeGreaterThan(3);
  expect(calls.filter((call) => call.startsWith('design design_review'))).toHaveLength(2);
  const { events } = momentsOf(reference, designTask);
  expect(new Set(events.map(({ path }) => path))).toEqual(new Set(['/design', '/design/risk']));
});

it('fault 1: kill -9 right after some history events of a design and its risk assessment', () => {
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed at a history event']).toBe(blows.events);
});

it('fault 2: kill -9 inside calls of its stages: only a call without a recorded reply is made again', () => {
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed in a model call']).toBe(blows.calls);
  // Each call that was cut off is made again; so may others be that a kill at an event cut off.
  expect(tally.boughtAgain).toBeGreaterThanOrEqual(blows.calls);
  expect(tally.boughtAgain).toBeLessThanOrEqual(tally.boughtAgainMax);
});

it('fault 3: kill -9 between replies of its stages and their completions', () => {
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed between reply and completion']).toBe(blows.completions);
});
