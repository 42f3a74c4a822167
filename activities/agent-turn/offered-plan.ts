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

/** What is provided follows from the known inputs, so a planner is not asked for it. */
const OfferedDelegation = Delegation.omit({ provided_inputs: true }).extend({
  team: OfferedTeam.optional().describe(Delegation.shape.team.description ?? ''),
});

/** A wave plan as the provider is asked for it. Every one of these is a WavePlan. */
export const OfferedWavePlan = WavePlan.extend({
  delegations: z.array(OfferedDelegation).describe(WavePlan.shape.delegations.description ?? ''),
});
