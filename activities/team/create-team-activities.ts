import type { Activities } from '../../contracts/activity-types.ts';
import { guardActivity } from '../agent-turn/failures.ts';
import { withHeartbeat } from '../agent-turn/heartbeat.ts';
import type { TeamDeps } from './deps.ts';
import { openTeam } from './open-team.ts';
import { planTasks } from './plan-tasks.ts';
import { rewriteTask } from './rewrite-task.ts';

/** What a team's leader can't do by itself: find out who its members are, and make delegations of their tasks. */
export function createTeamActivities(
  deps: TeamDeps,
): Pick<Activities, 'openTeam' | 'planTasks' | 'rewriteTask'> {
  return {
    openTeam: (input) => guardActivity(() => withHeartbeat(() => openTeam(deps, input))),
    planTasks: (input) => guardActivity(() => withHeartbeat(() => planTasks(deps, input))),
    rewriteTask: (input) => guardActivity(() => withHeartbeat(() => rewriteTask(deps, input))),
  };
}
