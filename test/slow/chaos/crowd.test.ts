import { killProcesses } from '../../support/worker-process.ts';
import { sharedServer, sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { LaneOptions } from '../../chaos/lane.ts';
import { blowsOfCluster } from '../../chaos/crowd-blows.ts';
import type { SharedParts } from '../../chaos/crowd-blows.ts';
import { playCrowd } from '../../chaos/play-crowd.ts';
import { playReference } from '../../chaos/play-reference.ts';
import type { PlayedReference } from '../../chaos/play-reference.ts';
import { startCluster } from '../../cluster/cluster.ts';
import { findPrograms } from '../../cluster/programs.ts';
import { createPrng } from '../../support/prng.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, seed } from './sample.ts';

/** A sample of the phase `crowd` of `npm run chaos`. */

/** The undisturbed run of both tests: it is the same in any store. */
let reference: PlayedReference | undefined;

/** Runs whose calls lie between two blows: a dozen runs get about eight blows, on a slow machine too. */
const blowEveryRuns = 1.5;

/** Plays runs on three workers while processes are harmed: by default one worker after the other is killed. */
async function playSample(options: LaneOptions, runs: number, parts: SharedParts | null = null) {
  quietRuntime();
  const lane = await openLane({ ...options, thinkMs: 300, workerFile: sharedWorker() });
  const random = createPrng(seed);
  try {
    reference ??= await playReference(lane);
    const tally = await playCrowd({
      lane,
      reference,
      random,
      name: 'sample-crowd',
      runs,
      blowEveryMs: 3_000,
      blowEveryCalls: blowEveryRuns * reference.calls.length,
      ...(parts === null
        ? { openMax: 6 }
        : { openMax: 3, blows: blowsOfCluster(lane, random, parts) }),
    });
    return {
      runs: tally.runs,
      faults: faultsOf(tally),
      fired: Object.keys(tally.fired).toSorted(),
    };
  } finally {
    await lane.close();
    await killProcesses();
  }
}

it('fault 11: a dozen runs on three workers, one of which is killed again and again', async () => {
  const played = await playSample({ address: sharedServer().address }, 12);
  expect(played).toEqual({ runs: 12, faults: noFaults, fired: ['worker killed in a crowd'] });
});

it('fault 11: a dozen runs where each worker has a home and all share a database and a bucket, which are stopped too', async () => {
  // Without the Temporal server of a cluster, whose place the shared one takes.
  const cluster = await startCluster((name) =>
    name === 'objects' ? findPrograms(name) : { folder: null, missing: '' },
  );
  try {
    expect(cluster.env).toHaveProperty('PLANWAVE_STORE_URL');
    const options = { address: sharedServer().address, store: cluster.env };
    const { postgres, objects } = cluster;
    const fired = [
      'PostgreSQL stopped in a crowd',
      ...(objects === null ? [] : ['bucket away in a crowd']),
      'worker killed in a crowd',
      'worker paused in a crowd',
    ];
    const parts = { server: null, postgres, objects };
    expect(await playSample(options, 12, parts)).toEqual({ runs: 12, faults: noFaults, fired });
  } finally {
    await cluster.stop();
  }
});
