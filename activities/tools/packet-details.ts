import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';

/**
 * What a delegation's packet lists, by detail_id: the details of earlier waves and the outputs it depends on in this
 * one. The index in the prompt and the tool that loads a detail both go by this, so neither knows more than the other.
 *
 * An upstream output wins over a recorded detail of the same id: it is the newer one.
 */
export function listPacketDetails(
  record: RunRecord,
  upstream: readonly UpstreamOutput[],
): ReadonlyMap<string, Ref> {
  return new Map([
    ...record.details.map((entry) => [entry.detail_id, entry.output_ref] as const),
    ...upstream.map((one) => [one.delegation_id, one.output_ref] as const),
  ]);
}
