import { isDeepStrictEqual } from 'node:util';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { StoredHistory } from './histories.ts';

/**
 * Reports a root whose result does not contain exactly the usage that its model calls reported. Empty before it has
 * ended.
 */
export function findBrokenUsage(histories: readonly StoredHistory[]): string[] {
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

type HistoryEvent = NonNullable<StoredHistory['history']['events']>[number];

/** Returns what an ended activity reported: its result, or the details of its failure. */
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
