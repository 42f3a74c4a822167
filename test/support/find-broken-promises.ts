import { inspect } from 'node:util';
import { findBrokenArtifacts } from './broken-artifacts.ts';
import { findBrokenTeams } from './broken-teams.ts';
import { findBrokenUsage } from './broken-usage.ts';
import { eventTypes, fetchHistories, historyJson, replayAll } from './histories.ts';
import type { StoredHistory } from './histories.ts';
import type { Stage } from './stage.ts';

/** Traces that a fault may leave behind, where its row allows more than nothing. */
export interface Allowance {
  /** A killed worker may have stored a reply that it could not report. */
  readonly orphans?: boolean;
  /** A terminated run has reported its usage to no other one. */
  readonly lostUsage?: boolean;
}

/** Stage on which a run was played. `started` names every run of the home: each has its artifacts there. */
export type PlayedStage = Pick<Stage, 'client' | 'home'> & Partial<Pick<Stage, 'started'>>;

/**
 * Checks the promises that hold for every run whatever happened to it: no failed workflow task, every history replays,
 * no child outlives its run, every artifact that is named exists and matches its hash, no artifact is unnamed, the
 * usage of the run is the sum of its calls, and that of a team the sum of its leader's and its members'.
 *
 * @returns one line for each breach, with its place, and the histories of the run.
 */
export async function findBrokenPromises(
  stage: PlayedStage,
  rootId: string,
  allowance: Allowance = {},
): Promise<{ readonly broken: readonly string[]; readonly histories: StoredHistory[] }> {
  const histories = await fetchHistories(stage.client, rootId);
  const broken = [
    ...histories.flatMap(findFailedTasks),
    ...(await findReplayFault(histories)),
    ...findOutlivers(histories),
  ];
  // Other runs of the same stage have their artifacts in the same home.
  const others = [...new Set(stage.started)].filter((id) => id !== rootId);
  const ofOthers = await Promise.all(others.map((id) => fetchHistories(stage.client, id)));
  const named = [...histories, ...ofOthers.flat()];
  broken.push(...findBrokenTeams(stage.home, histories));
  broken.push(...(await findBrokenArtifacts(stage.home, named, allowance.orphans === true)));
  if (allowance.lostUsage !== true) broken.push(...findBrokenUsage(histories));
  return { broken, histories };
}

/**
 * Lists failed workflow tasks with their causes. A message that comes while a workflow ends is none: the server retries
 * the task, so that the message is seen before the end.
 */
function findFailedTasks(stored: StoredHistory): string[] {
  return (historyJson(stored.history).events ?? [])
    .filter(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_FAILED')
    .map((event) => JSON.stringify(event['workflowTaskFailedEventAttributes']))
    .filter((failed) => !failed.includes('CAUSE_UNHANDLED_COMMAND'))
    .map((failed) => `${stored.workflowId}: a workflow task failed: ${failed}`);
}

async function findReplayFault(histories: readonly StoredHistory[]): Promise<string[]> {
  try {
    await replayAll(histories);
    return [];
  } catch (error) {
    // The error says which part of the code differs from which event.
    return [`replay: ${inspect(error)}`];
  }
}

/** Finds children that outlive an ended run. */
function findOutlivers(histories: readonly StoredHistory[]): string[] {
  const [root] = histories;
  if (root === undefined || !hasEnded(root)) return [];
  return histories
    .filter((stored) => !hasEnded(stored))
    .map(({ workflowId }) => `${workflowId}: still at work after its run has ended`);
}

function hasEnded(stored: StoredHistory): boolean {
  return /^EVENT_TYPE_WORKFLOW_EXECUTION_(?:COMPLETED|FAILED|CANCELED|TERMINATED|TIMED_OUT|CONTINUED_AS_NEW)$/.test(
    eventTypes(stored).at(-1) ?? '',
  );
}
