import type { Claim, ClaimResponse, SectionState, SpecState } from '../../contracts/spec.ts';
import { listNames } from '../text/list-names.ts';
import { agreedMembers, findClaim, isOpen } from './read-spec.ts';
import type { RespondEvent } from './spec-events.ts';
import { refuse, refuseMember, stale, take } from './spec-result.ts';
import type { SpecStep } from './spec-result.ts';

/** Applies CONCEDE, REVISE or HOLD (seed 001), and settles the claim when all members agree. */
export function answerClaim(state: SpecState, event: RespondEvent): SpecStep {
  const { claim_id, member, decision, revision } = event;
  const known = findClaim(state, claim_id);
  if (known === undefined) {
    const open = state.claims.filter(isOpen).map((one) => one.claim_id);
    const reason = `there is no claim "${claim_id}"`;
    return refuse(state, 'claim_id', reason, `Try: one of ${listNames(open)}`);
  }
  if (!state.negotiators.includes(member)) return refuseMember(state, 'claim_id', member);
  if (!isOpen(known))
    return stale(state, 'claim_id', `${claim_id} is ${known.state}`, known.proposal_ref);
  if (revision !== known.revision) {
    const reason = `${claim_id} is at revision ${known.revision} now, and you answered ${revision}`;
    return stale(state, 'claim_id', reason, known.proposal_ref);
  }
  if (agreedMembers(known).includes(member)) {
    const reason = `you have agreed to revision ${revision} of ${claim_id} already`;
    return refuse(state, 'claim_id', reason, 'Try: answer the claims that wait for you');
  }
  const round = state.rounds + 1;
  if (
    known.responses.some(
      (one) => one.member === member && one.revision === revision && one.round === round,
    )
  ) {
    const reason = `you have answered revision ${revision} of ${claim_id} in round ${round} already`;
    return refuse(state, 'claim_id', reason, 'Try: wait for the next round');
  }
  if ((decision === 'REVISE') !== (event.revised_ref !== null)) {
    const reason = 'REVISE needs a revised_proposal, CONCEDE and HOLD take none';
    return refuse(
      state,
      'revised_proposal',
      reason,
      'Try: give the whole proposal with your change',
    );
  }
  const { reason_ref, revised_ref } = event;
  const response: ClaimResponse = { member, revision, round, decision, reason_ref };
  const answered: Claim = { ...known, responses: [...known.responses, response] };
  const next: Claim =
    revised_ref === null
      ? answered
      : { ...answered, revision: revision + 1, revised_by: member, proposal_ref: revised_ref };
  const claims = state.claims.map((one) => {
    if (one === known) return next;
    return decision === 'CONCEDE' && givesWay(one, known, member) ? withdraw(one) : one;
  });
  return take(settle({ ...state, claims }, claim_id));
}

/** Returns true for a member's own claim on a section where it concedes another: it is withdrawn. */
function givesWay(one: Claim, conceded: Claim, member: string): boolean {
  return one.member === member && isRival(one, conceded);
}

function isRival(one: Claim, other: Claim): boolean {
  return isOpen(one) && one.section_id === other.section_id && one.about === other.about;
}

function withdraw(one: Claim): Claim {
  return { ...one, state: 'withdrawn' };
}

function settle(state: SpecState, claimId: string): SpecState {
  const settled = findClaim(state, claimId);
  if (settled === undefined || !isOpen(settled)) return state;
  const agreed = agreedMembers(settled);
  if (!state.negotiators.every((member) => agreed.includes(member))) return state;
  return {
    ...state,
    claims: state.claims.map((one) => {
      if (one === settled) return { ...one, state: 'settled' };
      return isRival(one, settled) ? withdraw(one) : one;
    }),
    sections: state.sections.map((section) =>
      section.section_id === settled.section_id ? settleSection(section, settled) : section,
    ),
  };
}

/** Makes the agreed proposal the text of the section, unless the text is written later. */
function settleSection(section: SectionState, settled: Claim): SectionState {
  const { about, member, proposal_ref: text_ref, write_later } = settled;
  const owned = about === 'ownership' ? { ...section, owner: member } : section;
  if (write_later === true || section.text_ref === text_ref) return owned;
  return { ...owned, status: 'done', text_ref, version: section.version + 1 };
}
