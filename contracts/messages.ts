import type { BudgetRequest, BudgetScope, Spending } from './budget.ts';
import type { RecordedEffect } from './effect.ts';
import type { SessionReport } from './note.ts';
import type { AskedQuestion, PlannerVerdict, QuestionKind } from './question.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';
import type { UserFact } from './agent-output.ts';
import type { ModeChoice } from './limits.ts';
import type { PlannedExecutor } from './delegation.ts';

/** Payload of `pause`, `resume` and `stop`. */
export interface ControlMessage {
  readonly reason?: string;
}

/** Payload of `resume`. */
export interface ResumeMessage extends ControlMessage {
  /** Ends a park, and leaves a pause. Default false: ends both. */
  readonly parked_only?: boolean;
}

/** Payload of `amend`: an instruction that the next planning must follow. */
export interface AmendMessage {
  readonly instruction: string;
  readonly waive_criteria?: readonly string[];
  /** New answers to questions that were already answered. */
  readonly answers?: readonly { readonly question_id: string; readonly answer: unknown }[];
  /** Values that the instruction settles, by key: they override every other source of that key. */
  readonly facts?: readonly UserFact[];
}

/** An answer that the user changed, in the form that was accepted. */
export interface AmendedAnswer {
  readonly question_id: string;
  /** The answer as text, cut to `inlineAnswerCharsMax` of `core/limits.ts`. */
  readonly answer: string;
  /** The whole answer, when `answer` is cut. */
  readonly answer_ref: Ref | null;
  /** Hash of the whole answer, as the inbox computes it. */
  readonly hash: string;
}

/** Payload of `escalate`, from a child to its parent, up to the workflow that has the inbox. */
export type Escalation =
  | QuestionsEscalation
  | ParkedEscalation
  | WithdrawnEscalation
  | BudgetEscalation
  | EffectEscalation
  | SessionEscalation;

export interface QuestionsEscalation {
  readonly type: 'questions';
  /** Unique below its parent; the answers come back under it. */
  readonly escalation_id: string;
  /** The workflow that waits. */
  readonly from: string;
  readonly kind: QuestionKind;
  readonly wave: number;
  readonly delegation_id: string | null;
  readonly agent_id: string | null;
  readonly questions: readonly AskedQuestion[];
  /** The planner's verdict on each question, in their order. Undefined when it has not reviewed them. */
  readonly verdicts?: readonly (PlannerVerdict | null)[];
  /** Total that the asker has spent, when it has a budget: it gives the rest of its reservation back. */
  readonly spent?: Spending;
  /**
   * request_id of the asker's next request for budget. When it arrives first, the asker is at work on a new reservation, and
   * nothing is given back. Undefined where a request can't arrive first.
   */
  readonly before_request?: string;
  /** Seconds after asking at which each question's default is taken. If undefined, the run's rules apply. */
  readonly deadline_seconds?: number;
  /** Scope of the limit that is reached, when it asks about a budget. */
  readonly budget_scope?: BudgetScope;
}

/** A delegation needs a reservation for its next call. The wave answers by `grant`. */
export interface BudgetEscalation extends BudgetRequest {
  readonly type: 'budget';
  readonly from: string;
  readonly delegation_id: string;
}

/** The provider's account, a tenant's budget or the network stops every call: the run parks until `resume`. */
export interface ParkedEscalation {
  readonly type: 'parked';
  readonly from: string;
  readonly reason: string;
  /** Unix epoch milliseconds at which the run goes on by itself. Absent: never. */
  readonly until?: number;
}

/** Questions that need no answer, because the asker is gone. */
export interface WithdrawnEscalation {
  readonly type: 'withdrawn';
  /** The wave or the design that passed the questions on. */
  readonly from: string;
  /** Null: all questions of that workflow. */
  readonly delegation_id: string | null;
  /** Absent: all questions of the delegation. */
  readonly escalation_id?: string;
}

/** The state of an effect: from a delegation to the workflow that has the record. */
export interface EffectEscalation {
  readonly type: 'effect';
  readonly from: string;
  readonly effect: RecordedEffect;
}

/** The session of a delegation: to the workflow that has the record. */
export interface SessionEscalation {
  readonly type: 'session';
  readonly from: string;
  readonly session: SessionReport;
}

/** Payload of `deliver`: all answers to one escalation, in the order of its questions. */
export interface Delivery {
  readonly escalation_id: string;
  readonly answers: readonly DeliveredAnswer[];
  /** The news that have not arrived at the child by `inform`, oldest first. Absent: none. */
  readonly news?: readonly NewsItem[];
}

export interface DeliveredAnswer {
  readonly question_id: string;
  readonly text: string;
  /** The answer as text; `null` when it is long and `answer_ref` names it in the store. */
  readonly answer: string | null;
  readonly answer_ref: Ref | null;
  readonly answered_by: string;
  /** True when the question was refused: it came a third time for the same task, or there was no room for it. */
  readonly loop: boolean;
  /** True when the same question of the same task is refused from now on. Absent otherwise. */
  readonly is_last?: true;
  /** The completion-drive note that a refusal leaves undecided. Absent on the way to the asker, and without a note. */
  readonly note_id?: string;
}

/**
 * A decision of the user or the planner during a wave. The run sends it to its wave, and the wave to everything that
 * works: the next prompt of each conversation contains it.
 */
export type NewsItem = NewsAnswer | NewsInstruction;

export interface NewsAnswer {
  /** Counts the news of a run from 1. */
  readonly news_id: number;
  readonly type: 'answer';
  readonly question_id: string;
  /** The question, cut to `newsQuestionCharsMax` of `core/limits.ts`. */
  readonly text: string;
  /** The answer as text, cut to `inlineAnswerCharsMax`. */
  readonly answer: string;
  /** The whole answer, when `answer` is cut. */
  readonly answer_ref: Ref | null;
  readonly answered_by: string;
  /** The delegation that asked. Null for the planner and the engine. */
  readonly delegation_id: string | null;
  /** True when it replaces an earlier answer. */
  readonly changed: boolean;
  /** Other values of the same fact that stood before, each with its source, in a line. Absent where there are none. */
  readonly contradicts?: string;
}

export interface NewsInstruction {
  readonly news_id: number;
  readonly type: 'instruction';
  readonly instruction: string;
  /** criterion_ids that the user waived with it. */
  readonly criteria_waived: readonly string[];
}

/** Payload of `inform`, from a parent to a child at work. */
export interface NewsDelivery {
  readonly news: readonly NewsItem[];
}

/** Payload of `progress`, from a wave to its run. */
export interface WaveProgress {
  readonly wave: number;
  readonly plan_ref: Ref;
  readonly summary: string;
  readonly delegations: readonly PlannedDelegation[];
  /** Every criterion that the plan lists. */
  readonly criterion_ids: readonly string[];
  readonly usage: Usage;
  /** Absent where the run does not choose its mode. */
  readonly mode?: ModeChoice;
}

export interface PlannedDelegation {
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly title: string;
  readonly depends_on: readonly string[];
  readonly executor: PlannedExecutor;
  /** Defined in DelegationOutline. */
  readonly rule_of_two?: string;
}

/** A delegation whose acting calls need approvals, and the reason. */
export type GuardedDelegation = Required<Pick<PlannedDelegation, 'delegation_id' | 'rule_of_two'>>;
