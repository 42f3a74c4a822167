import type { DetailEntry } from '../../contracts/run-record.ts';
import { waveNumber } from '../../core/ids.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { Deliverable, listSuperseded } from '../projection/list-deliverables.ts';
import { oneLine } from '../../core/text/markdown.ts';
import { textOf } from '../projection/record-texts.ts';
import type { RecordTexts } from '../projection/record-texts.ts';
import { isEngineInput } from './known-inputs.ts';

/** Most characters of a summary: an agent chooses by it which details to load. */
const summaryCharsMax = 300;

/** Sources of a wave's details, besides its completed delegations. */
interface DetailSources {
  /** All delegation_ids of the run. */
  readonly delegationIds: ReadonlySet<string>;
  readonly superseded: ReturnType<typeof listSuperseded>;
  readonly texts: RecordTexts;
}

/**
 * Adds the details of a wave's completed delegations: one under the delegation_id, and one for each name it produces.
 *
 * A name that is produced again refers to the newest result. A result that replaces others takes over their names, and
 * their own details are removed. A delegation_id and the names of the engine's own inputs are reserved, so a product
 * can't take one.
 */
export function addDetails(
  details: readonly DetailEntry[],
  completed: readonly Deliverable[],
  { delegationIds, superseded, texts }: DetailSources,
): readonly DetailEntry[] {
  const replaced = new Set(superseded.map(({ older }) => older.delegation_id));
  const next = new Map(
    details.flatMap((entry) => (replaced.has(entry.detail_id) ? [] : [[entry.detail_id, entry]])),
  );
  for (const one of completed) {
    if (replaced.has(one.delegation_id)) continue;
    const older = superseded.filter(({ newest }) => newest.delegation_id === one.delegation_id);
    const produced = [one, ...older.map((pair) => pair.older)].flatMap(({ produces }) => produces);
    const names = produced.filter((name) => !delegationIds.has(name) && !isEngineInput(name));
    for (const detailId of [one.delegation_id, ...names]) {
      // Deleted first, so that a newer entry is last in order.
      next.delete(detailId);
      next.set(detailId, createEntry(detailId, one, texts));
    }
  }
  return [...next.values()];
}

function createEntry(detailId: string, one: Deliverable, texts: RecordTexts): DetailEntry {
  const output = textOf(texts.outputs, one.output_ref);
  const { files = [] } = one;
  return {
    detail_id: detailId,
    title: one.title,
    summary: cutText(oneLine(output.compact_md), summaryCharsMax),
    tags: [`wave-${waveNumber(one.wave)}`, one.agent_id, ...one.produces],
    size: files.reduce((sum, { bytes }) => sum + bytes, Buffer.byteLength(output.detailed_md)),
    output_ref: one.output_ref,
    ...(files.length > 0 && { files }),
  };
}
