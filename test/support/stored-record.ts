import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../../activities/adapters/file-store/file-ledgers.ts';
import { readRecord } from '../../activities/artifacts/record-log.ts';
import type { RunRecord } from '../../contracts/run-record.ts';

/** Reads the newest record of a run from the disk, as after a crash. */
export async function storedRecord(home: string, runId: string): Promise<RunRecord> {
  const { ref } = await createFileRunIndex({ home }).read(runId);
  if (ref === null) throw new Error(`${runId} is not in the index.`);
  return readRecord(createFileArtifactStore({ home }), ref);
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
