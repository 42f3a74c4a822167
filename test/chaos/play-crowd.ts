import { WorkflowNotFoundError } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { workflowTaskTimeoutMs } from '../../contracts/names.ts';
import type { BudgetView, QuestionsView } from '../../contracts/views.ts';
import { eventually } from '../support/eventually.ts';
import { findBrokenPromises } from '../support/find-broken-promises.ts';
import { fetchHistories } from '../support/histories.ts';
import { untilRequestsArrive } from './interruption.ts';
import type { Lane } from './lane.ts';
import type { Prng } from '../support/prng.ts';
import { callersOf, callNameOf, isReview, readCallKey } from './call-name.ts';
import { readRunFacts } from './run-facts.ts';
import { judgeRun } from './run-model.ts';
import type { PlayedReference } from './play-reference.ts';
import type { Breach } from './run-model.ts';
import type { ReferenceRun } from './runs/reference-run.ts';
import { createTally } from './tally.ts';
import type { Tally } from './tally.ts';

export interface Crowd {
  readonly lane: Lane;
  readonly reference: PlayedReference;
  readonly random: Prng;
  readonly name: string;
  readonly runs: number;
  /** Milliseconds between two kills. */
  readonly killEveryMs: number;
  /** Runs that are open at a time. */
  readonly openMax: number;
  readonly onProgress?: (ended: number, deaths: number) => void;
}

const workerCount = 3;
/** A bound for a run that hangs, not a statement about speed. */
const runMsMax = 600_000;
/** The artifacts of the whole home are looked at for each of them. */
const promisesChecked = 10;

export const crowdTitle =
  'many runs at once on three workers, one of which is killed every ten seconds and replaced';

/** Many runs at once, which take the defaults for answers, while one worker after the other dies. */
export async function playCrowd(crowd: Crowd): Promise<Tally> {
  const { lane, name, runs, openMax, reference } = crowd;
  const { run } = reference;
  const tally = createTally();
  lane.rehearsal.reset();
  lane.rehearsal.script([{ reply: run.replyTo }]);
  await Promise.all(
    Array.from({ length: workerCount - lane.workers.length }, () => lane.startWorker()),
  );
  const ids = Array.from(
    { length: runs },
    (_one, index) => `${lane.taskQueue}-${name}-${index + 1}`,
  );
  const ended: string[] = [];
  const killing = killWorkers(crowd, tally, () => ended.length === runs);
  const waiting = [...ids];
  const play = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const isEnded = await playOne(lane, run, id);
      ended.push(id);
      if (!isEnded) tally.stuck.push(`${id}: not ended after ${runMsMax / 1_000} s`);
      crowd.onProgress?.(ended.length, tally.deaths);
    }
  };
  await Promise.all(Array.from({ length: Math.min(openMax, runs) }, play));
  const interruptions = await killing;
  await lane.collect(ids);
  for (const id of ids) {
    try {
      await judge(crowd, tally, id, interruptions);
    } catch (error) {
      const kind = 'campaign failed' as const;
      tally.breaches.push({ kind, run: id, text: `can't be judged: ${String(error)}` });
    }
  }
  return tally;
}

async function playOne(
  { client, taskQueue, home, workspaces }: Lane,
  { input }: ReferenceRun,
  workflowId: string,
): Promise<boolean> {
  const handle = await client.workflow.start('plannerRun', {
    taskQueue,
    workflowId,
    args: [{ ...input(workflowId, { home, workspaces }), use_defaults: true }],
    // As the client starts it.
    workflowTaskTimeout: workflowTaskTimeoutMs,
  });
  const timer = new AbortController();
  const ended = handle.result().then(
    () => true,
    () => true,
  );
  const late = sleep(runMsMax, false, { signal: timer.signal }).catch(() => false);
  const isEnded = await Promise.race([ended, late]);
  timer.abort();
  return isEnded;
}

