import { toPathName } from './path-name.ts';

/** Folders of the store in the artifact home, and names kept free for what may come beside them. */
const storeFolders = [
  'objects',
  'ledger',
  'effects',
  'refs',
  'archive',
  'logs',
  'temporal',
  'tmp',
] as const;

/** The folder of a run below the artifact home: its run_id where that is a plain name, else an encoding of it. */
export function toRunDirectory(runId: string): string {
  return toPathName(runId, storeFolders);
}
