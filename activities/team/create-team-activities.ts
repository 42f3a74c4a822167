import type { Activities } from '../../contracts/activity-types.ts';
import { whileCurrent } from '../agent-turn/while-current.ts';
import { guardActivity } from '../agent-turn/failures.ts';
import { withHeartbeat } from '../agent-turn/heartbeat.ts';
import type { TeamDeps } from './deps.ts';
import { openTeam } from './open-team.ts';
import { planTasks } from './plan-tasks.ts';
import { recordTeam } from './record-team.ts';
import { rewriteTask } from './rewrite-task.ts';

/**
 * Creates the activities of a team: resolve its members, turn the leader's tasks into delegations, and record its
 * report.
 */
export function createTeamActivities(
  deps: TeamDeps,
): Pick<Activities, 'openTeam' | 'planTasks' | 'recordTeam' | 'rewriteTask'> {
  return {
    openTeam: (input) => guardActivity(() => withHeartbeat(() => openTeam(deps, input))),
    planTasks: (input) => guardActivity(() => withHeartbeat(() => planTasks(deps, input))),
    recordTeam: (input) => whileCurrent((assertCurrent) => recordTeam(deps, input, assertCurrent)),
    rewriteTask: (input) => guardActivity(() => withHeartbeat(() => rewriteTask(deps, input))),
  };
}
