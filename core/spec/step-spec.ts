/**
 * The spec of a triad: sections, claims on them, answers and edits (seeds 000 and 001). Agreement is what stands here.
 *
 * Invariants:
 *   SE1. Every state takes every event; one that is refused or stale changes nothing and says why.
 *   SE2. A section has one owner at most, and who owns it never changes.
 *   SE3. A claim is settled exactly when every negotiator has agreed to its newest revision; what is settled, withdrawn or
 *        dissent never changes.
 *   SE4. Of two claims on one section one at most is settled; with it the others are withdrawn.
 *   SE5. Every answer has a reason; each negotiator answers a revision once a round.
 *   SE6. A text changes only from the version it was made against, and by one version; a stale edit or answer gets what
 *        stands now.
 *   SE7. After `close` no claim is open.
 *   SE8. An owned section is edited by its owner alone, and not while its output is disputed or after that was settled.
 *   SE9. A settled proposal is the text of its section and the section is done, unless its claim says that it is written later.
 */
import type { Claim, ClaimResponse, SectionState, SpecState } from '../../contracts/spec.ts';
import { listNames } from '../text/list-names.ts';
import {
  agreedMembers,
  findClaim,
  findSection,
  isOpen,
  outputClaimId,
  ownClaimId,
} from './read-spec.ts';
import { refuse, refuseMember, refuseSection, stale, take } from './spec-events.ts';
import type {
  ClaimEvent,
  DisputeEvent,
  EditEvent,
  RespondEvent,
  SpecEvent,
  SpecStep,
} from './spec-events.ts';

export function stepSpec(state: SpecState, event: SpecEvent): SpecStep {
  switch (event.type) {
    case 'claim':
      return claim(state, event);
    case 'respond':
      return answerClaim(state, event);
    case 'edit':
      return edit(state, event);
    case 'dispute':
      return dispute(state, event);
    case 'round_over':
      return take({ ...state, rounds: state.rounds + 1 });
    case 'close':
      return take({
        ...state,
        claims: state.claims.map((one) => (isOpen(one) ? { ...one, state: 'dissent' } : one)),
      });
  }
}

function claim(state: SpecState, event: ClaimEvent): SpecStep {
  const { member, section_id, registered_by, proposal_ref, write_later } = event;
  const section = findSection(state, section_id);
  if (section === undefined) return refuseSection(state, section_id);
  if (!state.negotiators.includes(member)) return refuseMember(state, 'for_member', member);
  if (section.owner !== null) {
    const reason = `section "${section_id}" belongs to ${section.owner}: its claim is settled`;
    return refuse(state, 'section_id', reason, 'Try: a section that nobody owns');
  }
  const claim_id = ownClaimId(section_id, member);
  const known = findClaim(state, claim_id);
  if (known !== undefined) {
    const reason = `the claim ${claim_id} is registered already, and is ${known.state}`;
    const hint = 'Try: leave it; a proposal is changed in the negotiation, by REVISE';
    return refuse(state, 'section_id', reason, hint);
  }
  const made: Claim = {
    claim_id,
    section_id,
    member,
    registered_by,
    about: 'ownership',
    revision: 1,
    revised_by: registered_by,
    proposal_ref,
    ...(write_later === true && { write_later }),
    state: 'open',
    responses: [],
  };
  return take({ ...state, claims: [...state.claims, made] });
}

function edit(state: SpecState, event: EditEvent): SpecStep {
  const { member, section_id, base_version, status, text_ref, language } = event;
  const section = findSection(state, section_id);
  if (section === undefined) return refuseSection(state, section_id);
  if (section.owner !== null && section.owner !== member) {
    const reason = `section "${section_id}" belongs to ${section.owner}, and only its owner writes it`;
    return refuse(state, 'section_id', reason, 'Try: say in your text what you would change');
  }
  if (section.owner === null && status === 'done') {
    const reason = `nobody owns section "${section_id}", so it can't be done`;
    return refuse(state, 'status', reason, 'Try: "in_progress"');
  }
  const disputed = findClaim(state, outputClaimId(section_id));
  if (disputed?.state === 'open' || disputed?.state === 'settled') {
    const reason = `the output of section "${section_id}" is ${disputed.state === 'open' ? 'disputed' : 'agreed'}`;
    return refuse(state, 'section_id', reason, `Try: answer ${disputed.claim_id}, or leave it`);
  }
  if (base_version !== section.version) {
    const reason = `section "${section_id}" is at version ${section.version} now, and you changed ${base_version}`;
    return stale(state, 'base_version', reason, section.text_ref);
  }
  const edited: SectionState = {
    ...section,
    status,
    text_ref,
    language,
    version: section.version + 1,
  };
  return take({
    ...state,
    sections: state.sections.map((one) => (one === section ? edited : one)),
  });
}

function dispute(state: SpecState, event: DisputeEvent): SpecStep {
  const { by, section_id, version, reason_ref } = event;
  const section = findSection(state, section_id);
  if (section === undefined) return refuseSection(state, section_id);
  const { owner, text_ref } = section;
  if (owner === null || text_ref === null || section.status !== 'done') {
    const reason = `section "${section_id}" has no output yet`;
    return refuse(state, 'section_id', reason, 'Try: give its owner a turn first');
  }
  const claim_id = outputClaimId(section_id);
  if (findClaim(state, claim_id) !== undefined) {
    const reason = `the output of section "${section_id}" was disputed already`;
    return refuse(state, 'section_id', reason, 'Try: leave it as the records say');
  }
  if (version !== section.version) {
    const reason = `section "${section_id}" is at version ${section.version} now`;
    return stale(state, 'section_id', reason, text_ref);
  }
  const made: Claim = {
    claim_id,
    section_id,
    member: owner,
    registered_by: by,
    about: 'output',
    revision: 1,
    revised_by: owner,
    proposal_ref: text_ref,
    dispute_ref: reason_ref,
    state: 'open',
    responses: [],
  };
  return take({ ...state, claims: [...state.claims, made] });
}

/** Applies CONCEDE, REVISE or HOLD (seed 001), and settles the claim when all members agree. */
function answerClaim(state: SpecState, event: RespondEvent): SpecStep {
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
    return decision === 'CONCEDE' && one.member === member && isRival(one, known)
      ? withdraw(one)
      : one;
  });
  return take(settle({ ...state, claims }, claim_id));
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
