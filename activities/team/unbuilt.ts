import type { Activities } from '../../contracts/activity-types.ts';

const notBuilt = (): Promise<never> => Promise.reject(new Error('Not built yet.'));

export const unbuilt: Pick<
  Activities,
  | 'openTeam'
  | 'rewriteTask'
  | 'planTasks'
  | 'applyMiddleware'
  | 'recordTeam'
  | 'loadThread'
  | 'saveThread'
> = {
  openTeam: notBuilt,
  rewriteTask: notBuilt,
  planTasks: notBuilt,
  applyMiddleware: notBuilt,
  recordTeam: notBuilt,
  loadThread: notBuilt,
  saveThread: notBuilt,
};
