/**
 * Calls of the tools that put something into the records of a triad, or read them (seed 001). Decided by the workflow's own
 * state: the model can't hand in another spec.
 *
 * Invariants:
 *   TC1. A tool that the member was not offered is refused, whatever it asks for.
 *   TC2. A refused call leaves everything as it was, and says path, reason and "Try: …".
 *   TC3. An answer to a claim comes back with its decision, the round, the history in short and who takes part.
 *   TC4. A member claims for itself; only an orchestrator claims for others, and never for itself.
 *   TC5. Code is written for a section of the member's own that can take it, and nothing else is.
 *   TC6. A summary names every section: settled ones among the decisions, the others among the open questions.
 *   TC7. Nothing is written after the critic's last look: the turn that gives a dialectic triad's output changes no section.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { StateCall, TriadCall, TurnBrief } from '../../contracts/state-call.ts';
import {
  findClaim,
  findSection,
  findSettled,
  hasOpenClaims,
  ownClaimId,
  describeClaim,
  describeClaims,
} from '../spec/read-spec.ts';
import type { SpecEvent } from '../spec/spec-events.ts';
import { listNames } from '../text/list-names.ts';
import { checkSummary } from './find-open-duties.ts';
import { answer, record, refuse, assignTurn, openNegotiation } from './judged-call.ts';
import type { AnsweredCall, CodeOrder, JudgedCall, TurnWork } from './judged-call.ts';
import { mayWrite } from './roles.ts';
import type { PhaseSummaryOutline } from '../../contracts/spec.ts';

export function openWork(brief: TurnBrief): TurnWork {
  return { spec: brief.spec, events: [], assignments: [], summary: null };
}

/** Returns true for a call that members of a triad may make. */
function isOfTriad(call: StateCall): call is TriadCall {
  return call.tool !== 'delegate_task_to_member' && call.tool !== 'completion_note';
}

export function judgeCall(brief: TurnBrief, work: TurnWork, call: StateCall): JudgedCall {
  if (!isOfTriad(call) || !brief.tools.includes(call.tool)) {
    const reason = `${call.tool} is not for a ${brief.member.role} in ${brief.phase}`;
    return refuse(work, { path: 'tool', reason, hint: `Try: one of ${listNames(brief.tools)}` });
  }
  switch (call.tool) {
    case 'register_claim':
      return registerClaim(brief, work, call);
    case 'negotiate_response':
      return respond(brief, work, call);
    case 'edit_section':
      return editSection(brief, work, call);
    case 'generate_code':
      return orderCode(brief, work, call);
    case 'get_current_claims':
      return answer(work, describeClaims(work.spec, call.section_id));
    case 'get_negotiation_state':
      return getNegotiation(work, call.claim_id);
    case 'assign_turn':
      return assignTurn(brief, work, call);
    case 'open_negotiation':
      return openNegotiation(brief, work, call);
    case 'submit_summary':
      return submitSummary(brief, work, call.summary);
  }
}

/** Takes the code that was written for an order; the answer to the call is the code itself. */
export function takeCode(
  brief: TurnBrief,
  work: TurnWork,
  order: CodeOrder,
  codeRef: Ref,
): AnsweredCall {
  const event = codeEvent(brief, work, order, codeRef);
  return record(work, event, () => ({ text: '', current_ref: codeRef }));
}

function codeEvent(
  { member }: TurnBrief,
  { spec }: TurnWork,
  { section_id, language }: Pick<CodeOrder, 'section_id' | 'language'>,
  codeRef: Ref,
): SpecEvent {
  return {
    type: 'edit',
    member: member.name,
    section_id,
    base_version: findSection(spec, section_id)?.version ?? 0,
    status: 'done',
    text_ref: codeRef,
    language,
  };
}

type Call<T extends StateCall['tool']> = Extract<StateCall, { readonly tool: T }>;

function registerClaim(brief: TurnBrief, work: TurnWork, call: Call<'register_claim'>): JudgedCall {
  const { section_id, proposal_ref, for_member, write_later } = call;
  const { name, role } = brief.member;
  const member = for_member ?? name;
  const fault = findClaimantFault(brief, member);
  if (fault !== null) return refuse(work, fault);
  const event: SpecEvent = {
    type: 'claim',
    member,
    registered_by: name,
    section_id,
    proposal_ref,
    ...(write_later === true && { write_later }),
  };
  const claimId = ownClaimId(section_id, member);
  return record(work, event, (spec) => {
    const rivals = spec.claims.filter(
      (one) => one.section_id === section_id && one.member !== member,
    );
    const told =
      rivals.length === 0
        ? 'No other claim on it is known to you.'
        : `Other claims on it: ${listNames(rivals.map((one) => one.claim_id))}. They will be negotiated.`;
    const whose = role === 'orchestrator' ? ` for ${member}` : '';
    return { text: `Registered ${claimId}${whose}, revision 1. ${told}` };
  });
}

