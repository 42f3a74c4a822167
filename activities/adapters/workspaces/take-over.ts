import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { putInPlace } from '../file-store/atomic-write-file.ts';
import { copyFolder, ownFolder } from './own-folder.ts';

interface TakingOver {
  readonly home: string;
  /** Notes of what runs have written. */
  readonly written: { readonly folderOf: (runId: string) => string };
  readonly assertCurrent: () => Promise<void>;
}

/** Copies a run's own folder, with the notes of what it wrote, into that of a run that goes on from it. */
export async function takeOver(
  { home, written, assertCurrent }: TakingOver,
  from: string,
  to: string,
): Promise<void> {
  const [source, target] = [ownFolder(home, from), ownFolder(home, to)];
  if (existsSync(target) || !existsSync(source)) return;
  const made = `${target}.${randomUUID()}`;
  const [notes, own] = [written.folderOf(from), written.folderOf(to)];
  try {
    // Noted first, as at a write: what the other run wrote is the run's own.
    if (existsSync(notes)) await copyFolder(notes, own);
    await copyFolder(source, made);
    await assertCurrent();
    await putInPlace(made, target);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
