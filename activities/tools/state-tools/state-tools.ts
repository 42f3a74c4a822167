import type { StateToolName } from '../../../contracts/state-call.ts';
import {
  getCurrentClaims,
  getNegotiationState,
  negotiateResponse,
  openNegotiation,
  registerClaim,
} from './claim-tools.ts';
import { editSection, generateCode } from './section-tools.ts';
import type { StateTool } from './state-tool.ts';
import { delegateTaskToMember } from './team-tools.ts';
import { assignTurn, submitSummary } from './turn-tools.ts';

/** Every tool that the workflow of a triad or of a team decides, in the order in which they are offered. */
export const stateTools: Readonly<Record<StateToolName, StateTool>> = {
  register_claim: registerClaim,
  negotiate_response: negotiateResponse,
  edit_section: editSection,
  generate_code: generateCode,
  get_current_claims: getCurrentClaims,
  get_negotiation_state: getNegotiationState,
  assign_turn: assignTurn,
  open_negotiation: openNegotiation,
  submit_summary: submitSummary,
  delegate_task_to_member: delegateTaskToMember,
};

export function isStateTool(name: string): name is StateToolName {
  return Object.hasOwn(stateTools, name);
}

/** In one order, whatever the order of the names: the tools come first of all in what the provider caches. */
export function offerStateTools(names: readonly StateToolName[]): StateTool[] {
  const offered = new Set<string>(names);
  return Object.values(stateTools).filter((tool) => offered.has(tool.spec.name));
}
