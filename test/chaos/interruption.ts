import { setTimeout as sleep } from 'node:timers/promises';
import type { Absence } from './recovery.ts';
import type { Strike } from './strike.ts';

/** Cause of an interruption, as the report names it. */
export type InterruptionKind =
  | 'worker killed at a history event'
  | 'worker killed in a model call'
  | 'worker killed between reply and completion'
  | 'worker killed before the answers'
  | 'worker and server killed'
  | 'worker killed at a durable write'
  | 'worker killed while it recovered'
  | 'worker ended by itself'
  | 'disk full'
  | 'flood of signals'
  | 'run stopped'
  | 'run reset'
  | 'worker paused';

/** Milliseconds, and turns of the event loop, in which the model server sees what the kernel holds: it is in this process. */
const turnMs = 10;
const turns = 20;

/** Waits until the requests that a killed worker had sent have arrived, however busy the machine is. */
export async function untilRequestsArrive(): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await sleep(turnMs);
}

/** How long a worker that was woken may take to send the request that it had begun, in milliseconds. */
export const wakesMs = 1_500;

/** A time in which nobody worked, and what it found at work. */
export interface Interruption extends Absence {
  readonly kind: InterruptionKind;
  /** Keys of the calls whose replies were not recorded: they may be made once more. */
  readonly unrecorded: readonly string[];
  /** Whether it cut the HTTP request of a model call off. */
  readonly inCall: boolean;
}

/** Kinds after which no worker was away. */
export const kindsWithoutAbsence: readonly InterruptionKind[] = [
  'disk full',
  'flood of signals',
  'run stopped',
  'run reset',
];

/** Kinds after which nobody has died. */
export const harmlessKinds: readonly InterruptionKind[] = ['worker paused', ...kindsWithoutAbsence];

export function kindOf({ blow, moment }: Strike): InterruptionKind {
  const kinds: Partial<Record<Strike['blow']['type'], InterruptionKind>> = {
    pause: 'worker paused',
    'kill worker and server': 'worker and server killed',
    'die at a write': 'worker killed at a durable write',
    'fill the disk': 'disk full',
    flood: 'flood of signals',
    stop: 'run stopped',
    reset: 'run reset',
  };
  const kind = kinds[blow.type];
  if (kind !== undefined) return kind;
  if (moment.at === 'event') return 'worker killed at a history event';
  return moment.stage === 'recorded'
    ? 'worker killed between reply and completion'
    : 'worker killed in a model call';
}
