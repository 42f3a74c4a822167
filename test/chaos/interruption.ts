import type { Absence } from './recovery.ts';
import type { Strike } from './strike.ts';

/** Cause of an interruption, as the report names it. */
export type InterruptionKind =
  | 'worker killed at a history event'
  | 'worker killed in a model call'
  | 'worker killed between reply and completion'
  | 'worker killed before the answers'
  | 'worker and server killed'
  | 'worker paused';

/** How long a request that a killed worker had sent may take to be seen by a busy model server, in milliseconds. */
export const requestArrivesMs = 500;

/** A time in which nobody worked, and what it found at work. */
export interface Interruption extends Absence {
  readonly kind: InterruptionKind;
  /** Keys of the calls whose replies were not recorded: they may be made once more. */
  readonly unrecorded: readonly string[];
  /** Whether it cut the HTTP request of a model call off. */
  readonly inCall: boolean;
}

export function kindOf({ blow, moment }: Strike): InterruptionKind {
  if (blow.type === 'pause') return 'worker paused';
  if (blow.type === 'kill worker and server') return 'worker and server killed';
  if (moment.at === 'event') return 'worker killed at a history event';
  return moment.stage === 'recorded'
    ? 'worker killed between reply and completion'
    : 'worker killed in a model call';
}
