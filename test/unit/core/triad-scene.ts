import type { SpecState } from '../../../contracts/spec.ts';
import type { StateCall, StateToolName, Duties, TurnBrief } from '../../../contracts/state-call.ts';
import type { RespondEvent, SpecEvent } from '../../../core/spec/spec-events.ts';
import { stepSpec } from '../../../core/spec/step-spec.ts';
import { findWriter, listStateTools } from '../../../core/triad/roles.ts';
import { membersOf, setupOf, specOf } from '../../support/triad-play.ts';
import { noDuties } from '../../../core/triad/phase-state.ts';
import type { TriadPhase, TriadType } from '../../../contracts/triad.ts';

/** A good call of each tool. */
export const calls = {
  register_claim: {
    tool: 'register_claim',
    section_id: 'api',
    for_member: null,
    proposal_ref: 'p',
  },
  negotiate_response: {
    tool: 'negotiate_response',
    claim_id: 'api.pro',
    decision: 'CONCEDE',
    reason_ref: 'r',
    revised_ref: null,
  },
  edit_section: {
    tool: 'edit_section',
    section_id: 'api',
    base_version: 1,
    status: 'in_progress',
    text_ref: 't',
  },
  generate_code: {
    tool: 'generate_code',
    section_id: 'api',
    language: 'sql',
    instructions_ref: 'i',
  },
  get_current_claims: { tool: 'get_current_claims', section_id: null },
  get_negotiation_state: { tool: 'get_negotiation_state', claim_id: 'api.pro' },
  assign_turn: { tool: 'assign_turn', member: 'ann', instruction_ref: 'i' },
  open_negotiation: { tool: 'open_negotiation', section_id: 'api', reason_ref: 'r' },
  submit_summary: {
    tool: 'submit_summary',
    summary: { summary_ref: 's', decided: ['api', 'db'], open: [] },
  },
  delegate_task_to_member: {
    tool: 'delegate_task_to_member',
    member_id: 'ann',
    name: null,
    inputs: [],
    task_ref: 't',
    title: 'A task',
    task_hash: 'h',
    mentions: [],
  },
  completion_note: { tool: 'completion_note', entries: [] },
} as const satisfies Readonly<Record<StateToolName, StateCall>>;

/** A member in its turn, after what is in the records. */
export interface Scene {
  readonly type?: TriadType;
  readonly member: string;
  readonly phase: TriadPhase;
  readonly events?: readonly SpecEvent[];
  readonly duties?: Partial<Duties>;
  readonly round?: number;
  readonly at_work?: readonly string[];
}

function specAfter(type: TriadType, events: readonly SpecEvent[]): SpecState {
  return events.reduce(
    (spec, event) => stepSpec(spec, event).state,
    specOf(setupOf(type, ['api', 'db'])),
  );
}

export function briefOf({
  type = 'dialectic',
  member: name,
  phase,
  events = [],
  ...rest
}: Scene): TurnBrief {
  const members = membersOf[type];
  const member = members.find((one) => one.name === name);
  if (member === undefined) throw new Error(`Nobody is called ${name}.`);
  return {
    type,
    phase,
    member,
    team: members,
    round: rest.round ?? 1,
    rounds_max: 3,
    summary_ref: null,
    at_work: rest.at_work ?? [],
    instruction_ref: null,
    heard: [],
    returned: [],
    spec: specAfter(type, events),
    duties: { ...noDuties, ...rest.duties },
    tools: listStateTools(member, phase, findWriter(type, members) === member),
  };
}

/** The owner writes the section when the claim is settled. */
export const claimed = {
  type: 'claim',
  member: 'pro',
  registered_by: 'pro',
  section_id: 'api',
  proposal_ref: 'p',
  write_later: true,
} as const satisfies SpecEvent;

export function conceded(...members: readonly string[]): RespondEvent[] {
  return members.map((member) => ({
    type: 'respond',
    member,
    claim_id: 'api.pro',
    revision: 1,
    decision: 'CONCEDE',
    reason_ref: 'r',
    revised_ref: null,
  }));
}

export const settled: readonly SpecEvent[] = [claimed, ...conceded('con', 'syn')];
