import type { AgentOutputOutline, Passable } from './agent-output.ts';
import type { Allowance, Spending } from './budget.ts';
import type { DelegationOutcome, UpstreamOutput } from './delegation-run.ts';
import type { DeliveredAnswer, NewsItem } from './messages.ts';
import type { TurnBrief } from './member-turn.ts';
import type { StageName } from './names.ts';
import type { OutputFault } from './output-fault.ts';
import type { QuestionReviewOutline } from './question-review.ts';
import type { AskedQuestion } from './question.ts';
import type { Ref } from './ref.ts';
import type { ReadStateCall, StateToolName } from './state-call.ts';
import type { TaskStatus, TeamEnd, TeamSetup } from './team-run.ts';
import type { TriadEnd } from './triad-run.ts';
import type { Usage } from './usage.ts';
import type { WaveDecisionOutline } from './wave-decision.ts';
import type { WavePlanOutline } from './wave-plan.ts';

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
      /** Models that members of triads may be given. Null: no triads. */
      readonly triad_models: readonly string[] | null;
      /** Whether a delegation may be done by a team. */
      readonly teams: boolean;
      readonly amendments: readonly string[];
    }
  | {
      readonly kind: 'delegation';
      readonly record_ref: Ref;
      readonly plan_ref: Ref;
      readonly delegation_id: string;
      readonly upstream: readonly UpstreamOutput[];
    }
  | {
      /** The first turn of a member in a phase. */
      readonly kind: 'member';
      readonly record_ref: Ref;
      readonly plan_ref: Ref;
      readonly delegation_id: string;
      readonly upstream: readonly UpstreamOutput[];
      readonly brief: TurnBrief;
    }
  | {
      /** The first turn of a team's leader (seed 002). */
      readonly kind: 'leader';
      readonly record_ref: Ref;
      readonly plan_ref: Ref;
      readonly delegation_id: string;
      readonly upstream: readonly UpstreamOutput[];
      readonly setup: TeamSetup;
      /** The ThreadHistory of `contracts/thread.ts`; null without a thread, or when it can't be read. */
      readonly history_ref: Ref | null;
    }
  | {
      /** One section as code, and nothing besides (seed 001: generate_code). */
      readonly kind: 'code';
      readonly plan_ref: Ref;
      readonly delegation_id: string;
      readonly section_id: string;
      readonly language: string;
      readonly instructions_ref: Ref;
      /** Of the claim that was settled; null where there is none. */
      readonly proposal_ref: Ref | null;
      /** Of the section as it stands; null while it is the plan's. */
      readonly text_ref: Ref | null;
    }
  | {
      readonly kind: 'decision';
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
        /** Absent unless a triad did it. */
        readonly triad_end?: TriadEnd;
        /** Absent unless a team did it. */
        readonly team_end?: TeamEnd;
      })[];
      readonly open_criteria: readonly string[];
      readonly amendments: readonly string[];
    }
  | {
      readonly kind: 'question_review';
      readonly wave: number;
      readonly record_ref: Ref;
      readonly plan_ref: Ref;
      /** Who asks. */
      readonly delegation_id: string;
      readonly questions: readonly AskedQuestion[];
      /** Outputs of this wave that are there already. */
      readonly outputs: readonly UpstreamOutput[];
      readonly amendments: readonly string[];
    };

