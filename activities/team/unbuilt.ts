import type { Activities } from '../../contracts/activity-types.ts';

const notBuilt = (): Promise<never> => Promise.reject(new Error('Not built yet.'));

export const unbuilt: Pick<Activities, 'loadThread' | 'saveThread'> = {
  loadThread: notBuilt,
  saveThread: notBuilt,
};
