/**
 * Lists the files that a delegation wrote, each with its newest content.
 *
 * Invariants:
 *   WF1. Each path is listed once, with the content of its newest confirmed effect; unverified effects, removed files
 *        commands and calls of something elsewhere are left out.
 *   WF2. At most `writtenFilesMax` files are listed, the newest.
 */
import type { EffectReceipt, WrittenFile } from '../../contracts/effect.ts';
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-claimed-effects.ts';

/** @param effects Effects of the delegation, in the order of its calls. */
export function listWritten(effects: readonly KnownEffect[]): WrittenFile[] {
  const files = new Map<string, WrittenFile>();
  for (const { state, tool, arguments_ref, receipt = null } of effects) {
    if (state !== 'confirmed' || receipt === null || !isOfFile(receipt)) continue;
    if (tool === undefined || arguments_ref === undefined) continue;
    const { target: path, sha256, bytes, removed, content_ref } = receipt;
    // Deleted first, so that the newest is last in order.
    files.delete(path);
    if (removed !== true) {
      const content = content_ref !== undefined && { content_ref };
      files.set(path, { path, sha256, bytes, tool, arguments_ref, ...content });
    }
  }
  return [...files.values()].slice(-engineLimits.writtenFilesMax);
}

function isOfFile({ command, call }: EffectReceipt): boolean {
  return command === undefined && call === undefined;
}
