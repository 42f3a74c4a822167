/**
 * The states of a conversation's turns, the events that they take and the commands that they give. `step-turns.ts` decides.
 */
import type { StateToolCall, ToolCall, TurnReply } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { FailureReason } from './failure-reasons.ts';

export interface CallCommand {
  readonly type: 'call';
  readonly max_output_tokens: number;
  readonly compact: boolean;
  /** Appended as faults. May be empty. */
  readonly note: readonly OutputFault[];
  /** `before`: the reply is dropped, and its call is repeated from the node before it, with what was appended then. */
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
  /** The last reply was no output: tools had done all that there was to do. */
  readonly by?: 'tools';
}

export interface FailCommand {
  readonly type: 'fail';
  /** For figures. */
  readonly why: FailureReason;
  /** For people. */
  readonly reason: string;
}

export interface TurnsOptions {
  readonly max_turns: number;
  readonly max_output_tokens: number;
  /** Attempts in all at a valid output. If undefined, `outputRepairsMax`. */
  readonly attempts_max?: number | undefined;
  /** Calls made before this state was opened, by an earlier run of the same workflow. If undefined, 0. */
  readonly turns_done?: number | undefined;
}

export interface TurnsBody {
  readonly max_turns: number;
  readonly attempts_max: number;
  /** Calls so far, the outstanding one included. */
  readonly turns: number;
  /** Replies of this round that were no valid output. */
  readonly attempts: number;
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

/** `command` is the one outstanding: an event that does not fit gets it again. */
export type TurnsState =
  | (TurnsBody & { readonly type: 'calling'; readonly command: CallCommand })
  | (TurnsBody & { readonly type: 'checking'; readonly command: { readonly type: 'check' } })
  | UsingTools
  | (TurnsBody & { readonly type: 'finished'; readonly command: FinishCommand })
  | (TurnsBody & { readonly type: 'failed'; readonly command: FailCommand })
  | (TurnsBody & { readonly type: 'stopped'; readonly command: { readonly type: 'stopped' } });

export type TurnsEvent =
  | { readonly type: 'reply'; readonly reply: TurnReply }
  /** The rule has spoken on an output. Empty: it holds. */
  | { readonly type: 'checked'; readonly faults: readonly OutputFault[] }
  | {
      readonly type: 'tool_results';
      readonly count: number;
      /** If undefined, the model is called again with the results. */
      readonly verdict?: ToolsVerdict;
      /** Model calls that the tools made of their own. If undefined, none. */
      readonly calls_made?: number;
    }
  /** Answers came, after an output that asked. */
  | { readonly type: 'resumed' };

/** The consequence of the tool calls of one reply. */
export type ToolsVerdict =
  /** The model is called again with the results. */
  | { readonly type: 'go_on' }
  /** There is nothing left to do: no further call is bought only to hear so. The results wait for the next turn. */
  | { readonly type: 'finished' }
  /** A call was refused. The model reads why in its result. */
  | { readonly type: 'invalid'; readonly faults: readonly OutputFault[] }
  /** A tool could not do its work, and no other arguments would help. */
  | { readonly type: 'failed'; readonly why: FailureReason; readonly reason: string };

export interface TurnsStep {
  readonly state: TurnsState;
  readonly command: TurnsCommand;
}
