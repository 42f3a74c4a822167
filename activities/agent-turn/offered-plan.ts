import { z } from 'zod';
import { Delegation } from '../../contracts/delegation.ts';
import { Slug } from '../../contracts/slug.ts';
import { TeamMember, TeamPlan } from '../../contracts/team.ts';
import type { PlanParts } from '../../contracts/transcript.ts';
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
    .array(
      TeamMember.pick({ id: true, description: true, team_id: true }).extend({
        agent_id: Slug.optional().describe(
          'The agent that it is. Without agent_id and team_id: the agent that is called as its id.',
        ),
      }),
    )
    .optional()
    .describe(TeamPlan.shape.members.description ?? ''),
});

/** A wave plan as the provider is asked for it: with the parts that the run allows. Every one of these is a WavePlan. */
export function offerPlan(parts: PlanParts): z.ZodType {
  const key = JSON.stringify([parts.triads, parts.teams, parts.redoes]);
  const known = offeredPlans.get(key);
  if (known !== undefined) return known;
  const offered = buildPlan(parts);
  offeredPlans.set(key, offered);
  return offered;
}

/** Schemas made so far. What is sent is remembered by the schema it is made of, so each has to be one and the same object. */
const offeredPlans = new Map<string, z.ZodType>();

function buildPlan({ triads, teams, redoes }: PlanParts): z.ZodType {
  // What is provided follows from the known inputs, so a planner is not asked for it.
  const delegation = Delegation.omit({
    provided_inputs: true,
    redoes: true,
    triad: true,
    team: true,
  }).extend({
    agent_id: Slug.describe(
      [
        'The agent that does it, from the registry.',
        ...(triads ? ['With triad: the agent of the member that writes its output.'] : []),
        ...(teams ? ['With team: the one that leads.'] : []),
      ].join(' '),
    ),
    // Not optional, as what can be an empty list: the provider takes few fields that may be left out.
    needs: Delegation.shape.needs.unwrap().describe(Delegation.shape.needs.description ?? ''),
    ...(redoes && { redoes: Delegation.shape.redoes }),
    ...(triads && { triad: Delegation.shape.triad }),
    ...(teams && {
      team: OfferedTeam.optional().describe(Delegation.shape.team.description ?? ''),
    }),
  });
  const { criteria_waived: waived, criteria_met_by_answer: met } = WavePlan.shape;
  return WavePlan.extend({
    criteria_waived: waived.unwrap().describe(waived.description ?? ''),
    criteria_met_by_answer: met.unwrap().describe(met.description ?? ''),
    delegations: z.array(delegation).describe(WavePlan.shape.delegations.description ?? ''),
  });
}
