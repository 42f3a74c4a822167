/** States, events and commands of the turns of one conversation. `step-turns.ts` decides. */
import type { StateToolCall, ToolCall, TurnReply } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { FailureReason } from './failure-reasons.ts';

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
      /** If undefined, the model is called again with the results. */
      readonly verdict?: ToolsVerdict;
      /** Model calls that the tools made themselves. If undefined, none. */
      readonly calls_made?: number;
    }
  /** Answers arrived for an output that asked questions. */
  | { readonly type: 'resumed' };

/** Verdict on the tool calls of one reply. */
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
