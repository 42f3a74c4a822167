import { z } from 'zod';
import type { CellResult, KeepCellInput } from '../../contracts/evaluation.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';

export interface KeptCellsDeps {
  readonly store: ArtifactStore;
  /** Maps the address of each cell to its newest result, among other names. */
  readonly kept: Pick<RunIndex, 'read' | 'write'>;
}

/** A result as it was written. Its fields are checked only as far as code relies on them. */
const KeptCell = z.looseObject({
  run_id: z.string(),
  status: z.string(),
  passed: z.boolean(),
  grades: z.array(z.looseObject({})),
  usage: z.looseObject({}),
});

/** Returns the kept result of an address; null without one, and for one that was pruned. */
export async function findCell(
  { store, kept }: KeptCellsDeps,
  address: string,
): Promise<CellResult | null> {
  const { ref } = await kept.read(nameOf(address));
  if (ref === null) return null;
  try {
    const found: unknown = await readShape(store, ref, KeptCell, 'the result of a cell');
    return found as CellResult;
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  }
}

/** Keeps the result of a cell. The newest replaces any earlier one. */
export async function keepCell(
  { store, kept }: KeptCellsDeps,
  { address, result }: KeepCellInput,
): Promise<void> {
  const ref = await store.put(JSON.stringify(result));
  const name = nameOf(address);
  for (;;) {
    // Another evaluation may keep its own at the same time; then this one comes after it.
    // oxlint-disable-next-line no-await-in-loop
    const { version } = await kept.read(name);
    // oxlint-disable-next-line no-await-in-loop
    if (await kept.write(name, ref, version)) return;
  }
}

/** Beside the names of technologies, none of which begins like this. */
function nameOf(address: string): string {
  return `evaluation/${address}`;
}
