import type { AgentOutputOutline } from './agent-output.ts';
import type { Allowance, Spending } from './budget.ts';
import type {
  DelegationOutcome,
  JudgingPrompt,
  TaskPrompt,
  UpstreamOutput,
} from './delegation-run.ts';
import type { DesignPrompt, DesignReplyOutline } from './design.ts';
import type { DeliveredAnswer, NewsItem } from './messages.ts';
import type { OutputFault } from './output-fault.ts';
import type { AskedQuestion, QuestionReviewOutline } from './question.ts';
import type { Ref } from './ref.ts';
import type { ReadStateCall, TurnBrief } from './state-call.ts';
import type {
  ReadingScope,
  ToolRead,
  TurnTerms,
  ResearchCall,
  WebReportOutline,
  WebResearchPrompt,
} from './transcript.ts';
import type { ExecutorEnd, TaskStatus, TeamSetup } from './team-run.ts';
import type { Usage } from './usage.ts';
import type { JudgementOutline, VerificationFeedback } from './verification.ts';
import type { WaveDecisionOutline, WavePlanOutline } from './wave-plan.ts';
import type { MergeConflict } from './effect.ts';

/** The first user message of a conversation, by reference. The activity renders it from the store. */
export type Prompt =
  | {
      readonly kind: 'plan';
      readonly wave: number;
      readonly waves_left: number;
      readonly record_ref: Ref;
      readonly registry_ref: Ref;
      readonly open_criteria: readonly string[];
      readonly known_inputs: readonly string[];
      readonly max_delegations: number;
      /** Models that members of triads may get. Null when triads are not allowed. */
      readonly triad_models: readonly string[] | null;
      /** True when teams may do delegations. */
      readonly teams: boolean;
      readonly amendments: readonly string[];
    }
  | (TaskPrompt & {
      readonly kind: 'delegation';
      /** The CompletionSession of an earlier attempt. Absent when there is none. */
      readonly session_ref?: Ref;
      /** Absent for a first attempt. */
      readonly feedback?: VerificationFeedback;
    })
  | JudgingPrompt
  | (TaskPrompt & {
      /** The first turn of a member in a phase. */
      readonly kind: 'member';
      readonly brief: TurnBrief;
    })
  | (TaskPrompt & {
      /** The first turn of a team's leader (seed 002). */
      readonly kind: 'leader';
      readonly setup: TeamSetup;
      /** The ThreadHistory of `contracts/thread.ts`; null without a thread, or when it can't be read. */
      readonly history_ref: Ref | null;
    })
  | {
      /** One section as code, without other text (seed 001: generate_code). */
      readonly kind: 'code';
      readonly record_ref: Ref;
      readonly plan_ref: Ref;
      readonly delegation_id: string;
      readonly section_id: string;
      readonly language: string;
      readonly instructions_ref: Ref;
      /** Proposal of the settled claim; null if there is none. */
      readonly proposal_ref: Ref | null;
      /** Present text of the section; null while it is the plan's. */
      readonly text_ref: Ref | null;
    }
  | {
      readonly kind: 'decision';
      /** Defined in RecordedWave. */
      readonly merge_conflicts?: readonly MergeConflict[];
      /** Defined in RecordedWave. */
      readonly task_conflicts?: readonly MergeConflict[];
      readonly wave: number;
      readonly record_ref: Ref;
      readonly plan_ref: Ref;
      readonly outcomes: readonly (Pick<
        DelegationOutcome,
        | 'delegation_id'
        | 'status'
        | 'reason'
        | 'turns'
        | 'replaces'
        | 'files'
        | 'output_ref'
        | 'criteria_met'
        | 'criteria_unmet'
      > & {
        /** Null for an agent, and where nothing came of a triad or a team. */
        readonly executor_end: ExecutorEnd | null;
      })[];
      readonly open_criteria: readonly string[];
      readonly amendments: readonly string[];
    }
  | {
      readonly kind: 'question_review';
      /** agent_name of the solution architect. Absent where there is none for these questions. */
      readonly architect?: string;
      readonly wave: number;
      readonly record_ref: Ref;
      readonly plan_ref: Ref;
      /** The delegation that asks. */
      readonly delegation_id: string;
      readonly questions: readonly AskedQuestion[];
      /** Outputs of this wave that are finished. */
      readonly outputs: readonly UpstreamOutput[];
      /** delegation_ids of this wave that have not ended, without the one that asks. Absent when there are none. */
      readonly unfinished?: readonly string[];
      /** question_ids whose answers are a default or an assumption. Absent when there are none. */
      readonly assumed?: readonly string[];
      readonly amendments: readonly string[];
    }
  | DesignPrompt
  | WebResearchPrompt;

