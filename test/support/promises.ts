import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { eventTypes, fetchHistories, historyJson, replayAll } from './histories.ts';
import type { StoredHistory } from './histories.ts';
import type { Stage } from './stage.ts';

/** What a fault may leave behind, where its row allows more than nothing. */
export interface Allowance {
  /** A killed worker may have stored a reply that it could not report. */
  readonly orphans?: boolean;
  /** Who was terminated told nobody what it had used. */
  readonly lostUsage?: boolean;
}

/**
 * The promises that every fault test checks at its end: no failed workflow task, every history replays, no child outlives
 * its run, every artifact that is named exists and fits its hash, none lies about unnamed, and the usage of the run is
 * the sum of its calls.
 *
 * Other runs of the same home may have named an artifact too, so tests may share a stage.
 */
export async function expectPromisesKept(
  stage: Pick<Stage, 'client' | 'home'> & Partial<Pick<Stage, 'started'>>,
  rootId: string,
  allowance: Allowance = {},
): Promise<StoredHistory[]> {
  const histories = await fetchHistories(stage.client, rootId);
  for (const stored of histories) {
    const failed = failedTasks(stored);
    expect({ workflow: stored.workflowId, failed }).toEqual({
      workflow: stored.workflowId,
      failed: [],
    });
  }
  await replayAll(histories);
  expectChildrenEnded(histories);
  // Other runs of the same stage have their artifacts in the same home.
  const others = [...new Set(stage.started)].filter((id) => id !== rootId);
  const ofOthers = await Promise.all(others.map((id) => fetchHistories(stage.client, id)));
  expectArtifactsWhole(stage.home, [...histories, ...ofOthers.flat()], allowance);
  if (allowance.lostUsage !== true) expectUsageAddsUp(histories);
  return histories;
}

/**
 * Causes of failed workflow tasks. A message that comes while a workflow ends is none: the server gives the task back,
 * so that the message is seen before the end.
 */
function failedTasks(stored: StoredHistory): unknown[] {
  return (historyJson(stored.history).events ?? [])
    .filter(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_FAILED')
    .map((event) => event['workflowTaskFailedEventAttributes'])
    .filter((failed) => !JSON.stringify(failed).includes('CAUSE_UNHANDLED_COMMAND'));
}

/** An ended run has left nothing at work. */
function expectChildrenEnded(histories: readonly StoredHistory[]): void {
  const [root] = histories;
  if (root === undefined || !hasEnded(root)) return;
  const atWork = histories.filter((stored) => !hasEnded(stored));
  expect(atWork.map(({ workflowId }) => workflowId)).toEqual([]);
}

function hasEnded(stored: StoredHistory): boolean {
  return /^EVENT_TYPE_WORKFLOW_EXECUTION_(?:COMPLETED|FAILED|CANCELED|TERMINATED|TIMED_OUT|CONTINUED_AS_NEW)$/.test(
    eventTypes(stored).at(-1) ?? '',
  );
}

const refPattern = /\b[0-9a-f]{64}\b/g;

function expectArtifactsWhole(
  home: string,
  histories: readonly StoredHistory[],
  { orphans = false }: Allowance,
): void {
  const objects = readObjects(home);
  for (const [ref, bytes] of objects)
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(ref);
  const reached = new Set<string>();
  const queue = histories.flatMap(({ history }) => refsIn(payloadTexts(history)));
  queue.push(...refsIn(readIndex(home)));
  const missing: string[] = [];
  for (let ref = queue.pop(); ref !== undefined; ref = queue.pop()) {
    if (reached.has(ref)) continue;
    reached.add(ref);
    const bytes = objects.get(ref);
    if (bytes === undefined) missing.push(ref);
    else queue.push(...refsIn([bytes.toString('utf8')]));
  }
  expect(missing).toEqual([]);
  if (orphans) return;
  const unnamed = [...objects.keys()].filter((ref) => !reached.has(ref));
  expect(unnamed.map((ref) => objects.get(ref)?.toString('utf8').slice(0, 200))).toEqual([]);
}

function readObjects(home: string): Map<string, Buffer> {
  const root = join(home, 'objects');
  const objects = new Map<string, Buffer>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.tmp')) continue;
    const path = join(entry.parentPath, entry.name);
    objects.set(path.slice(root.length).replaceAll('/', ''), readFileSync(path));
  }
  return objects;
}

function readIndex(home: string): string[] {
  return readdirSync(join(home, 'refs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

function refsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.match(refPattern) ?? []);
}

/** Every payload of a history as text. */
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

/** The root's result must hold exactly what its model calls reported. */
function expectUsageAddsUp(histories: readonly StoredHistory[]): void {
  const result = resultOf(histories[0]);
  if (result === null) return;
  const total = histories
    .flatMap(usagesOfCalls)
    .reduce((sum, usage) => addUsage(sum, usage), noUsage);
  expect(result.usage).toEqual(total);
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

/** Activities that report what calls were billed. */
const tellUsage = new Set(['modelTurn', 'recallSpent']);

type HistoryEvent = NonNullable<StoredHistory['history']['events']>[number];

/** What an ended activity told: its result, or the details of its failure. */
function toldBy(event: HistoryEvent): Uint8Array | null | undefined {
  const failure = event.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo;
  const result = event.activityTaskCompletedEventAttributes?.result;
  return (result ?? failure?.details)?.payloads?.[0]?.data;
}

function usagesIn(data: Uint8Array | null | undefined): Usage[] {
  const told: { usage?: Usage | null } | null = data ? JSON.parse(textOf(data)) : null;
  return told?.usage ? [told.usage] : [];
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
