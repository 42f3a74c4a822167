import type { TeamCall } from '../../../contracts/state-call.ts';
import type { TeamSetup } from '../../../contracts/team-run.ts';
import { openTeamState } from '../../../core/team/team-state.ts';
import type { GivenCall, TeamState } from '../../../core/team/team-state.ts';
import { teamSeat, teamSetup } from '../../support/team-fixtures.ts';

/** A team at the task `design`, with members `ann`, `bob` and `cy` unless it has others. */
export function teamOf(
  over: Partial<TeamSetup> = {},
  from: Partial<Pick<TeamState, 'chain' | 'upstream'>> = {},
): TeamState {
  const members = [teamSeat('ann'), teamSeat('bob'), teamSeat('cy')];
  const setup = teamSetup({ members, allow_parallel: true, ...over });
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
