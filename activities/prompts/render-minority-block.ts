import type { Dissent } from '../../contracts/spec.ts';
import type { Dispute } from '../../core/pool/find-disputes.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, listBlock } from '../text/blocks.ts';

/** What the members of triads proposed and held against it, for the conflicts that the planner has to resolve. */
export async function renderMinorityBlock(
  store: ArtifactStore,
  disputes: readonly Dispute[],
): Promise<string> {
  const reports = await Promise.all(
    disputes.flatMap(({ conflict, dissent }) =>
      dissent.map(async (one) => ({
        conflict: conflict.conflict_id,
        ...(await describeDissent(store, one)),
      })),
    ),
  );
  return listBlock('minority_reports', reports, blockBytesMax.minority_reports);
}

async function describeDissent(
  store: ArtifactStore,
  { claim_id, member, about, proposal_ref, dispute_ref, positions }: Dissent,
): Promise<Record<string, unknown>> {
  const { minority_proposal, minority_reason } = blockBytesMax;
  return {
    claim_id,
    member,
    about,
    proposal: cutAtLine(await store.getText(proposal_ref), minority_proposal),
    ...(dispute_ref !== undefined && {
      contradiction: cutAtLine(await store.getText(dispute_ref), minority_reason),
    }),
    positions: await Promise.all(
      positions.map(async (position) => ({
        member: position.member,
        decision: position.decision,
        reason:
          position.reason_ref === null
            ? null
            : cutAtLine(await store.getText(position.reason_ref), minority_reason),
      })),
    ),
  };
}
