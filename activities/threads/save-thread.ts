import { z } from 'zod';
import type { SaveThreadInput } from '../../contracts/team-activities.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord } from '../../contracts/team-run.ts';
import type { KeptDelegation } from '../../contracts/thread.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import type { ThreadDeps } from './deps.ts';
import { threadLimits } from './thread-limits.ts';

/** Parts of stored artifacts that a thread keeps; no more is read. */
const Output = z.object({ compact_md: z.string() });
const Plan = z.object({
  delegations: z.array(z.object({ delegation_id: z.string(), task_description: z.string() })),
});

type Task = Pick<
  TaskRecord,
  'delegation_id' | 'member_id' | 'title' | 'plan_ref' | 'status' | 'reason' | 'output_ref'
>;
const Report: z.ZodType<{ readonly tasks: readonly Task[] }> = z.object({
  tasks: z.array(
    z.object({
      delegation_id: z.string(),
      member_id: z.string(),
      title: z.string(),
      plan_ref: z.string(),
      status: z.enum(['completed', 'failed', 'timed_out', 'stopped', 'not_started']),
      reason: z.string(),
      output_ref: z.string().nullable(),
    }),
  ),
});

/**
 * Adds a team's message, its answer and its delegations to its thread, once.
 *
 * @throws {ThreadUnavailable} when the thread can't be written.
 * @throws {ArtifactCorrupt} when the report or a text that it names is missing, damaged or of another shape.
 * @throws {StoreUnavailable} when the artifact store can't be read.
 */
export async function saveThread(
  { store, threads }: ThreadDeps,
  input: SaveThreadInput,
): Promise<void> {
  const { thread_id, user_id, run_id, delegation_id, output_ref, now } = input;
  const [message, answer, report] = await Promise.all([
    store.getText(input.message_ref),
    output_ref === null ? null : readCompact(store, output_ref),
    readShape(store, input.report_ref, Report, 'the report of a team'),
  ]);
  const planned = await readPlanned(store, report.tasks);
  const delegations = await Promise.all(
    report.tasks.map((task) => describeTask(store, task, planned, now)),
  );
  await threads.append({
    thread_id,
    user_id,
    run_id,
    delegation_id,
    at: now,
    message: cutText(message, threadLimits.keptCharsMax),
    answer: answer === null ? null : cutText(answer, threadLimits.keptCharsMax),
    delegations,
  });
}

async function readCompact(store: ArtifactStore, ref: Ref): Promise<string> {
  return (await readShape(store, ref, Output, 'an agent output')).compact_md;
}

/** The text of each task, by its delegation_id. Tasks of one reply stand in one plan, which is read once. */
async function readPlanned(
  store: ArtifactStore,
  tasks: readonly Task[],
): Promise<ReadonlyMap<string, string>> {
  const refs = [...new Set(tasks.map(({ plan_ref }) => plan_ref))];
  const plans = await Promise.all(refs.map((ref) => readShape(store, ref, Plan, 'a wave plan')));
  return new Map(
    plans.flatMap(({ delegations }) =>
      delegations.map((one) => [one.delegation_id, one.task_description] as const),
    ),
  );
}

async function describeTask(
  store: ArtifactStore,
  { delegation_id, member_id, title, status, reason, output_ref }: Task,
  planned: ReadonlyMap<string, string>,
  at: number,
): Promise<KeptDelegation> {
  const result = output_ref === null ? reason : await readCompact(store, output_ref);
  return {
    delegation_id,
    member_id,
    title,
    task: cutText(planned.get(delegation_id) ?? title, threadLimits.taskCharsMax),
    status,
    result: cutText(result, threadLimits.resultCharsMax),
    at,
  };
}
