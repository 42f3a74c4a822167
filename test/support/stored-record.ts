import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../../activities/adapters/file-store/file-ledgers.ts';
import { readRecord } from '../../activities/artifacts/record-log.ts';
import type { Stores } from '../../activities/ports/stores.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { eventually } from './eventually.ts';

/** Reads the newest record of a run from the disk, as after a crash. */
export function storedRecord(home: string, runId: string): Promise<RunRecord> {
  const index = createFileRunIndex({ home });
  return newestRecord({ index, store: createFileArtifactStore({ home }) }, runId);
}

/** Reads the newest record of a run from its store. */
export async function newestRecord(
  { index, store }: Pick<Stores, 'index' | 'store'>,
  runId: string,
): Promise<RunRecord> {
  const { ref } = await index.read(runId);
  if (ref === null) throw new Error(`${runId} is not in the index.`);
  return readRecord(store, ref);
}

/**
 * Waits until the record of a run, which is written beside a question, has the question. The index is written after the
 * readable files, so these are then there, too.
 */
export async function untilRecorded(
  home: string,
  runId: string,
  questionId: string,
): Promise<void> {
  await eventually(`${questionId} in the record`, async () => {
    const { open_questions } = await storedRecord(home, runId);
    return open_questions.some(({ question_id }) => question_id === questionId);
  });
}

/** Returns the file that names the newest record of a run. */
export function indexFile(home: string, runId: string): string {
  const dir = join(home, 'refs', `n-${runId}`);
  // Beside it there may be one that is being written.
  const files = readdirSync(dir).filter((file) => file.endsWith('.json'));
  return join(dir, `${Math.max(...files.map((file) => Number.parseInt(file, 10)))}.json`);
}

/** Reads an artifact from the disk. */
export function storedText(home: string, ref: string): Promise<string> {
  return createFileArtifactStore({ home }).getText(ref);
}
