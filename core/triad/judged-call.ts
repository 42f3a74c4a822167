import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState, PhaseSummaryOutline } from '../../contracts/spec.ts';
import type { SpecEvent } from '../spec/spec-events.ts';
import { engineLimits } from '../limits.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type { Assignment } from './phase-state.ts';
import type { StateCall, TurnBrief } from '../../contracts/state-call.ts';
import { findSection } from '../spec/read-spec.ts';
import { listNames } from '../text/list-names.ts';

/** Records that a member has made in its turn so far, on top of the spec in its brief. */
export interface TurnWork {
  readonly spec: SpecState;
  readonly events: readonly SpecEvent[];
  readonly assignments: readonly Assignment[];
  readonly summary: PhaseSummaryOutline | null;
}

/** Result of a tool call. */
export interface CallAnswer {
  /** Text for the model. */
  readonly text: string;
  /** Text to append after it; null if there is none. */
  readonly current_ref: Ref | null;
  readonly is_error: boolean;
}

/** A section that is to be written as code before the call is answered. */
export interface CodeOrder {
  readonly section_id: string;
  readonly language: string;
  readonly instructions_ref: Ref;
  /** Proposal of the settled claim; null if there is none. */
  readonly proposal_ref: Ref | null;
  /** Present text of the section; null while it is the plan's. */
  readonly text_ref: Ref | null;
}

export type JudgedCall = AnsweredCall | { readonly type: 'write_code'; readonly order: CodeOrder };

export interface AnsweredCall {
  readonly type: 'answered';
  readonly work: TurnWork;
  readonly answer: CallAnswer;
}

/** Puts an event into the records, or refuses the call with the spec's reason. */
export function record(
  work: TurnWork,
  event: SpecEvent,
  describe: (spec: SpecState) => { readonly text: string; readonly current_ref?: Ref },
): AnsweredCall {
  if (work.events.length >= engineLimits.turnRecordsMax) return refuse(work, tooMany);
  const { state: spec, result } = stepSpec(work.spec, event);
  if (!result.ok) return refuse(work, result.fault, result.current_ref);
  const { text, current_ref = null } = describe(spec);
  const next: TurnWork = { ...work, spec, events: [...work.events, event] };
  return { type: 'answered', work: next, answer: { text, current_ref, is_error: false } };
}

const tooMany: OutputFault = {
  path: 'tool',
  reason: `this turn has made ${engineLimits.turnRecordsMax} records`,
  hint: 'Try: end it with what there is',
};

export function answer(work: TurnWork, text: string): AnsweredCall {
  return { type: 'answered', work, answer: { text, current_ref: null, is_error: false } };
}

export function refuse(
  work: TurnWork,
  faults: OutputFault | readonly [OutputFault, ...OutputFault[]],
  current_ref: Ref | null = null,
): AnsweredCall {
  const shown = current_ref === null ? '' : ' What stands now follows.';
  const lines = [faults].flat().map(({ path, reason, hint }) => `${path}: ${reason}. ${hint}.`);
  const text = `Refused: ${lines.join('\n')}${shown}`;
  return { type: 'answered', work, answer: { text, current_ref, is_error: true } };
}

/** Takes an orchestrator's call that gives a worker a turn. */

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
