import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect, isDeepStrictEqual } from 'node:util';
import { storedRecords } from './stored-records.ts';
import { toRunDirectory, treePaths } from '../../activities/projection/paths.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import { isRecord } from '../../core/json.ts';
import { restoreUsage } from '../../core/turns/turn-call.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { takenAhead } from '../../workflows/shared/task-order.ts';
import { createReplayer, fetchHistories, historyJson, isContinuation, isEnd } from './histories.ts';
import type { EventJson, HistoryEvent, Replayer, StoredHistory } from './histories.ts';
import type { Stage } from './stage.ts';
import { sumTeamUsage } from '../../core/team/team-state.ts';

/** Traces that a fault may leave behind, where its row allows more than nothing. */
export interface Allowance {
  /** A killed worker, or an activity of a stopped run, may have stored what it could not report. */
  readonly orphans?: boolean;
  /** A terminated run has reported its usage to no other one. */
  readonly lostUsage?: boolean;
  /**
   * Queries were asked while workers were replaced or stood still: `workflows/shared/task-order.ts` may have refused the task that
   * came after one, or Core may have lost its place (decision 27).
   */
  readonly refusedTasks?: boolean;
}

/** Stage on which a run was played. `started` names every run of the home: each has its artifacts there. */
export type PlayedStage = Pick<Stage, 'client' | 'home'> & Partial<Pick<Stage, 'started'>>;

/**
 * Checks the promises that hold for every run whatever happened to it: no failed workflow task, every history replays,
 * no child outlives its run, every artifact that is named exists and matches its hash, no artifact is unnamed, the
 * usage of the run is the sum of its calls, and that of a team the sum of its leader's and its members'.
 *
 * @param rootIds one run, or several of one home, whose artifacts are read once for all of them.
 * @param replayer If undefined, one for each run.
 * @returns one line for each breach, with its place, and the histories of the runs.
 */
export async function findBrokenPromises(
  stage: PlayedStage,
  rootIds: string | readonly string[],
  allowance: Allowance = {},
  replayer?: Replayer,
): Promise<{ readonly broken: readonly string[]; readonly histories: StoredHistory[] }> {
  const fetchAll = (ids: readonly string[]): Promise<StoredHistory[][]> =>
    Promise.all(ids.map((id) => fetchHistories(stage.client, id)));
  const roots = [rootIds].flat();
  const runs = await fetchAll(roots);
  const found = await Promise.all(
    runs.map(async (histories) => [
      ...histories.flatMap((stored) => findFailedTasks(stored, allowance)),
      ...(await findReplayFault(histories, replayer)),
      ...findOutlivers(histories),
      ...findBrokenTeams(stage.home, histories),
      ...(allowance.lostUsage === true ? [] : findBrokenUsage(histories)),
    ]),
  );
  // Other runs of the same stage have their artifacts in the same home.
  const others = [...new Set(stage.started)].filter((id) => !roots.includes(id));
  const histories = runs.flat();
  const named = [...histories, ...(await fetchAll(others)).flat()];
  const ofHome = await findBrokenArtifacts(stage.home, named, allowance.orphans === true);
  return { broken: [...found.flat(), ...ofHome], histories };
}

/**
 * Lists failed workflow tasks with their causes. A message that comes while a workflow ends is none: the server retries
 * the task, so that the message is seen before the end. Neither is one that a termination interrupts, nor the task to
 * which a run was reset, nor one that is refused because a query came first, where a task was lost.
 */
export function findFailedTasks(stored: StoredHistory, allowance: Allowance): string[] {
  // Few histories have one, and to write a history as JSON takes longer than to replay it.
  if (!stored.history.events?.some((event) => event.workflowTaskFailedEventAttributes)) return [];
  const events = historyJson(stored.history).events ?? [];
  const lostTask = events.some(({ eventType }) => eventType.endsWith('WORKFLOW_TASK_TIMED_OUT'));
  return events.flatMap((event, at) => {
    if (!event.eventType.endsWith('WORKFLOW_TASK_FAILED')) return [];
    const failed = JSON.stringify(event['workflowTaskFailedEventAttributes']);
    if (/CAUSE_(?:UNHANDLED_COMMAND|FORCE_CLOSE_COMMAND|RESET_WORKFLOW)/.test(failed)) return [];
    const maySkip = allowance.refusedTasks === true;
    if ((maySkip || lostTask) && failed.includes(takenAhead)) return [];
    if (maySkip && coreLostPlace.test(failed) && isDoneAgain(events.slice(at + 1))) return [];
    return [`${stored.workflowId}: a workflow task failed: ${failed}`];
  });
}

