import { z } from 'zod';
import { Delegation } from '../../contracts/delegation.ts';
import { TeamMember, TeamPlan } from '../../contracts/team.ts';
import { WavePlan } from '../../contracts/wave-plan.ts';

/**
 * What a planner is offered of a team. The provider makes a grammar of the schema and may refuse a large one, and each call
 * of the planner pays for its bytes. So members are agents or teams with a name: a planner that wants a triad gives it a
 * delegation of its own, where its cost is seen. The rest has defaults that a plan seldom has a reason to change. Whoever
 * writes those fields all the same is understood.
 */
const OfferedTeam = TeamPlan.pick({
  team_id: true,
  instructions: true,
  allow_parallel: true,
  timeout: true,
  member_timeout: true,
}).extend({
  members: z
    .array(TeamMember.pick({ id: true, description: true, agent_id: true, team_id: true }))
    .optional()
    .describe(TeamPlan.shape.members.description ?? ''),
});

const OfferedDelegation = Delegation.extend({
  team: OfferedTeam.optional().describe(Delegation.shape.team.description ?? ''),
});

const { criteria_waived: waived, criteria_met_by_answer: met } = WavePlan.shape;

/**
 * A wave plan as the provider is asked for it. Every one of these is a WavePlan. What can be an empty list may not be left
 * out: the provider takes few fields that may.
 */
export const OfferedWavePlan = WavePlan.extend({
  criteria_waived: waived.unwrap().describe(waived.description ?? ''),
  criteria_met_by_answer: met.unwrap().describe(met.description ?? ''),
  delegations: z.array(OfferedDelegation).describe(WavePlan.shape.delegations.description ?? ''),
});
