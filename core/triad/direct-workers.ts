/** Takes an orchestrator's call that gives a worker a turn. */
import type { TurnBrief } from '../../contracts/member-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { StateCall } from '../../contracts/state-call.ts';
import { findSection } from '../spec/read-spec.ts';
import type { SpecEvent } from '../spec/spec-events.ts';
import { listNames } from '../text/list-names.ts';
import { answer, record, refuse } from './judged-call.ts';
import type { JudgedCall, TurnWork } from './judged-call.ts';

export function assignTurn(
  brief: TurnBrief,
  work: TurnWork,
  call: Extract<StateCall, { readonly tool: 'assign_turn' }>,
): JudgedCall {
  const { member, instruction_ref } = call;
  const fault = findAssignFault(brief, work, member);
  if (fault !== null) return refuse(work, fault);
  const assignments = [...work.assignments, { member, instruction_ref }];
  const text = `${member} gets its turn when yours is over. You are told what comes of it.`;
  return answer({ ...work, assignments }, text);
}

function findAssignFault(brief: TurnBrief, work: TurnWork, member: string): OutputFault | null {
  const workers = brief.team.filter(({ role }) => role === 'worker').map(({ name }) => name);
  if (!workers.includes(member)) {
    const reason = `"${member}" is no worker of this triad`;
    return { path: 'member', reason, hint: `Try: one of ${listNames(workers)}` };
  }
  if (brief.round > brief.rounds_max) {
    const reason = `all ${brief.rounds_max} rounds of this phase were given out`;
    return { path: 'member', reason, hint: 'Try: end with what there is' };
  }
  const isBusy = brief.at_work.includes(member);
  if (!isBusy && !work.assignments.some((one) => one.member === member)) return null;
  const reason = isBusy ? `${member} is at work` : `${member} has its turn already`;
  return {
    path: 'member',
    reason,
    hint: 'Try: wait for its result, or give the turn to the other',
  };
}

export function openNegotiation(
  brief: TurnBrief,
  work: TurnWork,
  { section_id, reason_ref }: Extract<StateCall, { readonly tool: 'open_negotiation' }>,
): JudgedCall {
  const directs = brief.member.role === 'orchestrator';
  // An orchestrator opens the next round itself; a critic speaks within the present one.
  if (directs ? brief.round > brief.rounds_max : brief.round >= brief.rounds_max) {
    const reason = `no round is left in which it could be answered`;
    return refuse(work, {
      path: 'section_id',
      reason,
      hint: 'Try: say in your text what contradicts what',
    });
  }
  const version = findSection(work.spec, section_id)?.version ?? 0;
  const event: SpecEvent = {
    type: 'dispute',
    by: brief.member.name,
    section_id,
    version,
    reason_ref,
  };
  const next = directs
    ? 'Assign a turn to who has to answer it.'
    : 'Answer it too: REVISE with the mended text, or HOLD. The others answer in the next round.';
  return record(work, event, (spec) => ({
    text: `Opened: ${spec.claims.at(-1)?.claim_id ?? section_id}. ${next}`,
  }));
}
