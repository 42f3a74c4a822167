import type { Prompt, TurnInput } from '../../../contracts/model-turn.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { Claim, SectionState, SpecState } from '../../../contracts/spec.ts';
import type { Bench } from './bench.ts';
import { delegationOf, plan } from './bench.ts';
import { noDuties } from '../../../core/triad/phase-state.ts';
import type { TriadMember, TriadPlan } from '../../../contracts/triad.ts';
import type { WavePlan } from '../../../contracts/wave-plan.ts';
import type { TurnBrief } from '../../../contracts/state-call.ts';

/** A dialectic triad on two sections, as a plan has it and as briefs show it. */

export const ann: TriadMember = { name: 'ann', role: 'proposer', agent_id: 'writer' };
export const cid: TriadMember = {
  name: 'cid',
  role: 'critic',
  agent_id: 'reviewer',
  lens: 'security',
};
export const syd: TriadMember = { name: 'syd', role: 'synthesizer', agent_id: 'writer' };

export const triad: TriadPlan = {
  type: 'dialectic',
  reason: 'REASON-OF-THE-PLANNER',
  members: [ann, cid, syd],
  sections: [
    { section_id: 'keys', text: 'How a reading is found.' },
    { section_id: 'tables', text: 'Where readings lie.' },
  ],
};

export const triadDelegation = delegationOf({ executor: { kind: 'triad', ...triad } });
export const triadPlan: WavePlan = { ...plan, delegations: [triadDelegation] };

export const sectionOf = (
  section_id: string,
  changes: Partial<SectionState> = {},
): SectionState => ({
  section_id,
  owner: null,
  status: 'open',
  version: 1,
  text_ref: null,
  language: null,
  ...changes,
});

export const claimOf = (
  claim_id: string,
  proposal_ref: Ref,
  changes: Partial<Claim> = {},
): Claim => ({
  claim_id,
  section_id: 'keys',
  member: 'ann',
  registered_by: 'ann',
  about: 'ownership',
  revision: 1,
  revised_by: 'ann',
  proposal_ref,
  state: 'open',
  responses: [],
  ...changes,
});

export const specOf = (changes: Partial<SpecState> = {}): SpecState => ({
  negotiators: ['ann', 'cid', 'syd'],
  sections: [sectionOf('keys'), sectionOf('tables')],
  claims: [],
  rounds: 0,
  ...changes,
});

export const briefOf = (changes: Partial<TurnBrief> = {}): TurnBrief => ({
  type: 'dialectic',
  phase: 'deliberate',
  member: ann,
  team: [ann, cid, syd].map(({ name, role }) => ({ name, role })),
  round: 1,
  rounds_max: 3,
  summary_ref: null,
  at_work: [],
  instruction_ref: null,
  heard: [],
  returned: [],
  spec: specOf(),
  duties: noDuties,
  tools: ['register_claim', 'get_current_claims'],
  ...changes,
});

export const memberPrompt = (
  bench: Bench,
  brief: TurnBrief,
  changes: Partial<Extract<Prompt, { kind: 'member' }>> = {},
): TurnInput => ({
  type: 'prompt',
  prompt: {
    kind: 'member',
    record_ref: bench.record_ref,
    plan_ref: bench.plan_ref,
    delegation_id: 'write-report',
    upstream: [],
    brief,
    ...changes,
  },
});
