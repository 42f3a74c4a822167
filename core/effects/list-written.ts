/**
 * Which files a delegation wrote, as they stand since.
 *
 * Invariants:
 *   WF1. Each path is there once, with what the newest confirmed effect wrote; what nobody could verify is left out.
 *   WF2. No more than `writtenFilesMax` are named, the newest.
 */
import type { WrittenFile } from '../../contracts/effect.ts';
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-claimed-effects.ts';

/** @param effects Of the delegation, in the order of its calls. */
export function listWritten(effects: readonly KnownEffect[]): WrittenFile[] {
  const files = new Map<string, WrittenFile>();
  for (const { state, tool, arguments_ref, receipt = null } of effects) {
    if (state !== 'confirmed' || receipt === null) continue;
    if (tool === undefined || arguments_ref === undefined) continue;
    const { target: path, sha256, bytes } = receipt;
    // Deleted first, so that the newest stands last.
    files.delete(path);
    files.set(path, { path, sha256, bytes, tool, arguments_ref });
  }
  return [...files.values()].slice(-engineLimits.writtenFilesMax);
}