function findClaimantFault({ member, team }: TurnBrief, claimant: string): OutputFault | null {
  const workers = team.filter(({ role }) => mayWrite(role)).map(({ name }) => name);
  if (member.role === 'orchestrator') {
    if (workers.includes(claimant)) return null;
    const reason = 'an orchestrator claims for its workers, not for itself or anybody else';
    return { path: 'for_member', reason, hint: `Try: one of ${listNames(workers)}` };
  }
  if (claimant === member.name) return null;
  const reason = 'only an orchestrator claims for others';
  return { path: 'for_member', reason, hint: 'Try: leave for_member out: the claim is yours' };
}

function respond(brief: TurnBrief, work: TurnWork, call: Call<'negotiate_response'>): JudgedCall {
  const { claim_id, decision, reason_ref, revised_ref } = call;
  const revision = findClaim(work.spec, claim_id)?.revision ?? 0;
  const { name: member } = brief.member;
  const event: SpecEvent = {
    type: 'respond',
    member,
    claim_id,
    revision,
    decision,
    reason_ref,
    revised_ref,
  };
  return record(work, event, (spec) => ({
    text: JSON.stringify({
      decision,
      ...describeClaim(spec, claim_id),
      participants: spec.negotiators,
    }),
  }));
}

function editSection(brief: TurnBrief, work: TurnWork, call: Call<'edit_section'>): JudgedCall {
  const { section_id, base_version, status, text_ref } = call;
  const section = findSection(work.spec, section_id);
  const { name: member } = brief.member;
  const late = findLateFault(brief);
  if (late !== null) return refuse(work, late);
  if (brief.phase === 'execute' && section !== undefined && section.owner === null) {
    const reason = `nobody owns section "${section_id}": it stayed unsettled`;
    return refuse(work, { path: 'section_id', reason, hint: describeOwn(brief, work) });
  }
  const event: SpecEvent = {
    type: 'edit',
    member,
    section_id,
    base_version,
    status,
    text_ref,
    language: null,
  };
  return record(work, event, (spec) => ({
    text: `Section "${section_id}" is at version ${findSection(spec, section_id)?.version ?? 0} now, ${status}.`,
  }));
}

function findLateFault({ type, duties }: TurnBrief): OutputFault | null {
  if (type !== 'dialectic' || !duties.output) return null;
  return {
    path: 'tool',
    reason: 'the sections are final, for the critic would not see another change',
    hint: 'Try: give the output, and say in compact_md or criteria_unmet what is still wrong',
  };
}

function describeOwn({ member }: TurnBrief, { spec }: TurnWork): string {
  const own = spec.sections.filter(({ owner }) => owner === member.name);
  const ids = own.map(({ section_id }) => section_id);
  return ids.length === 0 ? 'Try: go on without it' : `Try: one of yours, ${listNames(ids)}`;
}

function orderCode(brief: TurnBrief, work: TurnWork, call: Call<'generate_code'>): JudgedCall {
  const { section_id, language, instructions_ref } = call;
  const section = findSection(work.spec, section_id);
  const late = findLateFault(brief);
  if (late !== null) return refuse(work, late);
  if (section?.owner !== brief.member.name) {
    const reason = `section "${section_id}" is not yours`;
    return refuse(work, { path: 'section_id', reason, hint: describeOwn(brief, work) });
  }
  // No code is bought that the records would not take.
  const taken = record(work, codeEvent(brief, work, call, instructions_ref), () => ({ text: '' }));
  if (taken.answer.is_error) return taken;
  const proposal_ref = findSettled(work.spec, section_id)?.proposal_ref ?? null;
  const { text_ref } = section;
  const order = { section_id, language, instructions_ref, proposal_ref, text_ref };
  return { type: 'write_code', order };
}

function getNegotiation(work: TurnWork, claimId: string): JudgedCall {
  const claim = describeClaim(work.spec, claimId);
  if (claim === null) {
    const ids = work.spec.claims.map(({ claim_id }) => claim_id);
    const reason = `there is no claim "${claimId}"`;
    return refuse(work, { path: 'claim_id', reason, hint: `Try: one of ${listNames(ids)}` });
  }
  const { negotiators: participants, rounds } = work.spec;
  return answer(work, JSON.stringify({ ...claim, round: rounds + 1, participants }));
}

function submitSummary(brief: TurnBrief, work: TurnWork, summary: PhaseSummaryOutline): JudgedCall {
  const isLast = brief.round >= brief.rounds_max;
  if (brief.phase === 'negotiate' && hasOpenClaims(work.spec) && !isLast) {
    const reason = 'claims are open, and rounds are left to settle them';
    return refuse(work, { path: 'tool', reason, hint: 'Try: only your answers now' });
  }
  if (!brief.duties.summary) {
    const reason = 'it is not time for the summary';
    return refuse(work, { path: 'tool', reason, hint: 'Try: your turn without it' });
  }
  const [first, ...more] = checkSummary(summary, work.spec, brief.phase);
  if (first !== undefined) return refuse(work, [first, ...more]);
  return answer({ ...work, summary }, 'The summary is taken.');
}