/** Input that a turn adds to the conversation before the model is called. */
export type TurnInput =
  | { readonly type: 'prompt'; readonly prompt: Prompt }
  | { readonly type: 'faults'; readonly faults: readonly OutputFault[] }
  | { readonly type: 'answers'; readonly answers: readonly DeliveredAnswer[] }
  /** News since the record was written from which the first message is rendered. */
  | { readonly type: 'news'; readonly news: readonly NewsItem[] }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly result_ref: Ref;
      readonly is_error: boolean;
    }
  /** Result of a tool that the workflow itself decides. `current_ref`: a text to append to `text`. */
  | {
      readonly type: 'state_result';
      readonly tool_use_id: string;
      readonly text: string;
      readonly current_ref: Ref | null;
      readonly is_error: boolean;
    }
  /** Result of a task that a leader created. */
  | {
      readonly type: 'task_result';
      readonly tool_use_id: string;
      /** Id of the task. Its output is loaded under it. */
      readonly delegation_id: string;
      /** The leader's name for it. */
      readonly name: string;
      readonly member_id: string;
      readonly status: TaskStatus;
      /** Empty when it completed. */
      readonly reason: string;
      readonly attempts: number;
      /** The AgentOutput, shown in its short form and as much of its long form as fits. */
      readonly output_ref: Ref | null;
      /** Partial text of an output that was cut off. */
      readonly partial_ref: Ref | null;
      /** Paths of files that were written for it. Absent when there are none. */
      readonly files?: readonly string[];
      /** Remaining tasks and time, for the leader's next decision. */
      readonly delegations_left: number;
      readonly seconds_left: number;
    }
  /** A further turn of a member in the same phase. */
  | {
      readonly type: 'member_turn';
      readonly plan_ref: Ref;
      readonly delegation_id: string;
      readonly brief: TurnBrief;
    };

/** The shape of a final text: `member_turn` and `code` are free text; the others are JSON. */
export type OutputShape = TurnOutline['shape'];

/** Input of a model call. In history it has the form of TurnCall. */
export interface ModelTurnInput extends TurnTerms {
  /** Newest node of the conversation; null begins one. */
  readonly head: Ref | null;
  readonly append: readonly TurnInput[];
  /**
   * Leaves out the oldest tool results until half of the conversation's bytes are gone, because it no longer fits the
   * model's context. The newest result stays. A result that was left out stays out in all later turns.
   */
  readonly compact: boolean;
  /** Most that the call may take, all its attempts together. Null without a budget. */
  readonly allowance: Allowance | null;
  /** Refusals of the call in a row by its tenant's budget, for each of which the run was parked. Absent: none. */
  readonly refusals?: number;
}

/**
 * Input as history holds it. Absent fields have their usual value: nothing to append, not compact, no allowance. Without
 * `run_id`, other absent fields are those of the terms that the conversation keeps.
 */
export type TurnCall = Pick<ModelTurnInput, 'head'> &
  Partial<Omit<ModelTurnInput, 'head' | 'reading'>> & { readonly reading?: Partial<ReadingScope> };

