import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { readTree } from '../../support/read-tree.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';
import { triadOf } from '../../support/executors.ts';

const { stage } = useStage();

/** Goals whose first wave has a triad, and what is disputed in it. */
const goals = [
  ['consensus', 'Compare two ways to store a backup [triad:consensus]', 0],
  ['dialectic', 'Compare two ways to store a backup [triad] [disagree]', 1],
] as const;

it('a run with a triad comes to its end on the rehearsal model, and export gives the same files', async () => {
  // The triad, and one agent beside it.
  const limits = { max_delegations: 2 };
  const runs = await Promise.all(
    goals.map(([id, goal]) =>
      stage.start('plannerRun', { goal, use_defaults: true, limits }, `rehearsed-${id}`),
    ),
  );
  const results = await Promise.all(runs.map((run) => stage.result(run)));
  for (const [at, [id, , disputes]] of goals.entries()) {
    const runId = `rehearsed-${id}`;
    expect([runId, results[at]?.status]).toEqual([runId, 'completed']);
    const { waves } = await storedRecord(stage.home, runId);
    const triads = waves.flatMap(({ outcomes }) => outcomes.flatMap((one) => triadOf(one) ?? []));
    expect(triads.map(({ type, dissent }) => [type, dissent.length])).toEqual([[id, disputes]]);
    await expectSameFiles(runId, join(stage.home, results[at]?.result_path ?? '', '..'));
    await expectPromisesKept(stage, runId);
  }
});

/** The files are there when the run is over, and the store alone gives them again. */
async function expectSameFiles(runId: string, folder: string): Promise<void> {
  const { home } = stage;
  const written = await readTree(folder);
  const triads = Object.keys(written).filter((path) => path.startsWith('triads/'));
  expect(triads.map((path) => path.split('/').at(-1))).toEqual([
    'deliberate.md',
    'execute.md',
    'negotiate.md',
  ]);
  await rm(folder, { recursive: true });
  const files = {
    store: createFileArtifactStore({ home }),
    index: createFileRunIndex({ home }),
    projection: createFileProjection({ home }),
  };
  await exportRun(files, runId);
  expect(await readTree(folder)).toEqual(written);
}
