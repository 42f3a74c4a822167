import { WorkflowFailedError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BudgetView, QuestionsView } from '../../contracts/views.ts';
import { eventually } from '../support/eventually.ts';
import { findBrokenPromises } from '../support/find-broken-promises.ts';
import { fetchHistories } from '../support/histories.ts';
import { findMissing, killOfWorker } from './crowd-blows.ts';
import type { CrowdBlow } from './crowd-blows.ts';
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
  /** Runs that are played at least. */
  readonly runs: number;
  /** Others are started until so many processes have died. Default 0. */
  readonly deathsMin?: number;
  /** Milliseconds between the end of a blow and the next one. */
  readonly blowEveryMs: number;
  /**
   * Model calls of all runs between the beginning of a blow and the next one, however fast the machine is. Default 0: the
   * time alone decides.
   */
  readonly blowEveryCalls?: number;
  /** Each is dealt once in some order, then again in another one. Default: kill -9 of a worker. */
  readonly blows?: readonly CrowdBlow[];
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

export const clusterTitle =
  'many runs at once on three workers with a home each, while workers are killed and paused and the servers that they share restart';

/** Keys of the calls that a blow interrupted. */
interface Struck {
  readonly keys: readonly string[];
  readonly isDeath: boolean;
}

/** Many runs at once, which take the defaults for answers, while one blow follows the other. */
export async function playCrowd(crowd: Crowd): Promise<Tally> {
  const { lane, name, runs, deathsMin = 0, openMax, reference } = crowd;
  const { run } = reference;
  const tally = createTally();
  lane.rehearsal.reset();
  lane.rehearsal.script([{ reply: run.replyTo }]);
  await Promise.all(
    Array.from({ length: workerCount - lane.workers.length }, () => lane.startWorker()),
  );
  const ids: string[] = [];
  let ended = 0;
  let isOver = false;
  const striking = dealBlows(crowd, tally, () => isOver);
  const play = async (): Promise<void> => {
    while (ids.length < runs || tally.deaths < deathsMin) {
      const id = `${lane.taskQueue}-${name}-${ids.length + 1}`;
      ids.push(id);
      const isEnded = await playOne(lane, run, id);
      ended += 1;
      if (!isEnded) tally.stuck.push(`${id}: not ended after ${runMsMax / 1_000} s`);
      crowd.onProgress?.(ended, tally.deaths);
    }
  };
  await Promise.all(Array.from({ length: openMax }, play));
  isOver = true;
  const struck = await striking;
  for (const text of lane.takeOwnEnds()) {
    tally.breaches.push({ kind: 'broken promise', run: name, text });
  }
  await lane.collect(ids);
  for (const id of ids) {
    try {
      await judge(crowd, tally, id, struck);
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
  const start = () =>
    client.workflow.start('plannerRun', {
      taskQueue,
      workflowId,
      args: [{ ...input(workflowId, { home, workspaces }), use_defaults: true }],
    });
  const timer = new AbortController();
  const ended = untilEnd(start, () => client.workflow.getHandle(workflowId).result(), timer.signal);
  const late = sleep(runMsMax, false, { signal: timer.signal }).catch(() => false);
  const isEnded = await Promise.race([ended, late]);
  timer.abort();
  return isEnded;
}

/** How long a reply may take to get into the ledger of a starved worker, in milliseconds. */
const recordedMsMax = 15_000;

/** Starts a run and waits for its end, also while the server is away. */
async function untilEnd(
  start: () => Promise<unknown>,
  result: () => Promise<unknown>,
  giveUp: AbortSignal,
): Promise<boolean> {
  let isStarted = false;
  while (!giveUp.aborted) {
    try {
      if (!isStarted) await start();
      isStarted = true;
      await result();
      return true;
    } catch (error) {
      if (error instanceof WorkflowFailedError) return true;
      isStarted ||= error instanceof WorkflowExecutionAlreadyStartedError;
      await sleep(500);
    }
  }
  return false;
}

/** Deals one blow after the other until all runs have ended. A kind that never came is noted as unreached. */
async function dealBlows(
  { lane, random, blowEveryMs, blowEveryCalls = 0, blows = [killOfWorker(lane, random)] }: Crowd,
  tally: Tally,
  isOver: () => boolean,
): Promise<readonly Struck[]> {
  const struck: Struck[] = [];
  const runIds = new Map<string, string>();
  const countCalls = (): number => lane.rehearsal.calls().length;
  let nextAtCalls = blowEveryCalls;
  for (let round: CrowdBlow[] = []; ;) {
    const nextAtMs = Date.now() + blowEveryMs;
    const isDue = (): boolean => Date.now() >= nextAtMs && countCalls() >= nextAtCalls;
    while (!isDue() && !isOver()) await sleep(50);
    if (isOver()) break;
    if (round.length === 0) round = random.shuffle(blows);
    const blow = round.shift();
    if (blow === undefined) break;
    nextAtCalls = countCalls() + blowEveryCalls;
    const { kind, isDeath } = blow;
    const keys = await blow.strike(() => findUnrecorded(lane, runIds));
    struck.push({ keys, isDeath });
    tally.fired[kind] = (tally.fired[kind] ?? 0) + 1;
    if (isDeath) tally.deaths += 1;
    // A supervisor starts another one for a worker that ended by itself.
    while (lane.workers.length < workerCount) await lane.startWorker();
  }
  tally.unreached.push(...findMissing(blows, tally));
  return struck;
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
  struck: readonly Struck[],
): Promise<void> {
  const isOfRun = (key: string): boolean => key.startsWith(`${run}/`);
  const calls = lane.rehearsal
    .calls()
    .filter(({ callKey }) => isOfRun(callKey))
    .map((call) => ({ key: call.callKey, name: callNameOf(call) }));
  const harm = {
    interruptions: struck.map(({ keys }) => keys.filter(isOfRun)),
    paused: struck.flatMap(({ keys, isDeath }) => (isDeath ? [] : keys.filter(isOfRun))),
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
    ? await findBrokenPromises(lane, run, { orphans: true, refusedTasks: true }, lane.replayer)
    : { broken: [], histories: await fetchHistories(lane.client, run) };
  const keys = new Map(calls.map(({ key }) => [key, key]));
  const facts = await readRunFacts({
    histories,
    questions,
    budget,
    stored: lane.stored,
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
