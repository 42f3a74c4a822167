/** States, events and commands of the turns of one conversation. `step-turns.ts` decides. */
import type { StateToolCall, ToolCall, TurnReply } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';

export interface CallCommand {
  readonly type: 'call';
  readonly max_output_tokens: number;
  readonly compact: boolean;
  /** Appended as faults. May be empty. */
  readonly note: readonly OutputFault[];
  /** `before`: the reply is dropped, and its call is repeated from the node before it, with the same appended input. */
  readonly from: 'head' | 'before';
}

export type TurnsCommand =
  | CallCommand
  | { readonly type: 'check' }
  | {
      readonly type: 'run_tools';
      readonly calls: readonly (ToolCall | StateToolCall)[];
    }
  | FinishCommand
  | FailCommand
  | { readonly type: 'stopped' };

export interface FinishCommand {
  readonly type: 'finish';
  /** Set when the last reply was no output: the tools had done all the work. */
  readonly by?: 'tools';
}

export interface FailCommand {
  readonly type: 'fail';
  /** Reason for metrics. */
  readonly why: FailureReason;
  /** Text for people. */
  readonly reason: string;
}

export interface TurnsOptions {
  readonly max_turns: number;
  readonly max_output_tokens: number;
  /** Total attempts at a valid output. If undefined, `outputRepairsMax`. */
  readonly attempts_max?: number | undefined;
  /** Calls before this state was opened, by an earlier run of the same workflow. If undefined, 0. */
  readonly turns_done?: number | undefined;
}

export interface TurnsBody {
  readonly max_turns: number;
  readonly attempts_max: number;
  /** Calls so far, the outstanding one included. */
  readonly turns: number;
  /** Replies of this round without a valid output. */
  readonly attempts: number;
  /** Rounds in a row of which all questions were refused, the latest one included. */
  readonly refused_rounds: number;
  readonly truncations: number;
  readonly compactions: number;
  readonly max_output_tokens: number;
}

export type UsingTools = TurnsBody & {
  readonly type: 'using_tools';
  readonly command: {
    readonly type: 'run_tools';
    readonly calls: readonly (ToolCall | StateToolCall)[];
  };
};

/** `command` is the outstanding one: an event that does not fit gets it again. */
export type TurnsState =
  | (TurnsBody & { readonly type: 'calling'; readonly command: CallCommand })
  | (TurnsBody & { readonly type: 'checking'; readonly command: { readonly type: 'check' } })
  | UsingTools
  | (TurnsBody & { readonly type: 'finished'; readonly command: FinishCommand })
  | (TurnsBody & { readonly type: 'failed'; readonly command: FailCommand })
  | (TurnsBody & { readonly type: 'stopped'; readonly command: { readonly type: 'stopped' } });

export type TurnsEvent =
  | { readonly type: 'reply'; readonly reply: TurnReply }
  /** The output was checked. No faults means that it is valid. */
  | { readonly type: 'checked'; readonly faults: readonly OutputFault[] }
  | {
      readonly type: 'tool_results';
      readonly count: number;
      /** Undefined: the model is called again with the results. */
      readonly verdict?: ToolsVerdict;
      /** Model calls that the tools made themselves. If undefined, none. */
      readonly calls_made?: number;
    }
  /** Answers arrived for an output that asked questions. `is_refused`: none of them was put to anyone. Absent: false. */
  | { readonly type: 'resumed'; readonly is_refused?: boolean };

export type ToolsVerdict =
  /** The model is called again with the results. */
  | { readonly type: 'go_on' }
  /** All work is done, so no further call is bought just to hear that. The results wait for the next turn. */
  | { readonly type: 'finished' }
  /** A call was refused. The model reads the reason in its result. */
  | { readonly type: 'invalid'; readonly faults: readonly OutputFault[] }
  /** A tool could not do its work, and no other arguments would help. */
  | { readonly type: 'failed'; readonly why: FailureReason; readonly reason: string };

export interface TurnsStep {
  readonly state: TurnsState;
  readonly command: TurnsCommand;
}

/**
 * Reasons of failures from a short list, for metrics. People read a text of its own.
 *
 * Invariants:
 *   FR1. Every failure of a call has a reason of the list, whatever its type.
 *   FR2. Only failures that the model or its provider caused in a call may not recur on a retry.
 */
export const failureReasons = [
  /** The agent itself reported that it failed. */
  'agent_failed',
  'invalid_output',
  'turns_spent',
  /** Cut off at the highest number of output tokens. */
  'output_cut',
  'context_full',
  'refused',
  'budget_spent',
  'unknown_stop',
  'tool_results_missing',
  /** The provider refused the request itself. */
  'request_refused',
  /** The provider's answer is no message. */
  'no_message',
  'artifact_corrupt',
  /** A time limit of a triad passed. */
  'timed_out',
  /** The delegation's workflow was terminated, or failed. */
  'lost',
  'other',
] as const;

export type FailureReason = (typeof failureReasons)[number];

const repeatable: readonly FailureReason[] = ['invalid_output', 'no_message', 'unknown_stop'];

/** Returns true when repeating the work may end otherwise. */
export function isWorthRepeating(why: FailureReason): boolean {
  return repeatable.includes(why);
}

const reasonsOfCalls: Readonly<Record<string, FailureReason | undefined>> = {
  ModelRequest: 'request_refused',
  ModelContextExceeded: 'context_full',
  ModelProtocol: 'no_message',
  ArtifactCorrupt: 'artifact_corrupt',
};

/** @param type Type of the failure that ended a model call for good. */
export function reasonOfCall(type: string): FailureReason {
  return Object.hasOwn(reasonsOfCalls, type) ? (reasonsOfCalls[type] ?? 'other') : 'other';
}

/**
 * Records every detail that a delegation loaded, so that the basis of its work can be looked up later.
 *
 * Invariants:
 *   LD1. The list holds each detail once, in the order of the first loading, and never more than `loadedDetailsMax`.
 *   LD2. The list is complete as long as the calls of each reply load no more than its share. Conversations that work at
 *        the same time get shares only while half of the list is free, and all shares together fit into the other half.
 *
 * Computes how many details the calls of the next reply may load together.
 *
 * @param atOnce Number of conversations that add to the list at the same time.
 */
export function countLoadsLeft(loaded: readonly string[], atOnce = 1): number {
  const { loadedDetailsMax: max } = engineLimits;
  const share = atOnce === 1 ? max - loaded.length : Math.floor((max / 2 - loaded.length) / atOnce);
  return Math.max(0, share);
}

export function noteLoaded(loaded: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...loaded, ...more])].slice(0, engineLimits.loadedDetailsMax);
}