/** Failure of Core where a query has shown it events that the server then replaced. It drops the workflow. */
const coreLostPlace =
  /CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE.*ActivityMachine in state ScheduledEventRecorded says the transition is invalid/;

/** Returns true when the next end of a workflow task is a completion. */
function isDoneAgain(events: readonly EventJson[]): boolean {
  const end = events.find(({ eventType }) => /WORKFLOW_TASK_(COMPLETED|FAILED)$/.test(eventType));
  return end?.eventType.endsWith('COMPLETED') ?? false;
}

/** The replay at work by a worker of its own. When that ends, the SDK may take the native runtime from another that begins. */
let ownReplay: Promise<unknown> = Promise.resolve();

function findReplayFault(
  histories: readonly StoredHistory[],
  shared: Replayer | undefined,
): Promise<string[]> {
  if (shared !== undefined) return replayWith(histories, shared);
  const found = ownReplay.then(() => replayWith(histories, undefined));
  ownReplay = found;
  return found;
}

async function replayWith(
  histories: readonly StoredHistory[],
  shared: Replayer | undefined,
): Promise<string[]> {
  const replayer = shared ?? createReplayer();
  try {
    await replayer.replayAll(histories);
    return [];
  } catch (error) {
    // The error says which part of the code differs from which event.
    return [`replay: ${inspect(error)}`];
  } finally {
    if (shared === undefined) await replayer.close();
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

function hasEnded({ workflowId, history }: StoredHistory): boolean {
  const event = history.events?.at(-1);
  if (event === undefined) throw new Error(`The history of ${workflowId} is empty.`);
  return isEnd({ event }) || isContinuation({ event });
}

/** Any hash except that of a file outside the run, which is labelled as such. */
const refPattern = /(?<!SHA-256 |"sha256":")\b[0-9a-f]{64}\b/g;

/**
 * Finds errors in the artifacts of a home: bytes that do not match their address, addresses that are named without an
 * artifact behind them, and artifacts that nothing names.
 *
 * @param histories of every run of the home: what they name is expected.
 * @param orphans true when an unnamed artifact is allowed.
 */
async function findBrokenArtifacts(
  home: string,
  histories: readonly StoredHistory[],
  orphans: boolean,
): Promise<string[]> {
  // Names before objects: another run of the home may write while this one is checked.
  const queue = histories.flatMap(({ history }) => refsIn(payloadTexts(history)));
  queue.push(...refsIn(readIndex(home)));
  const objects = await readObjects(home);
  const torn = [...objects]
    .filter(([, { isWhole }]) => !isWhole)
    .map(([ref]) => `artifact ${ref}: its bytes have another hash`);
  const reached = new Set<string>();
  const missing: string[] = [];
  for (let ref = queue.pop(); ref !== undefined; ref = queue.pop()) {
    if (reached.has(ref)) continue;
    reached.add(ref);
    const object = objects.get(ref);
    if (object === undefined) missing.push(`artifact ${ref}: named, and missing`);
    else queue.push(...refsIn([object.body.toString('utf8')]));
  }
  if (orphans) return [...torn, ...missing];
  const unnamed = [...objects]
    .filter(([ref]) => !reached.has(ref))
    .map(
      ([ref, { body }]) =>
        `artifact ${ref}: nothing names it: ${body.toString('utf8').slice(0, 200)}`,
    );
  return [...torn, ...missing, ...unnamed];
}

interface StoredObject {
  readonly body: Buffer;
  /** Whether its address is the hash of its bytes. */
  readonly isWhole: boolean;
}

/** Reads all artifacts; of two copies, the whole one counts, as for a reader. */
async function readObjects(home: string): Promise<Map<string, StoredObject>> {
  const objects = new Map<string, StoredObject>();
  for (const { key, attempt, body } of await storedRecords(home)) {
    if (attempt !== 0 || objects.get(key)?.isWhole === true) continue;
    const isWhole = createHash('sha256').update(body).digest('hex') === key;
    objects.set(key, { body, isWhole });
  }
  return objects;
}

/** Reads the indexes of runs and of research. A home without a design has only the first. */
function readIndex(home: string): string[] {
  return ['refs', 'research']
    .map((folder) => join(home, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

function refsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.match(refPattern) ?? []);
}

/** Returns every payload of a history as text. */
function payloadTexts(history: unknown): string[] {
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('utf8'));
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(history);
  return texts;
}

type DoneByTeam = DelegationOutcome & {
  readonly executor: { readonly kind: 'team'; readonly work: TeamOutcome };
};

/**
 * Reports a team whose usage differs from that of its leader and its members, and one that ended without a file. The usage of
 * a verified delegation includes its verifiers.
 */
export function findBrokenTeams(home: string, histories: readonly StoredHistory[]): string[] {
  const [root] = histories;
  if (root === undefined) return [];
  const folder = join(home, toRunDirectory(root.workflowId));
  const outcomes = histories.flatMap(({ history }) => outcomesIn(payloadTexts(history)));
  return outcomes.flatMap(({ delegation_id, usage, executor, verification }) => [
    ...(verification !== undefined || isDeepStrictEqual(sumTeamUsage(executor.work), usage)
      ? []
      : [`usage: the team of ${delegation_id} says other than its leader and members`]),
    ...(existsSync(join(folder, treePaths.team(delegation_id)))
      ? []
      : [`files: the team of ${delegation_id} has none`]),
  ]);
}

function outcomesIn(texts: readonly string[]): DoneByTeam[] {
  const found: DoneByTeam[] = [];
  const visit = (value: unknown): void => {
    if (isDoneByTeam(value)) found.push(value);
    if (Array.isArray(value)) value.forEach(visit);
    else if (isRecord(value)) Object.values(value).forEach(visit);
  };
  for (const text of texts.filter((one) => one.includes('"report_ref"'))) visit(JSON.parse(text));
  return found;
}

/**
 * Returns true for a delegation of a team. A task of a team is none: it has the usage of all its attempts, and the team
 * of the last.
 */
function isDoneByTeam(value: unknown): value is DoneByTeam {
  if (!isRecord(value) || !('criteria_unmet' in value)) return false;
  const { executor } = value;
  return isRecord(executor) && executor['kind'] === 'team' && isRecord(executor['work']);
}

/**
 * Reports a root whose result does not contain exactly the usage that its model calls reported. Empty before it has
 * ended.
 */
function findBrokenUsage(histories: readonly StoredHistory[]): string[] {
  const result = resultOf(histories[0]);
  if (result === null) return [];
  const total = histories
    .flatMap(usagesOfCalls)
    .reduce((sum, usage) => addUsage(sum, usage), noUsage);
  if (isDeepStrictEqual(result.usage, total)) return [];
  const told = JSON.stringify(result.usage);
  return [`usage: the result says ${told}, its calls told ${JSON.stringify(total)}`];
}

function usagesOfCalls({ history }: StoredHistory): Usage[] {
  const events = history.events ?? [];
  const types = new Map(
    events.map((event) => [
      String(event.eventId),
      event.activityTaskScheduledEventAttributes?.activityType?.name,
    ]),
  );
  return events.flatMap((event) => {
    const ended =
      event.activityTaskFailedEventAttributes ?? event.activityTaskCompletedEventAttributes;
    const type = types.get(String(ended?.scheduledEventId)) ?? '';
    return tellUsage.has(type) ? usagesIn(toldBy(event)) : [];
  });
}

/** Activities that report the usage billed for calls. */
const tellUsage = new Set(['modelTurn', 'recallSpent']);

/** Returns what an ended activity reported: its result, or the details of its failure. */
function toldBy(event: HistoryEvent): Uint8Array | null | undefined {
  const failure = event.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo;
  const result = event.activityTaskCompletedEventAttributes?.result;
  return (result ?? failure?.details)?.payloads?.[0]?.data;
}

function usagesIn(data: Uint8Array | null | undefined): Usage[] {
  const told: { usage?: Partial<Usage> | null } | null = data ? JSON.parse(textOf(data)) : null;
  return told?.usage ? [restoreUsage(told.usage)] : [];
}

function resultOf(stored: StoredHistory | undefined): { usage: Usage } | null {
  const done = stored?.history.events?.at(-1)?.workflowExecutionCompletedEventAttributes;
  const data = done?.result?.payloads?.[0]?.data;
  if (!data) return null;
  const result: { usage: Usage } = JSON.parse(textOf(data));
  return result;
}

function textOf(data: Uint8Array | null | undefined): string {
  return Buffer.from(data ?? new Uint8Array()).toString('utf8');
}
