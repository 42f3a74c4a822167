import type { Activities } from '../../contracts/activity-types.ts';
import { guardActivity } from '../attempt/failures.ts';
import type { ThreadDeps } from './deps.ts';
import { loadThread } from './load-thread.ts';
import { saveThread } from './save-thread.ts';

/** The activities that read a team's thread and add to it. */
export function createThreadActivities(
  deps: ThreadDeps,
): Pick<Activities, 'loadThread' | 'saveThread'> {
  return {
    loadThread: (input) => guardActivity(() => loadThread(deps, input)),
    saveThread: (input) => guardActivity(() => saveThread(deps, input)),
  };
}
