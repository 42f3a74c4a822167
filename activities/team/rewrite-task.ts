import type { RewriteTaskInput, RewriteTaskResult } from '../../contracts/team-activities.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { titleOf } from '../../core/text/cut-text.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { TeamDeps } from './deps.ts';
import { createInvalidTeam, readTeamTask } from './read-team.ts';

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
