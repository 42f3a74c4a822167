import type { Claim, ClaimResponse } from '../../contracts/spec.ts';
import type { LoadedPhase } from './load-phase.ts';
import { embedDispute, embedProposal, embedReason } from './embed-text.ts';
import { bullets } from './markdown.ts';

/** The claims on the spec, each with every answer that it got. Null when there is none. */
export function renderPhaseClaims(phase: LoadedPhase): string | null {
  const { claims } = phase.report.spec;
  if (claims.length === 0) return null;
  return ['## Claims', ...claims.map((claim) => renderClaim(claim, phase))].join('\n\n');
}

function renderClaim(claim: Claim, phase: LoadedPhase): string {
  const { claim_id, section_id, member, state, responses } = claim;
  return [
    `### ${claim_id} of ${member} on \`${section_id}\`: ${state}`,
    `*${describeOrigin(claim)}*`,
    embedProposal(claim, phase),
    ...embedDispute(claim, phase),
    bullets(
      responses.map((response) => renderResponse(response, phase)),
      '- Nobody has answered.',
    ),
  ].join('\n\n');
}

function describeOrigin({ about, revision, revised_by, registered_by, member }: Claim): string {
  const registered = registered_by === member ? '' : `, registered by ${registered_by}`;
  const revised = revision === 1 ? '' : `, revision ${revision} by ${revised_by}`;
  return `about the section's ${about}${registered}${revised}`;
}

function renderResponse(response: ClaimResponse, phase: LoadedPhase): string {
  const { round, member, decision, revision, reason_ref } = response;
  const said = embedReason(reason_ref, phase);
  return `Round ${round}, **${member}: ${decision}** (of revision ${revision})\n${said}`;
}
