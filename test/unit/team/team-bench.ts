import { MockActivityEnvironment } from '@temporalio/testing';
import type { ProjectionWriter } from '../../../activities/ports/projection-writer.ts';
import { createTeamActivities } from '../../../activities/team/create-team-activities.ts';
import type { Activities } from '../../../contracts/activity-types.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { NamedTeam } from '../../../contracts/team.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { registryOf } from '../../support/registry-of.ts';
import { runIn } from '../activities/bench.ts';
import { agent } from '../record/harness.ts';
import { delegation, plan } from '../record/samples.ts';

export type TeamActivities = Pick<Activities, 'openTeam' | 'planTasks' | 'rewriteTask'>;

/** A store in which a plan gives `task` to a team, and the activities on top. */
export interface TeamBench extends TeamActivities {
  readonly store: MemoryStore;
  readonly registry_ref: Ref;
  readonly plan_ref: Ref;
  put(value: unknown): Promise<Ref>;
  read(ref: Ref): Promise<unknown>;
}

export interface TeamScene {
  readonly task: Partial<Delegation>;
  readonly teams?: readonly NamedTeam[];
}

/** None of these activities writes a file. */
const nowhere: ProjectionWriter = {
  write: () => Promise.reject(new Error('nothing is written here')),
  remove: () => Promise.reject(new Error('nothing is removed here')),
  rootOf: (runId) => runId,
};

export async function createTeamBench({ task, teams = [] }: TeamScene): Promise<TeamBench> {
  const store = createMemoryStore();
  const put = (value: unknown): Promise<Ref> => store.put(JSON.stringify(value));
  const worktrees = { gatherTasks: () => Promise.reject(new Error('nothing is gathered here')) };
  const bare = createTeamActivities({ store, projection: nowhere, worktrees });
  const agents = ['leader', 'planner', 'researcher', 'writer'].map((id) => agent(id));
  return {
    store,
    put,
    read: async (ref) => JSON.parse(await store.getText(ref)) as unknown,
    registry_ref: await store.put(registryOf(agents, teams)),
    plan_ref: await put(plan(delegation('other'), delegation('task', task))),
    openTeam: (input) => runIn(new MockActivityEnvironment(), bare.openTeam, input),
    planTasks: (input) => runIn(new MockActivityEnvironment(), bare.planTasks, input),
    rewriteTask: (input) => runIn(new MockActivityEnvironment(), bare.rewriteTask, input),
  };
}
