import { killProcesses } from '../../support/worker-process.ts';
import { startOwnServer } from '../../support/own-server.ts';
import type { OwnServer } from '../../support/own-server.ts';
import { sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { Lane } from '../../chaos/lane.ts';
import { takeRound } from '../../chaos/phases/phase.ts';
import { playReference } from '../../chaos/play-reference.ts';
import type { EventMoment, PlayedReference } from '../../chaos/play-reference.ts';
import { runWithSeed } from '../../chaos/runs/with-seed.ts';
import type { Tally } from '../../chaos/tally.ts';
import type { Blow, Strike } from '../../chaos/strike.ts';
import { createPrng } from '../../support/prng.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, seed, strikeOneRun } from './sample.ts';

/**
 * Deaths over the run of all of seed 003. `test/slow/design/seed-run.test.ts` has it taken over before each answer; here
 * processes are killed, inside calls of each kind of judgement and in each part of the run. One run takes all the blows.
 */

let server: OwnServer;
let lane: Lane;
let tally: Tally;
beforeAll(async () => {
  quietRuntime();
  server = await startOwnServer();
  lane = await openLane({ address: server.address, server, workerFile: sharedWorker() });
  const reference = await playReference(lane, runWithSeed);
  const strikes = [...strikesInCalls(reference), ...strikesOnServer(reference)];
  tally = await strikeOneRun('seed', { lane, reference, strikes, answering: 'one by one' });
}, 2_400_000);
afterAll(async () => {
  await lane.close();
  await killProcesses();
  await server.stop();
});

/** Calls of the work that judge, decide or begin anew, by the beginning of their names. */
const judged = [
  'design poc_evidence try_split',
  'design poc_decision',
  'design loop_analysis',
  'design adaptation',
  'decision_w2n1',
  'write_guide 1',
  'write_export 3',
];

/** In each of these calls, before the reply and before its completion. */
function strikesInCalls({ calls }: PlayedReference): Strike[] {
  const names = judged.flatMap((begin) => calls.find((one) => one.startsWith(begin)) ?? []);
  expect(names).toHaveLength(judged.length);
  return names.flatMap((call) =>
    (['waiting', 'recorded'] as const).map((stage): Strike => ({
      moment: { at: 'call', call, stage },
      blow: { type: 'kill worker' },
    })),
  );
}

it('faults 2 and 3: kill -9 in calls that judge the work, before the reply and before its completion', () => {
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed in a model call']).toBe(judged.length);
  expect(tally.fired['worker killed between reply and completion']).toBe(judged.length);
  expect(tally.boughtAgain).toBeLessThanOrEqual(tally.boughtAgainMax);
});

/** The server writes the start of an activity together with its end. */
const isBegun = ({ type, id }: EventMoment): boolean => type === 'ACTIVITY_TASK_STARTED' && id > 12;

/** Parts of the run, in each of which the server is killed. */
const paths = ['/design', '/wave-001', '/wave-002', '/wave-003'];

/** Events of the whole run after which the server is killed, besides one of each part: others with each seed. */
const drawnMax = 4;

function strikesOnServer({ events }: PlayedReference): Strike[] {
  const begun = paths.flatMap(
    (path) => events.find((one) => one.path === path && isBegun(one)) ?? [],
  );
  expect(begun).toHaveLength(paths.length);
  const others = events.filter((one) => !begun.includes(one));
  const chosen = new Set([...begun, ...takeRound(others, drawnMax, createPrng(seed))]);
  const blow: Blow = { type: 'kill worker and server' };
  return events.filter((one) => chosen.has(one)).map((moment) => ({ moment, blow }));
}

it('fault 12: kill -9 of the server and the worker, in the design, in each wave and after events that the seed draws', () => {
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker and server killed']).toBe(paths.length + drawnMax);
});