/** What a turn adds to the conversation before the model is called. */
export type TurnInput =
  | { readonly type: 'prompt'; readonly prompt: Prompt }
  | { readonly type: 'faults'; readonly faults: readonly OutputFault[] }
  | { readonly type: 'answers'; readonly answers: readonly DeliveredAnswer[] }
  /** Decided since the record was written that the first message is rendered from. */
  | { readonly type: 'news'; readonly news: readonly NewsItem[] }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly result_ref: Ref;
      readonly is_error: boolean;
    }
  /** Of a tool that the workflow itself decides. `current_ref`: a text that follows `text`. */
  | {
      readonly type: 'state_result';
      readonly tool_use_id: string;
      readonly text: string;
      readonly current_ref: Ref | null;
      readonly is_error: boolean;
    }
  /** What came of a task that a leader gave out. */
  | {
      readonly type: 'task_result';
      readonly tool_use_id: string;
      /** Of the task. Its output is loaded under it. */
      readonly delegation_id: string;
      /** The leader's name for it. */
      readonly name: string;
      readonly member_id: string;
      readonly status: TaskStatus;
      /** Empty when it completed. */
      readonly reason: string;
      readonly attempts: number;
      /** The AgentOutput, shown with its short form and its long one as far as it fits. */
      readonly output_ref: Ref | null;
      /** Of an output that was cut off: its text as far as it came. */
      readonly partial_ref: Ref | null;
      /** What the leader may still do, for its next decision. */
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

export interface ModelTurnInput {
  readonly run_id: string;
  readonly agent_id: string;
  readonly registry_ref: Ref;
  /** Newest node of the conversation; null begins one. */
  readonly head: Ref | null;
  readonly append: readonly TurnInput[];
  /** What is asked for. The same in a whole conversation, but that a member's last turns may be `member_output`. */
  readonly stage: StageName;
  readonly max_output_tokens: number;
  /**
   * Leaves out the oldest tool results until half of the conversation's bytes are gone, because it no longer fits the
   * model's context. The newest result stays. What was left out once stays out in all later turns.
   */
  readonly compact: boolean;
  /** What the call may take at worst, all its attempts together. Null: there is no budget. */
  readonly allowance: Allowance | null;
  /** Instead of the agent's own model. */
  readonly model?: string;
  /** What the call is for: it comes back in TurnProgress, for one workflow may work on many tasks. Absent for the planner. */
  readonly delegation_id?: string;
  /** Tools that the workflow decides, offered besides those of the agent. The same in a whole conversation. */
  readonly state_tools?: readonly StateToolName[];
  /** What the output may pass on. Absent: it is asked for as an AgentOutput; else as a PassingOutput, also where it is empty. */
  readonly passable?: readonly Passable[];
}

export interface ToolCall {
  readonly tool_use_id: string;
  readonly name: string;
  /** The arguments as JSON in the store. */
  readonly input_ref: Ref;
  /** Its tool changes something outside: such calls are made one after the other. Absent for all others. */
  readonly acts?: true;
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
  /** What a member said, as Markdown. */
  | { readonly shape: 'member_turn'; readonly said_ref: Ref }
  /** Code and nothing else. */
  | { readonly shape: 'code'; readonly code_ref: Ref; readonly bytes: number };

/**
 * What the reply was. Each has a path of its own in `core/turns`.
 *
 * The conversation after it: with `output`, `malformed`, `tools` and `paused` the new head holds what the turn appended
 * and the reply. With every other type it holds what was appended and no reply, because there is none that may be sent
 * back. A repeat then passes that head with an empty `append`; passing the same `append` again is as good, for a node
 * that waits for its reply takes the same inputs only once. Further inputs join the ones that wait.
 */
export type TurnReply =
  | { readonly type: 'output'; readonly outline: TurnOutline }
  /**
   * No JSON, broken JSON, JSON of another shape, or an outline too large for history. At most 20 faults. A reply with too
   * many tool calls is malformed too, and is not kept in the conversation.
   */
  | { readonly type: 'malformed'; readonly faults: readonly OutputFault[] }
  | {
      readonly type: 'tools';
      readonly calls: readonly (ToolCall | StateToolCall)[];
      /** What a member or a leader said before its calls. Absent when it said nothing, and outside of triads and teams. */
      readonly said_ref?: Ref;
    }
  /** `max_tokens`: cut off, never parsed. */
  | { readonly type: 'truncated' }
  /** The conversation does not fit the context, as the API said before the reply or within it. */
  | { readonly type: 'context_exceeded' }
  /** `text` is the provider's explanation and what the model said. It is cut to 2,000 characters and may be empty. */
  | { readonly type: 'refused'; readonly text: string }
  /** `end_turn` without text. */
  | { readonly type: 'empty' }
  /** `pause_turn`: the content goes back as it is. */
  | { readonly type: 'paused' }
  | { readonly type: 'unknown_stop'; readonly stop_reason: string }
  /** Not made: at worst it takes `needs`, which is more than the allowance. */
  | { readonly type: 'unaffordable'; readonly needs: Spending }
  /** Cancelled; `usage` holds what was billed until then. `words_ref`: the last of what had arrived, when something had. */
  | { readonly type: 'aborted'; readonly words_ref?: Ref };

/** Heartbeat details of a model call in flight, for live views. */
export interface TurnProgress {
  readonly agent_id: string;
  /** As in ModelTurnInput. */
  readonly delegation_id?: string;
  readonly stage: StageName;
  /** Which turn of its conversation this is, from 1. Absent until the conversation is read. */
  readonly turn?: number;
  readonly output_tokens: number;
  /** The last words of the stream. */
  readonly last_words: string;
  /**
   * The text that people read, without the JSON around it: `text` is its end, and `text_chars` counts all of it until now,
   * so that who looks again knows what is new. It only grows, but for an attempt that begins anew. Without secrets, and a
   * little behind the stream for that. Absent while there is none.
   */
  readonly text?: string;
  readonly text_chars?: number;
}

export interface ModelTurnResult {
  /** Newest node of the conversation after the turn. What it holds: see TurnReply. */
  readonly head: Ref;
  readonly reply: TurnReply;
  readonly usage: Usage;
  readonly request_id: string | null;
  readonly model: string;
}
