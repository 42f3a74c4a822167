import { killProcesses } from '../../support/worker-process.ts';
import { sharedServer } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import type { LaneOptions } from '../../chaos/lane.ts';
import { playCrowd } from '../../chaos/play-crowd.ts';
import { playReference } from '../../chaos/play-reference.ts';
import { startCluster } from '../../cluster/cluster.ts';
import { findPrograms } from '../../cluster/programs.ts';
import { createPrng } from '../../support/prng.ts';
import { faultsOf, noFaults, quietRuntime, seed } from './sample.ts';

/** A sample of the phase `crowd` of `npm run chaos`. */

/** Plays runs on three workers, one of which is killed again and again. */
async function playSample(options: LaneOptions, runs: number) {
  quietRuntime();
  const lane = await openLane({ ...options, thinkMs: 300 });
  try {
    const tally = await playCrowd({
      lane,
      reference: await playReference(lane),
      random: createPrng(seed),
      name: 'sample-crowd',
      runs,
      killEveryMs: 3_000,
      openMax: 6,
    });
    const deaths = tally.fired['worker killed in a crowd'] ?? 0;
    return { runs: tally.runs, faults: faultsOf(tally), hasDeaths: deaths > 0 };
  } finally {
    await lane.close();
    await killProcesses();
  }
}

it('fault 11: a dozen runs on three workers, one of which is killed again and again', async () => {
  const played = await playSample({ address: sharedServer().address }, 12);
  expect(played).toEqual({ runs: 12, faults: noFaults, hasDeaths: true });
}, 400_000);

it('fault 11: the same where each worker has a home of its own and all share a database', async () => {
  // Without the Temporal server of a cluster, whose place the shared one takes.
  const cluster = await startCluster((name) =>
    name === 'objects' ? findPrograms(name) : { folder: null, missing: '' },
  );
  try {
    expect(cluster.env).toHaveProperty('PLANWAVE_STORE_URL');
    const options = { address: sharedServer().address, store: cluster.env };
    const expected = { runs: 6, faults: noFaults, hasDeaths: true };
    expect(await playSample(options, 6)).toEqual(expected);
  } finally {
    await cluster.stop();
  }
}, 600_000);
