import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../../scripts/bootstrap/hand-over.mjs';
import { findFreePort } from '../../../scripts/dev-server/temporal-probe.ts';
import { listenForFirstCall } from '../first-call.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { startNpm } from '../npm-process.ts';
import { summarise } from '../statistics.ts';

const rounds = 3;
const msMax = 8_000;
const goal = 'Compare three ways to store a backup';

/** Where `worker/bundle-workflows.ts` keeps what it has bundled. It is only a cache. */
const bundleCache = join(root, 'node_modules', '.cache', 'planwave');

export const coldStart: Figure = {
  name: 'cold-start',
  about: 'cold `npm start` to the first model call, packages and Temporal CLI installed',
  async measure({ sizeOf, say }) {
    const bare: number[] = [];
    const bundled: number[] = [];
    for (let round = 1; round <= sizeOf(rounds); round += 1) {
      rmSync(bundleCache, { recursive: true, force: true });
      for (const times of [bare, bundled]) {
        // One start after the other: they would measure each other.
        // oxlint-disable-next-line no-await-in-loop
        const ms = await measureStart();
        say(`round ${round}: ${formatNumber(ms)} ms`);
        times.push(ms);
      }
    }
    return [
      toRow('on a machine that never bundled these workflows', bare),
      toRow('with the workflows bundled before', bundled),
    ];
  },
};

/**
 * From the start of npm to the arrival of the planner's call at the rehearsal model, which `npm start` brings up itself:
 * that is all that somebody without an API key waits for.
 */
async function measureStart(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'planwave-cold-'));
  const port = await findFreePort();
  const startedAtMs = Date.now();
  const npm = startNpm(['start', '--', goal, '--defaults'], {
    PLANWAVE_HOME: home,
    PLANWAVE_TEMPORAL_PORT: String(await findFreePort()),
    PLANWAVE_UI_PORT: String(await findFreePort()),
    PLANWAVE_REHEARSAL_PORT: String(port),
    PLANWAVE_REHEARSAL_SCRIPTABLE: '1',
  });
  try {
    const arrivedAtMs = await Promise.race([listenForFirstCall(port), npm.failed]);
    return arrivedAtMs - startedAtMs;
  } finally {
    await npm.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

function toRow(how: string, times: readonly number[]): FigureRow {
  const ms = summarise(times);
  return {
    figure: `cold \`npm start\` to the first model call, ${how}`,
    target: `< ${formatNumber(msMax)} ms`,
    measured: formatSummary(ms, 'ms'),
    floor: '',
    reached: ms.median < msMax,
    notes: '',
    numbers: { ms },
  };
}
