import { killProcesses } from '../../support/worker-process.ts';
import { sharedServer } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import { playCrowd } from '../../chaos/play-crowd.ts';
import { playReference } from '../../chaos/play-reference.ts';
import { createPrng } from '../../support/prng.ts';
import { faultsOf, noFaults, quietRuntime, seed } from './sample.ts';

/** A sample of the phase `crowd` of `npm run chaos`. */

it('fault 11: a dozen runs on three workers, one of which is killed again and again', async () => {
  quietRuntime();
  const lane = await openLane({ address: sharedServer().address, thinkMs: 300 });
  try {
    const tally = await playCrowd({
      lane,
      reference: await playReference(lane),
      random: createPrng(seed),
      name: 'sample-crowd',
      runs: 12,
      killEveryMs: 3_000,
      openMax: 6,
    });
    expect(tally.runs).toBe(12);
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker killed in a crowd']).toBeGreaterThan(0);
  } finally {
    await lane.close();
    await killProcesses();
  }
}, 400_000);
