import { killProcesses } from '../../support/worker-process.ts';
import { sharedServer, sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { Lane } from '../../chaos/lane.ts';
import { atEvents } from '../../chaos/phases/at-events.ts';
import { beforeCompletions, inCalls } from '../../chaos/phases/in-calls.ts';
import type { Phase } from '../../chaos/phases/phase.ts';
import { playPhase } from '../../chaos/play-phase.ts';
import { momentsOf, playReference } from '../../chaos/play-reference.ts';
import type { PlayedReference } from '../../chaos/play-reference.ts';
import { designTask, runWithDesign } from '../../chaos/runs/with-design.ts';
import type { Tally } from '../../chaos/tally.ts';
import { createPrng } from '../../support/prng.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, seed } from './sample.ts';

/** A sample of `npm run chaos -- --task design`, which kills the worker at every event of a design. */

let lanes: Lane[];
let reference: PlayedReference;
beforeAll(async () => {
  quietRuntime();
  const { address } = sharedServer();
  const options = { address, workerFile: sharedWorker() };
  lanes = [await openLane(options), await openLane(options)];
  const [lane] = lanes;
  if (lane === undefined) throw new Error('No lane was opened.');
  reference = await playReference(lane, runWithDesign);
});
afterAll(async () => {
  for (const lane of lanes) await lane.close();
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

it('fault 1: kill -9 right after some history events of a design and its risk assessment', async () => {
  const tally = await strikeDesign('design-events', atEvents, 4);
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed at a history event']).toBe(4);
});

it('fault 2: kill -9 inside calls of its stages: only a call without a recorded reply is made again', async () => {
  const tally = await strikeDesign('design-calls', inCalls, 3);
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed in a model call']).toBe(3);
  expect(tally.boughtAgain).toBeGreaterThan(0);
  expect(tally.boughtAgain).toBeLessThanOrEqual(tally.boughtAgainMax);
});

it('fault 3: kill -9 between replies of its stages and their completions', async () => {
  const tally = await strikeDesign('design-completions', beforeCompletions, 3);
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed between reply and completion']).toBe(3);
});

function strikeDesign(name: string, phase: Phase, blows: number): Promise<Tally> {
  // Another kill before the answers is not what the title says.
  const plan: Phase['plan'] = (...given) =>
    phase.plan(...given).map((harm) => ({ ...harm, answering: 'plain' }));
  return playPhase({
    phase: { ...phase, plan },
    name,
    lanes,
    reference,
    moments: momentsOf(reference, designTask),
    random: createPrng(seed),
    blows,
    onPlayed: () => {},
  });
}
