import { z } from 'zod';
import { cellStatuses } from '../../contracts/evaluation.ts';
import type { CellResult, KeepCellInput } from '../../contracts/evaluation.ts';
import { noUsage, readUsage } from '../../core/usage/add-usage.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';

export interface KeptCellsDeps {
  readonly store: ArtifactStore;
  /** Maps the address of each cell to its newest result, among other names. */
  readonly kept: Pick<RunIndex, 'read' | 'write'>;
}

/** A result as it was written. */
const KeptCell: z.ZodType<CellResult> = z.object({
  cell: z.number(),
  goal: z.string(),
  setting: z.string(),
  repetition: z.number(),
  run_id: z.string(),
  status: z.enum(cellStatuses),
  reason: z.string(),
  passed: z.boolean(),
  grades: z.array(
    z.object({
      grader: z.string(),
      result: z.enum(['passed', 'failed', 'not_run']),
      score: z.number().nullable(),
      reason: z.string(),
    }),
  ),
  usage: z.unknown().transform((value) => readUsage(value) ?? noUsage),
  seconds: z.number(),
  cached: z.boolean(),
});

/** Returns the kept result of an address; null without one, and for one that was pruned. */
export async function findCell(
  { store, kept }: KeptCellsDeps,
  address: string,
): Promise<CellResult | null> {
  const { ref } = await kept.read(nameOf(address));
  if (ref === null) return null;
  try {
    return await readShape(store, ref, KeptCell, 'the result of a cell');
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
