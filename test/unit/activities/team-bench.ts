import type { TurnInput } from '../../../contracts/model-turn.ts';
import type { TeamPlan } from '../../../contracts/team.ts';
import type { TeamSeat, TeamSetup } from '../../../contracts/team-run.ts';
import { sayText } from '../../support/scripted-model.ts';
import { teamSeat, teamSetup } from '../../support/team-fixtures.ts';
import { createBench, delegationOf, plan } from './bench.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { triad } from './triad-bench.ts';

/** A team of an agent, a triad and another team, as a plan has it and as its leader is told of it. */

export const teamPlan: TeamPlan = {
  instructions: 'LEAD-WITH-CARE',
  members: [
    { id: 'author', name: 'Ada', agent_id: 'writer' },
    { id: 'design', description: 'OWN-WORDS', triad },
    { id: 'crew', team_id: 'research-crew', enabled: false },
  ],
};

export const seatOf = (member_id: string, changes: Partial<TeamSeat> = {}): TeamSeat =>
  teamSeat(member_id, { agent_id: 'writer', capabilities: ['writing'], ...changes });

export const setupOf = (changes: Partial<TeamSetup> = {}): TeamSetup =>
  teamSetup({
    leader: 'reviewer',
    members: [
      seatOf('author'),
      seatOf('design', {
        executor: { kind: 'triad', type: 'dialectic' },
        capabilities: [],
        priority: 3,
      }),
      seatOf('crew', { executor: { kind: 'team', team_id: 'research-crew' }, enabled: false }),
    ],
    ...changes,
  });

export const teamDelegation = delegationOf({ executor: { kind: 'team', ...teamPlan } });

/** @param options.scripts default: the model says nothing. */
export const openTeamBench = (options: BenchOptions = {}): Promise<Bench> =>
  createBench({
    scripts: [sayText('')],
    plan: { ...plan, delegations: [teamDelegation] },
    ...options,
  });

type LeaderPrompt = Extract<Extract<TurnInput, { type: 'prompt' }>['prompt'], { kind: 'leader' }>;

export const leaderPrompt = (
  { record_ref, plan_ref }: Pick<Bench, 'record_ref' | 'plan_ref'>,
  changes: Partial<LeaderPrompt> = {},
): TurnInput => ({
  type: 'prompt',
  prompt: {
    kind: 'leader',
    record_ref,
    plan_ref,
    delegation_id: 'write-report',
    upstream: [],
    setup: setupOf(),
    history_ref: null,
    ...changes,
  },
});

export const leads = { stage: 'leader', state_tools: ['delegate_task_to_member'] } as const;
