import type { TeamCall } from '../../../contracts/state-call.ts';
import type { TeamSeat, TeamSetup } from '../../../contracts/team-run.ts';
import { defaultTeam } from '../../../core/limits.ts';
import { openTeamState } from '../../../core/team/team-state.ts';
import type { GivenCall, TeamState } from '../../../core/team/team-state.ts';

export function seat(member_id: string, over: Partial<TeamSeat> = {}): TeamSeat {
  return {
    member_id,
    executor: `agent:${member_id}`,
    kind: 'agent',
    agent_id: member_id,
    capabilities: [],
    priority: 0,
    enabled: true,
    ...over,
  };
}

export function setupOfTeam(
  members: readonly TeamSeat[],
  over: Partial<TeamSetup> = {},
): TeamSetup {
  return {
    team_id: null,
    leader: 'leader',
    model: null,
    members,
    allow_parallel: true,
    ...defaultTeam,
    input_middlewares: [],
    output_middlewares: [],
    guardrails: { input: [], output: [] },
    thread_id: null,
    user_id: null,
    notes: [],
    ...over,
  };
}

/** A team at the task `design`, with members `ann`, `bob` and `cy` unless it has others. */
export function teamOf(
  over: Partial<TeamSetup> = {},
  from: Partial<Pick<TeamState, 'chain' | 'upstream'>> = {},
): TeamState {
  const setup = setupOfTeam([seat('ann'), seat('bob'), seat('cy')], over);
  return openTeamState(setup, { delegation_id: 'design', chain: [], upstream: [], ...from });
}

let calls = 0;

/** A call with a task of its own, unless `task_hash` says otherwise. */
export function callOn(member_id: string, over: Partial<TeamCall> = {}): GivenCall {
  calls += 1;
  return {
    tool_use_id: `toolu_${calls}`,
    call: {
      tool: 'delegate_task_to_member',
      member_id,
      name: null,
      inputs: [],
      task_ref: `task-${calls}`,
      title: 'A task',
      task_hash: `hash-${calls}`,
      mentions: [],
      ...over,
    },
  };
}
