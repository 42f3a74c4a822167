import type { Activities } from '../../contracts/activity-types.ts';
import { whileCurrent } from '../attempt/while-current.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import type { TeamDeps } from './deps.ts';
import { openTeam } from './open-team.ts';
import { planTasks } from './plan-tasks.ts';
import { recordTeam } from './record-team.ts';
import { rewriteTask } from './rewrite-task.ts';

/**
 * What a team's leader can't do by itself: find out who its members are, make delegations of their tasks, and keep what
 * its team has come to.
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
