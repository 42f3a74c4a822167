import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { WrittenFile } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { DetailEntry, RunRecord } from '../../contracts/run-record.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { takeEntries } from '../text/blocks.ts';
import { readLastWaveCompact } from './read-reports.ts';
import { countBytes } from '../text/bytes.ts';

/** Id of the planner's newest wave_compact as a detail. It is one only when it is too long for the packet. */
export const waveCompactId = 'wave_compact';

/** Result as shown in the index, without its address, which is internal to the engine. */
export interface IndexEntry extends Omit<DetailEntry, 'output_ref' | 'files'> {
  /** Other names of the same result. Absent when it has none. */
  readonly also?: readonly string[];
}

export interface RecordedDetails {
  /** The entries of the index, oldest first. */
  readonly shown: readonly NamedDetail[];
  /** Number of older ones, for which the index has no room. */
  readonly leftOut: number;
}

/** Lists the newest results of earlier waves, as many as the index has room for. */
export function listRecordedDetails(record: RunRecord): RecordedDetails {
  const details = joinNames(record.details);
  const fitting = takeEntries(details.map(toIndexEntry), blockBytesMax.detail_index, 'last');
  const leftOut = details.length - fitting.length;
  return { shown: details.slice(leftOut), leftOut };
}

/** Result with its other names. */
export interface NamedDetail {
  readonly entry: DetailEntry;
  readonly names: readonly string[];
}

/** Joins the details that are one result: that of a delegation, and the same under each name that it produces. */
export function joinNames(details: readonly DetailEntry[]): readonly NamedDetail[] {
  const joined = new Map<Ref, { readonly entry: DetailEntry; readonly names: string[] }>();
  for (const entry of details) {
    const known = joined.get(entry.output_ref);
    if (known === undefined) joined.set(entry.output_ref, { entry, names: [] });
    else known.names.push(entry.detail_id);
  }
  return [...joined.values()];
}

export function toIndexEntry({ entry, names }: NamedDetail): IndexEntry {
  const { output_ref: _ref, files: _files, tags, ...shown } = entry;
  return {
    ...shown,
    ...(names.length > 0 && { also: names }),
    tags: tags.filter((tag) => !names.includes(tag)),
  };
}

/** The place of a detail's text: an agent's output, or the planner's document itself. */
export type DetailSource =
  | { readonly kind: 'output'; readonly ref: Ref; readonly files: readonly WrittenFile[] }
  | { readonly kind: 'wave_compact'; readonly text: string };

/**
 * Lists what a delegation's packet names, by detail_id: the details of earlier waves and the outputs it depends on in this
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
    ...listRecordedDetails(record).shown.flatMap(({ entry, names }) =>
      [entry.detail_id, ...names].map(
        (name) => [name, outputOf(newer.get(entry.output_ref) ?? entry)] as const,
      ),
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

/** True if a wave_compact does not fit its block. */
export function isTooLong(waveCompact: string): boolean {
  return countBytes(waveCompact) > blockBytesMax.wave_compact;
}
