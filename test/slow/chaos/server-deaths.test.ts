import { killProcesses } from '../../support/worker-process.ts';
import { startOwnServer } from '../../support/own-server.ts';
import { sharedWorker } from '../../support/shared-server.ts';
import { openLane } from '../../chaos/lane.ts';
import { withServer } from '../../chaos/phases/with-server.ts';
import { playPhase } from '../../chaos/play-phase.ts';
import { playReference } from '../../chaos/play-reference.ts';
import { createPrng } from '../../support/prng.ts';
import { quietRuntime } from '../../support/quiet-runtime.ts';
import { faultsOf, noFaults, seed } from './sample.ts';

/** A sample of the phase `servers` of `npm run chaos`. */

it('part of fault 12: kill -9 of the server and the worker together', async () => {
  quietRuntime();
  const server = await startOwnServer();
  const lane = await openLane({ address: server.address, server, workerFile: sharedWorker() });
  try {
    const tally = await playPhase({
      phase: withServer,
      name: 'sample-servers',
      lanes: [lane],
      reference: await playReference(lane),
      random: createPrng(seed),
      blows: 2,
      onPlayed: () => {},
    });
    expect(faultsOf(tally)).toEqual(noFaults);
    expect(tally.fired['worker and server killed']).toBeGreaterThan(0);
  } finally {
    await lane.close();
    await killProcesses();
    await server.stop();
  }
});