/** How long a reply may take to get into the ledger of a starved worker, in milliseconds. */
const recordedMsMax = 15_000;

/** @returns for each death the keys of the calls that were not recorded then. */
async function killWorkers(
  { lane, random, killEveryMs }: Crowd,
  tally: Tally,
  isOver: () => boolean,
): Promise<string[][]> {
  const interruptions: string[][] = [];
  const runIds = new Map<string, string>();
  for (;;) {
    const nextAtMs = Date.now() + killEveryMs;
    while (Date.now() < nextAtMs && !isOver()) await sleep(50);
    if (isOver()) return interruptions;
    await lane.killWorker(random.pick(lane.workers));
    tally.deaths += 1;
    tally.fired['worker killed in a crowd'] = tally.deaths;
    // What the dead had sent may still be on its way to the model.
    await untilRequestsArrive();
    interruptions.push(await findUnrecorded(lane, runIds));
    await lane.startWorker();
  }
}

async function findUnrecorded(lane: Lane, runIds: Map<string, string>): Promise<string[]> {
  // All at once and only what is recent: a look that takes seconds finds calls that were made again meanwhile.
  const sinceMs = Date.now() - recordedMsMax;
  const recent = lane.rehearsal
    .calls()
    .filter(({ endedAtMs }) => (endedAtMs ?? sinceMs) >= sinceMs);
  const keys = [...new Set(recent.map(({ callKey }) => callKey))];
  const recorded = await Promise.all(
    keys.map(async (key) => {
      const address = readCallKey(key);
      const { activityId } = address;
      for (const workflowId of callersOf(address)) {
        const runId = runIds.get(workflowId) ?? (await readRunId(lane, workflowId));
        if (runId === null) continue;
        runIds.set(workflowId, runId);
        return lane.isRecorded({ workflowId, runId, activityId });
      }
      return false;
    }),
  );
  return keys.filter((_key, index) => recorded[index] !== true);
}

/** @returns null when there is no such workflow. */
async function readRunId({ client }: Lane, workflowId: string): Promise<string | null> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).runId;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

async function judge(
  { lane, reference }: Crowd,
  tally: Tally,
  run: string,
  interruptions: readonly (readonly string[])[],
): Promise<void> {
  const isOfRun = (key: string): boolean => key.startsWith(`${run}/`);
  const calls = lane.rehearsal
    .calls()
    .filter(({ callKey }) => isOfRun(callKey))
    .map((call) => ({ key: call.callKey, name: callNameOf(call) }));
  const harm = {
    interruptions: interruptions.map((keys) => keys.filter(isOfRun)),
    paused: [],
    modelFaults: [],
    lateAnswers: 0,
    floodSignals: 0,
    isStopped: false,
    isReset: false,
  };
  const handle = lane.client.workflow.getHandle(run);
  const questions = await eventually(`the questions of ${run}`, () =>
    handle.query<QuestionsView>('questions').catch(() => null),
  );
  const { budget } = await handle.query<BudgetView>('budget');
  const isChecked = tally.runs < promisesChecked;
  tally.runs += 1;
  const { broken, histories } = isChecked
    ? await findBrokenPromises(lane, run, { orphans: true })
    : { broken: [], histories: await fetchHistories(lane.client, run) };
  const keys = new Map(calls.map(({ key }) => [key, key]));
  const facts = await readRunFacts({
    histories,
    questions,
    budget,
    home: lane.home,
    keys,
    isReset: false,
    outside: { callLog: lane.callLog, given: null },
  });
  const expected = { ...reference, calls: reference.calls.filter((name) => !isReview(name)) };
  const judged = judgeRun(expected, harm, { facts, calls });
  tally.boughtAgain += judged.boughtAgain;
  tally.boughtAgainMax += judged.boughtAgainMax;
  const promises = broken.map((text): Breach => ({ kind: 'broken promise', text }));
  tally.breaches.push(...[...judged.breaches, ...promises].map((one) => ({ ...one, run })));
}
