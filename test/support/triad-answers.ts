import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { NegotiationDecision } from '../../contracts/spec.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import type { PhaseReport } from '../../contracts/triad-run.ts';
import type { ShownClaim } from '../../rehearsal/rules/member-prompt.ts';
import type { ReplyFunction, ScriptedToolCall } from '../../rehearsal/script.ts';
import { call, memberReply, readMemberRequest } from './scripted-triad.ts';
import { storedText } from './stored-record.ts';

/** Decision of a member on a claim in a round. */
export type Decide = (claim: ShownClaim, round: number) => NegotiationDecision;

/** Text that a member adds to a proposal that it revises. */
export const revisionNote = 'And what speaks against it.';

/**
 * Creates the turn of a member that answers the claims it is asked about. Where there are none, the rehearsal takes the
 * turn.
 */
export function answers(decide: Decide): ReplyFunction {
  return (request) => {
    const { claims, duties, round, member } = readMemberRequest(request);
    const asked = claims.filter(({ claim_id }) => duties.answer.includes(claim_id));
    if (asked.length === 0) return { pass: true };
    const calls = asked.map((claim) => answerOf(claim, decide(claim, round), member));
    return memberReply({ said: `${member} has decided.`, calls });
  };
}

function answerOf(
  { claim_id, proposal }: ShownClaim,
  decision: NegotiationDecision,
  member: string,
): ScriptedToolCall {
  const reason = `${member} says ${decision} to ${claim_id}.`;
  const revised = decision === 'REVISE' && { revised_proposal: `${proposal}\n\n${revisionNote}` };
  return call('negotiate_response', { claim_id, decision, reason, ...revised });
}

/** Returns ids of the criteria of a delegation, and so of the sections of its triad: one for each peer. */
export function threeOf(id: string): readonly [string, string, string] {
  return [`${id}-a`, `${id}-b`, `${id}-c`];
}

/**
 * Returns the stored report of an attempt at a phase.
 *
 * @param attempt From 1. Default: the last one.
 * @throws when there was none.
 */
export async function phaseReport(
  home: string,
  { triad, delegation_id }: DelegationOutcome,
  phase: TriadPhase,
  attempt?: number,
): Promise<PhaseReport> {
  const found = triad?.phases.findLast(
    (one) => one.phase === phase && (attempt === undefined || one.attempt === attempt),
  );
  if (found === undefined) throw new Error(`${delegation_id} had no such ${phase}.`);
  const report: PhaseReport = JSON.parse(await storedText(home, found.report_ref));
  return report;
}
