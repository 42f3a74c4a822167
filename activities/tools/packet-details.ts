import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { WrittenFile } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { DetailEntry, RunRecord } from '../../contracts/run-record.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../prompts/block-limits.ts';
import { takeEntries } from '../prompts/blocks.ts';
import { readLastWaveCompact } from '../prompts/read-wave.ts';
import { countBytes } from './cut-bytes.ts';

/** The planner's newest wave_compact as a detail. It is one only when it is too long for the packet. */
export const waveCompactId = 'wave_compact';

/** A detail as the index shows it: where it is stored is the engine's business. */
export type IndexEntry = Omit<DetailEntry, 'output_ref' | 'files'>;

export interface RecordedDetails {
  /** What stands in the index, oldest first. */
  readonly entries: readonly DetailEntry[];
  /** Older ones, for which the index has no room. */
  readonly leftOut: number;
}

/** The newest details of earlier waves, as many as the index has room for. */
export function listRecordedDetails(record: RunRecord): RecordedDetails {
  const shown = takeEntries(record.details.map(toIndexEntry), blockBytesMax.detail_index, 'last');
  const leftOut = record.details.length - shown.length;
  return { entries: record.details.slice(leftOut), leftOut };
}

export function toIndexEntry({
  output_ref: _ref,
  files: _files,
  ...shown
}: DetailEntry): IndexEntry {
  return shown;
}

/** Where the text of a detail is: an agent's output, or the planner's document itself. */
export type DetailSource =
  | { readonly kind: 'output'; readonly ref: Ref; readonly files: readonly WrittenFile[] }
  | { readonly kind: 'wave_compact'; readonly text: string };

/**
 * What a delegation's packet lists, by detail_id: the details of earlier waves and the outputs it depends on in this
 * one. The index in the prompt and the tool that loads a detail both go by this, so neither knows more than the other.
 *
 * An upstream output wins over a recorded detail of the same id, and over the details of what it replaces: it is the newer
 * one. The planner's document wins over both.
 */
export async function listPacketDetails(
  store: ArtifactStore,
  record: RunRecord,
  upstream: readonly UpstreamOutput[],
): Promise<ReadonlyMap<string, DetailSource>> {
  const waveCompact = await readLastWaveCompact(store, record);
  const refOf = new Map(record.details.map((entry) => [entry.detail_id, entry.output_ref]));
  const newer = new Map(
    upstream.flatMap((one) => (one.replaces ?? []).map((id) => [refOf.get(id), one] as const)),
  );
  return new Map([
    ...listRecordedDetails(record).entries.map(
      (entry) => [entry.detail_id, outputOf(newer.get(entry.output_ref) ?? entry)] as const,
    ),
    ...upstream.map((one) => [one.delegation_id, outputOf(one)] as const),
    ...(isTooLong(waveCompact)
      ? [[waveCompactId, { kind: 'wave_compact', text: waveCompact }] as const]
      : []),
  ]);
}

function outputOf({
  output_ref: ref,
  files = [],
}: Pick<DetailEntry, 'output_ref' | 'files'>): DetailSource {
  return { kind: 'output', ref, files };
}

/** Whether a wave_compact does not fit its block. */
export function isTooLong(waveCompact: string): boolean {
  return countBytes(waveCompact) > blockBytesMax.wave_compact;
}
