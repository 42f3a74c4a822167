import type { Activities } from '../../contracts/activity-types.ts';
import { whileCurrent } from '../attempt/while-current.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import type { TeamDeps } from './read-team.ts';
import { openTeam, rewriteTask } from './read-team.ts';
import { planTasks } from './plan-tasks.ts';
import { recordTeam } from './record-team.ts';

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
