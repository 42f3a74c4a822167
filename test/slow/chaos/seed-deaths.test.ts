import { killProcesses } from '../../support/worker-process.ts';
import { startOwnServer } from '../../support/own-server.ts';
import type { OwnServer } from '../../support/own-server.ts';
import { sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { Lane } from '../../chaos/lane.ts';
import { takeRound } from '../../chaos/phases/phase.ts';
import { playPhase } from '../../chaos/play-phase.ts';
import { playReference } from '../../chaos/play-reference.ts';
import type { EventMoment, PlayedReference } from '../../chaos/play-reference.ts';
import { runWithSeed } from '../../chaos/runs/with-seed.ts';
import type { Tally } from '../../chaos/tally.ts';
import type { Blow, Strike } from '../../chaos/strike.ts';
import { createPrng } from '../../support/prng.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, seed } from './sample.ts';

/**
 * Deaths over the run of all of seed 003. `test/slow/design/seed-run.test.ts` has it taken over before each answer; here
 * processes are killed, inside calls of each kind of judgement and in each part of the run.
 */

let server: OwnServer;
let lane: Lane;
let reference: PlayedReference;
beforeAll(async () => {
  quietRuntime();
  server = await startOwnServer();
  lane = await openLane({ address: server.address, server, workerFile: sharedWorker() });
  reference = await playReference(lane, runWithSeed);
});
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

it('faults 2 and 3: kill -9 in calls that judge the work, before the reply and before its completion', async () => {
  const names = judged.flatMap(
    (begin) => reference.calls.find((one) => one.startsWith(begin)) ?? [],
  );
  expect(names).toHaveLength(judged.length);
  const strikes = names.flatMap((call) =>
    (['waiting', 'recorded'] as const).map((stage): Strike => ({
      moment: { at: 'call', call, stage },
      blow: { type: 'kill worker' },
    })),
  );
  const tally = await strike('seed-calls', strikes);
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker killed in a model call']).toBe(names.length);
  expect(tally.fired['worker killed between reply and completion']).toBe(names.length);
  expect(tally.boughtAgain).toBeLessThanOrEqual(tally.boughtAgainMax);
}, 900_000);

/** The server writes the start of an activity together with its end. */
const isBegun = ({ type, id }: EventMoment): boolean => type === 'ACTIVITY_TASK_STARTED' && id > 12;

/** Events of the whole run after which the server is killed, besides one of each part: others with each seed. */
const drawnMax = 4;

it('fault 12: kill -9 of the server and the worker, in the design, in each wave and after events that the seed draws', async () => {
  const paths = ['/design', '/wave-001', '/wave-002', '/wave-003'];
  const begun = paths.flatMap(
    (path) => reference.events.find((one) => one.path === path && isBegun(one)) ?? [],
  );
  expect(begun).toHaveLength(paths.length);
  const others = reference.events.filter((one) => !begun.includes(one));
  const chosen = new Set([...begun, ...takeRound(others, drawnMax, createPrng(seed))]);
  const moments = reference.events.filter((one) => chosen.has(one));
  const blow: Blow = { type: 'kill worker and server' };
  const tally = await strike(
    'seed-servers',
    moments.map((moment): Strike => ({ moment, blow })),
    // Of two that lie close together, the second comes when the run goes on.
    true,
  );
  expect(faultsOf(tally)).toEqual(noFaults);
  expect(tally.fired['worker and server killed']).toBe(moments.length);
}, 1_500_000);

/** One run with all strikes. What missed its moment there gets a run of its own. */
function strike(name: string, strikes: readonly Strike[], strikesLate = false): Promise<Tally> {
  const harm = { strikes, strikesLate, modelFaultChance: 0, answering: 'one by one' as const };
  return playPhase({
    phase: { title: name, killsServer: true, countBlows: () => strikes.length, plan: () => [harm] },
    name,
    lanes: [lane],
    reference,
    random: createPrng(seed),
    blows: strikes.length,
    onPlayed: () => {},
  });
}
