import type { CallName } from './call-name.ts';
import { isEnd } from './history-watch.ts';
import type { SeenEvent } from './history-watch.ts';

/** A blow against processes. */
export type Blow =
  | { readonly type: 'kill worker' }
  | { readonly type: 'kill worker and server' }
  /** SIGSTOP, and SIGCONT after so many milliseconds; with `relief` another worker comes meanwhile. */
  | { readonly type: 'pause'; readonly ms: number; readonly relief: boolean };

/** When it is done: as soon as an event is in a history, or inside a model call. */
export type Moment =
  | {
      readonly at: 'event';
      /** Workflow id below the run: the empty string is the run itself. */
      readonly path: string;
      /** Number of the event, from 1. */
      readonly id: number;
      /** Type of the event in the undisturbed run, for people. */
      readonly type: string;
    }
  | {
      readonly at: 'call';
      readonly call: CallName;
      /** Before the model answers, while it does, or when its reply is recorded and nobody has been told of it. */
      readonly stage: 'waiting' | 'streaming' | 'recorded';
    };

/** One blow at one moment of a run. */
export interface Strike {
  readonly moment: Moment;
  readonly blow: Blow;
}

/**
 * Whether the moment of a strike has come. Signals and results that come together make one task instead of several, so a
 * history may end before it is as long as in the undisturbed run: then its last event is the moment. Not that of the
 * whole run: nothing is left to be hurt.
 */
export function isAtEvent({ moment }: Strike, runId: string, seen: SeenEvent): boolean {
  if (moment.at !== 'event' || `${runId}${moment.path}` !== seen.workflowId) return false;
  return moment.id === seen.id || (moment.path !== '' && moment.id > seen.id && isEnd(seen));
}

export function isAtCall({ moment }: Strike, call: CallName): boolean {
  return moment.at === 'call' && moment.call === call;
}

/** `kill worker at /wave-001 event 12 (WORKFLOW_TASK_STARTED)`. */
export function describeStrike({ moment, blow }: Strike): string {
  const where =
    moment.at === 'event'
      ? `${moment.path || 'the run'} event ${moment.id} (${moment.type})`
      : `call "${moment.call}", ${moment.stage}`;
  return `${blow.type} at ${where}`;
}