export interface ToolCall {
  readonly tool_use_id: string;
  readonly name: string;
  /** The arguments as JSON in the store. */
  readonly input_ref: Ref;
  /**
   * Result of a call that changes nothing: it was made in the activity of the reply. Absent for a tool that changes
   * something outside: the workflow makes such calls, one after the other.
   */
  readonly read?: ToolRead;
  /** Present for a call of `web_research`: the workflow makes a model call of its own for it. */
  readonly research?: ResearchCall;
}

/** A call of a tool that the workflow itself decides. */
export interface StateToolCall {
  readonly tool_use_id: string;
  readonly name: string;
  readonly state: ReadStateCall;
}

export type TurnOutline =
  | { readonly shape: 'wave_plan'; readonly plan: WavePlanOutline }
  | { readonly shape: 'agent_output'; readonly output: AgentOutputOutline }
  | { readonly shape: 'wave_decision'; readonly decision: WaveDecisionOutline }
  | { readonly shape: 'question_review'; readonly review: QuestionReviewOutline }
  | JudgementOutline
  | { readonly shape: 'design'; readonly reply: DesignReplyOutline }
  | WebReportOutline
  /** Text of a member, as Markdown. */
  | { readonly shape: 'member_turn'; readonly said_ref: Ref }
  /** Code without other text. */
  | { readonly shape: 'code'; readonly code_ref: Ref; readonly bytes: number };

/**
 * Kind of a reply. Each has a path of its own in `core/turns`.
 *
 * The conversation after it: with `output`, `malformed`, `tools` and `paused` the new head holds what the turn appended
 * and the reply. With every other type it holds the appended input and no reply, because none may be sent back. A
 * repeat then passes that head with an empty `append`, or the same `append` again: a node that waits for its reply
 * takes the same inputs only once. Further inputs join the waiting ones.
 */
export type TurnReply =
  | { readonly type: 'output'; readonly outline: TurnOutline }
  /**
   * Not JSON, broken JSON, JSON of another shape, or an outline too large for history. At most 20 faults. A reply with
   * too many tool calls is malformed too, and is not kept in the conversation.
   */
  | { readonly type: 'malformed'; readonly faults: readonly OutputFault[] }
  | {
      readonly type: 'tools';
      readonly calls: readonly (ToolCall | StateToolCall)[];
      /** Text of a member or a leader before its calls. Absent when there was none, and outside of triads and teams. */
      readonly said_ref?: Ref;
    }
  /** `max_tokens`: cut off, never parsed. */
  | { readonly type: 'truncated' }
  /** The conversation does not fit the context, as the API said before the reply or within it. */
  | { readonly type: 'context_exceeded' }
  /** `text` is the provider's explanation and the model's words, cut to 2,000 characters; it may be empty. */
  | { readonly type: 'refused'; readonly text: string }
  /** `end_turn` without text. */
  | { readonly type: 'empty' }
  /** `pause_turn`: the content goes back unchanged. */
  | { readonly type: 'paused' }
  | { readonly type: 'unknown_stop'; readonly stop_reason: string }
  /** The call was not made: its worst case `needs` exceeds the allowance. */
  | { readonly type: 'unaffordable'; readonly needs: Spending }
  /**
   * The call was cancelled; `usage` is the amount billed until then. `words_ref`: the last words that arrived, if any.
   */
  | { readonly type: 'aborted'; readonly words_ref?: Ref };

export interface ModelTurnResult {
  /** Newest node of the conversation after the turn. TurnReply says what it holds. */
  readonly head: Ref;
  readonly reply: TurnReply;
  readonly usage: Usage;
  readonly request_id: string | null;
  readonly model: string;
  /** True for the reply of a crashed attempt. It was given before the news of this call. */
  readonly recalled?: true;
  /** True when the new head keeps the terms of the call: further calls may leave them out. */
  readonly keeps_terms?: true;
}

/** Result as history holds it: amounts of 0 are absent. */
export type TurnAnswer = Omit<ModelTurnResult, 'usage'> & { readonly usage: Partial<Usage> };
