import type { CallName } from './call-name.ts';
import { isContinuation, isEnd } from '../support/histories.ts';
import type { SeenEvent } from './history-watch.ts';

/** kill -9 of the worker, and what comes after it. */
export interface KillWorker {
  readonly type: 'kill worker';
  /** Milliseconds after which each next worker is killed too, while the run recovers. Default: none is. */
  readonly again?: readonly number[];
  /** Time of day of the next worker, in milliseconds beside the true one. Default 0. */
  readonly clockOffsetMs?: number;
  /** Whether the next worker is one of another version. Default false. */
  readonly otherVersion?: boolean;
}

/** A blow against processes, or against what they depend on. */
export type Blow =
  | KillWorker
  | { readonly type: 'kill worker and server' }
  /** The worker kills itself before, after or in the middle of a durable write, counted from the moment. */
  | {
      readonly type: 'die at a write';
      readonly what: 'before' | 'after' | 'torn';
      readonly nth: number;
    }
  /** All writes of the worker fail for two seconds. */
  | { readonly type: 'fill the disk'; readonly nth: number }
  /** So many signals that the run has to refuse. */
  | { readonly type: 'flood'; readonly signals: number }
  /** The user stops the run. */
  | { readonly type: 'stop' }
  /** `temporal workflow reset` to a workflow task that is over: 0 the first, 1 the last one. */
  | { readonly type: 'reset'; readonly to: number }
  /** SIGSTOP, and SIGCONT after so many milliseconds; with `relief` another worker comes meanwhile. */
  | { readonly type: 'pause'; readonly ms: number; readonly relief: boolean };

/** When it is done: as soon as an event is in a history, or inside a model call. */
export type Moment =
  | {
      readonly at: 'event';
      /** Workflow id below the run: the empty string is the run itself. */
      readonly path: string;
      /** How often its history was continued as new before. */
      readonly continued: number;
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
 * Returns true when the moment of a strike has come. Signals and results that come together make one task instead of
 * several, and a history may be continued as new sooner, so it may end before it is as long as in the undisturbed run: then
 * its last event is the moment. The end of the whole run is none: nothing is left to be hurt.
 */
export function isAtEvent({ moment }: Strike, runId: string, seen: SeenEvent): boolean {
  if (moment.at !== 'event' || `${runId}${moment.path}` !== seen.workflowId) return false;
  if (moment.continued !== seen.continued) return false;
  const isLast = isContinuation(seen) || (moment.path !== '' && isEnd(seen));
  return moment.id === seen.id || (moment.id > seen.id && isLast);
}

export function isAtCall({ moment }: Strike, call: CallName): boolean {
  return moment.at === 'call' && moment.call === call;
}

function describeMoment(moment: Moment): string {
  if (moment.at === 'call') return `call "${moment.call}", ${moment.stage}`;
  const { path, continued, id, type } = moment;
  const execution = continued === 0 ? '' : `, execution ${continued + 1},`;
  return `${path || 'the run'}${execution} event ${id} (${type})`;
}

/** `kill worker at /wave-001 event 12 (WORKFLOW_TASK_STARTED)`. */
export function describeStrike({ moment, blow }: Strike): string {
  const where = describeMoment(moment);
  const { type, ...how } = blow;
  const details = Object.keys(how).length === 0 ? '' : ` ${JSON.stringify(how)}`;
  return `${type}${details} at ${where}`;
}
