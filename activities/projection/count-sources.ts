import type { RunRecord } from '../../contracts/run-record.ts';

/**
 * Counts the sources that agents opened: addresses among what they loaded. A detail of the run itself is no source, and
 * without a tool that opens addresses there is none.
 */
export function countSources({ waves, details }: RunRecord): number {
  const own = new Set(details.map(({ detail_id }) => detail_id));
  const loaded = waves.flatMap(({ outcomes }) => outcomes.flatMap((one) => one.loaded_details));
  return new Set(loaded.filter((id) => /^https?:\/\//.test(id) && !own.has(id))).size;
}
