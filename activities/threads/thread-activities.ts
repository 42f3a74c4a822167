import { z } from 'zod';
import type { Activities } from '../../contracts/activity-types.ts';
import type { Ref } from '../../contracts/ref.ts';
import type {
  LoadThreadInput,
  LoadThreadResult,
  SaveThreadInput,
  TaskRecord,
} from '../../contracts/team-run.ts';
import type { KeptDelegation, ThreadHistory } from '../../contracts/thread.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { guardActivity } from '../attempt/failures.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import {
  ThreadUnavailable,
  type FoundDelegation,
  type FoundDelegations,
  type ThreadStore,
} from '../ports/thread-store.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { countOf } from '../../core/text/format.ts';

/** Sizes of a thread, and of the part that a leader is given. */
export const threadLimits = {
  /** Messages and answers passed to a leader: the newest ten exchanges (seed 002, phase 3). */
  messagesMax: 20,
  /** Characters of each: twenty of them are 10,000 tokens, less than one upstream result may be. */
  messageCharsMax: 2_000,
  /** Past delegations that the search finds for a new message. The sixth best hardly ever helps. */
  foundMax: 5,
  /** Newest delegations beside them: what a message means by "that" was done last. */
  newestMax: 5,
  /** Characters of a message or an answer that are kept: as long as a message may be typed. */
  keptCharsMax: 20_000,
  /** Characters of a delegation's task, stored and passed on. */
  taskCharsMax: 1_000,
  /** Characters of its result, stored and passed on. */
  resultCharsMax: 2_000,
} as const;

interface ThreadDeps {
  readonly store: ArtifactStore;
  readonly threads: ThreadStore;
}

/** The activities that read a team's thread and add to it. */
export function createThreadActivities(
  deps: ThreadDeps,
): Pick<Activities, 'loadThread' | 'saveThread'> {
  return {
    loadThread: (input) => guardActivity(() => loadThread(deps, input)),
    saveThread: (input) => guardActivity(() => saveThread(deps, input)),
  };
}

/**
 * Loads the part of a thread that its leader is given. Entries of the same run are left out, so that a second attempt
 * gets the same as the first.
 *
 * Messages are useful without the delegations (seed 002, case 4.4): a failed search loses its results, an unreadable
 * delegation only itself; the note says so.
 *
 * @throws {ThreadUnavailable} when the store can't be read at all.
 * @throws {ArtifactCorrupt} when the message is missing or damaged.
 * @throws {StoreUnavailable} when the artifact store can't be read or written.
 */
export async function loadThread(
  { store, threads }: ThreadDeps,
  { thread_id, message_ref, run_id }: LoadThreadInput,
): Promise<LoadThreadResult> {
  const { messagesMax, messageCharsMax, newestMax } = threadLimits;
  const message = await store.getText(message_ref);
  const [kept, found] = await Promise.all([
    threads.load(thread_id, { messages: messagesMax, delegations: newestMax, exceptRun: run_id }),
    findPast(threads, thread_id, message, run_id),
  ]);
  const history: ThreadHistory = {
    messages: kept.messages.map((one) => ({ ...one, text: cutText(one.text, messageCharsMax) })),
    delegations: eachOnce([...(found?.delegations ?? []), ...kept.delegations]),
  };
  const isNew = history.messages.length === 0 && history.delegations.length === 0;
  return {
    history_ref: isNew ? null : await store.put(JSON.stringify(history)),
    note: [
      describeThread(history),
      ...describeLoss(found, kept.unreadable + (found?.unreadable ?? 0)),
    ].join(' '),
  };
}

/** @returns null when the search failed. */
async function findPast(
  threads: ThreadStore,
  threadId: string,
  message: string,
  runId: string,
): Promise<FoundDelegations | null> {
  try {
    return await threads.search(threadId, message, {
      limit: threadLimits.foundMax,
      exceptRun: runId,
    });
  } catch (error) {
    if (error instanceof ThreadUnavailable) return null;
    throw error;
  }
}

function eachOnce(found: readonly FoundDelegation[]): ThreadHistory['delegations'] {
  const byKey = new Map<string, ThreadHistory['delegations'][number]>();
  for (const { key, delegation } of found) if (!byKey.has(key)) byKey.set(key, delegation);
  return [...byKey.values()];
}

/** Describes the thread. A thread that is unexpectedly new has a mistyped id. */
function describeThread({ messages, delegations }: ThreadHistory): string {
  if (messages.length === 0 && delegations.length === 0) return 'The thread is new.';
  const said = countOf(messages.length, 'message or answer', 'messages and answers');
  const done = countOf(delegations.length, 'past delegation', 'past delegations');
  return `Of the thread the leader was told ${said} and ${done}.`;
}

function describeLoss(found: FoundDelegations | null, unreadable: number): string[] {
  if (found === null) return ['Its past delegations could not be searched.'];
  return unreadable === 0
    ? []
    : ['Past messages and delegations that could not be read were left out.'];
}

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
      status: z.enum(['completed', 'failed', 'timed_out', 'stopped', 'skipped']),
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

/** Reads the text of each task, by its delegation_id. Tasks of one reply are in one plan, which is read once. */
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
