import { ApplicationFailure } from '@temporalio/common';
import type { Delegation } from '../../contracts/delegation.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type {
  OpenTeamInput,
  OpenTeamResult,
  RewriteTaskInput,
  RewriteTaskResult,
} from '../../contracts/team-run.ts';
import type { NamedTeam, TeamPlan } from '../../contracts/team.ts';
import { findDefinition, resolveTeam, type TeamDefinition } from '../../core/team/resolve-team.ts';
import { titleOf } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import { readPlan, readRegistry } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import type { Worktrees } from '../ports/worktrees.ts';
import { type WavePlan } from '../../contracts/wave-plan.ts';

/** Plan and delegation of a team's task. */
export interface TeamPlace {
  readonly plan_ref: Ref;
  readonly delegation_id: string;
}

export interface TeamTask {
  readonly plan: WavePlan;
  readonly delegation: Delegation & { readonly executor: TeamPlan };
}

/**
 * Reads the delegation of a team, and the plan around it.
 *
 * @throws {ArtifactCorrupt} when the plan is missing or damaged, or has no such delegation for a team.
 */
export async function readTeamTask(
  store: ArtifactStore,
  { plan_ref, delegation_id }: TeamPlace,
): Promise<TeamTask> {
  const plan = await readPlan(store, plan_ref);
  const delegation = plan.delegations.find((one) => one.delegation_id === delegation_id);
  if (delegation?.executor.kind === 'team') {
    return { plan, delegation: { ...delegation, executor: delegation.executor } };
  }
  const found = delegation === undefined ? 'has no delegation' : 'gives no team to';
  const message = `The plan ${plan_ref} ${found} "${delegation_id}".`;
  throw new ArtifactCorrupt(message, { ref: plan_ref, path: plan_ref });
}

/** @throws InvalidInput when the run knows no team of that name. */
export function defineTeam(plan: TeamPlan, teams: readonly NamedTeam[]): TeamDefinition {
  const definition = findDefinition(plan, teams);
  if (definition !== null) return definition;
  const known = listNames(teams.map(({ team_id }) => team_id));
  throw createInvalidTeam(
    `there is no team ${listNames([plan.team_id ?? ''])}. Teams are: ${known}`,
  );
}

/** Creates the failure of a team that can't start or continue. */
export function createInvalidTeam(reason: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`The team can't work: ${reason}.`, 'InvalidInput');
}

/** Most characters of a task. */
const messageCharsMax = 20_000;

/**
 * Replaces a team's message wherever leader and members would read the old one: in the plan, and in a record where it
 * is the goal. Both exist only in the store: the run's own record keeps the typed text. Repeating it gives the same
 * result.
 *
 * @throws InvalidInput when the new message is empty, or too long for a task.
 * @throws {ArtifactCorrupt} when plan, record or message are missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function rewriteTask(
  { store }: Pick<TeamDeps, 'store'>,
  input: RewriteTaskInput,
): Promise<RewriteTaskResult> {
  const [{ plan, delegation }, record, message] = await Promise.all([
    readTeamTask(store, input),
    readRecord(store, input.record_ref),
    store.getText(input.message_ref),
  ]);
  if (message.trim() === '' || message.length > messageCharsMax) throw unfit(message);
  const before = delegation.task_description;
  const rewritten: Delegation = {
    ...delegation,
    task_description: message,
    title: delegation.title === titleOf(before) ? titleOf(message) : delegation.title,
  };
  const delegations = plan.delegations.map((one) =>
    one.delegation_id === rewritten.delegation_id ? rewritten : one,
  );
  const goal: Pick<RunRecord, 'goal' | 'goal_title'> = {
    goal: message,
    goal_title: titleOf(message),
  };
  return {
    plan_ref: await store.put(JSON.stringify({ ...plan, delegations })),
    record_ref: await store.put(
      JSON.stringify(record.goal === before ? { ...record, ...goal } : record),
    ),
  };
}

function unfit(message: string): Error {
  const found =
    message.trim() === '' ? 'nothing is left of it' : `it has ${message.length} characters`;
  return createInvalidTeam(
    `a middleware changed its message, and ${found}; a task has 1 to ${messageCharsMax}`,
  );
}

/**
 * The team of a delegation, as the run knew it when it began. Repeating it gives the same.
 *
 * @throws InvalidInput when the team does not exist.
 * @throws {ArtifactCorrupt} when plan or registry are missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function openTeam(
  { store }: Pick<TeamDeps, 'store'>,
  input: OpenTeamInput,
): Promise<OpenTeamResult> {
  const [{ delegation }, registry] = await Promise.all([
    readTeamTask(store, input),
    readRegistry(store, input.registry_ref),
  ]);
  const definition = defineTeam(delegation.executor, registry.teams);
  return {
    setup: resolveTeam(definition, delegation.agent_id, registry),
    message_ref: await store.put(delegation.task_description),
  };
}

export interface TeamDeps {
  readonly store: ArtifactStore;
  readonly projection: ProjectionWriter;
  readonly worktrees: Pick<Worktrees, 'gatherTasks'>;
}
