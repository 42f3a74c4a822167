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
import type { Claim, SectionState, SpecState } from '../../contracts/spec.ts';
import { answerClaim } from './answer-claim.ts';
import { findClaim, findSection, isOpen, outputClaimId, ownClaimId } from './read-spec.ts';
import type { ClaimEvent, DisputeEvent, EditEvent, SpecEvent } from './spec-events.ts';
import { refuse, refuseMember, refuseSection, stale, take } from './spec-result.ts';
import type { SpecStep } from './spec-result.ts';

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
