import type { RunBudget } from './budget.ts';
import type { DelegationOutcome } from './delegation-run.ts';
import type { DesignRequest } from './design-run.ts';
import type { DesignActivities } from './design-activities.ts';
import type { EvaluationActivities } from './evaluation.ts';
import type {
  EffectOrder,
  RecordedEffect,
  ApplyChangesInput,
  ApplyChangesResult,
  ChangesInput,
  FindMergeConflictsInput,
  FindMergeConflictsResult,
  MergeConflict,
  ProposedChanges,
} from './effect.ts';
import type { RunLoad } from './limits.ts';
import type { AmendedAnswer, AmendMessage } from './messages.ts';
import type { TurnAnswer, TurnCall, ToolCall } from './model-turn.ts';
import type { Notification } from './notification.ts';
import type { OutputFault } from './output-fault.ts';
import type { Ref } from './ref.ts';
import type { RecordChange, RecordedResult } from './run-record.ts';
import type { RunTerms, TakenOver } from './planner-run.ts';
import type { SpecState } from './spec.ts';
import type {
  ApplyMiddlewareInput,
  ApplyMiddlewareResult,
  ExecutorEnd,
  LoadThreadInput,
  LoadThreadResult,
  OpenTeamInput,
  OpenTeamResult,
  PlanTasksInput,
  PlanTasksResult,
  RecordTeamInput,
  RecordTeamResult,
  RewriteTaskInput,
  RewriteTaskResult,
  SaveThreadInput,
} from './team-run.ts';
import type { workflowTypes } from './names.ts';
import type { Usage } from './usage.ts';
import type { OrderJudgementInput, VerificationActivities } from './verification.ts';
import type { TriadPhase } from './triad.ts';
import type { WavePlanOutline } from './wave-plan.ts';
import type { Fact } from './agent-output.ts';
import type { ArchiveSessionsInput, ArchiveSessionsResult } from './note.ts';
import type { CriterionState } from './criterion.ts';
import type { RecordPhaseInput, RecordPhaseResult } from './triad-run.ts';

/** Activities that workflows may call. Workflows see only these signatures; `activities/` implements them. */
export interface Activities extends DesignActivities, EvaluationActivities, VerificationActivities {
  /** @throws InvalidInput with every fault at once. */
  readonly openRun: (input: OpenRunInput) => Promise<OpenRunResult>;
  /**
   * Makes one model call, and those tool calls of its reply that change nothing. A stored reply is never bought again.
   */
  readonly modelTurn: (call: TurnCall) => Promise<TurnAnswer>;
  /**
   * Returns the billed usage of all attempts at a model call that was cancelled before it could report: from the reply
   * ledger. The activity id is that of the call, in the workflow that asks.
   */
  readonly recallSpent: (input: {
    readonly activity_id: string;
  }) => Promise<{ readonly usage: Usage }>;
  /**
   * Returns the billed usage below a workflow id since Unix epoch milliseconds, lost executions included, that is missing in
   * `known`.
   */
  readonly recallRunSpent: (input: {
    readonly place: string;
    readonly since: number;
    readonly known: Usage;
  }) => Promise<{
    readonly missed: Usage;
  }>;
  /**
   * Makes one call of a tool that changes something outside, at most once, however often the activity is repeated. A
   * failing tool is a result with `is_error`, not an error.
   */
  readonly runTool: (input: RunToolInput) => Promise<RunToolResult>;
  /** Stores a text that is too long for history. */
  readonly storeText: (input: { readonly text: string }) => Promise<{ readonly ref: Ref }>;
  /** Checks changed answers against their questions, and stores long ones. */
  readonly judgeAnswers: (input: JudgeAnswersInput) => Promise<JudgeAnswersResult>;
  /**
   * Finds contradictions that the planner's decision on a wave leaves: in the pool, among members of triads, in its own
   * text, and an answer that does not exist.
   */
  readonly reviewDecision: (input: ReviewDecisionInput) => Promise<ReviewDecisionResult>;
  /** Applies changes to the run's record, stores the new one, and writes the projection. */
  readonly updateRecord: (input: UpdateRecordInput) => Promise<UpdateRecordResult>;
  /** Sums up what the run's agents have changed in the user's folder; null when there is nothing. */
  readonly proposeChanges: (input: ChangesInput) => Promise<ProposedChanges | null>;
  /** Finds changes of the same lines among the completed delegations of a run. */
  readonly findMergeConflicts: (
    input: FindMergeConflictsInput,
  ) => Promise<FindMergeConflictsResult>;
  /** Brings these changes into the folder, once. */
  readonly applyRunChanges: (input: ApplyChangesInput) => Promise<ApplyChangesResult>;
  /** Archives the sessions of runs that ended without a word. */
  readonly archiveSessions: (input: ArchiveSessionsInput) => Promise<ArchiveSessionsResult>;
  /** Stores the state of a triad's phase, and shows it in `.planning/<run>/triads/<delegation>/`. */
  readonly recordPhase: (input: RecordPhaseInput) => Promise<RecordPhaseResult>;
  /** Returns the team of a delegation, with every default filled in. @throws InvalidInput when it can't start. */
  readonly openTeam: (input: OpenTeamInput) => Promise<OpenTeamResult>;
  /** Replaces the message of a team by the text of a middleware. */
  readonly rewriteTask: (input: RewriteTaskInput) => Promise<RewriteTaskResult>;
  /** Orders the judgement of the triad that verifies, as a delegation of a plan of its own. */
  readonly orderJudgement: (input: OrderJudgementInput) => Promise<WavePlanOutline>;
  /** Turns the tasks of one reply of a leader into delegations. */
  readonly planTasks: (input: PlanTasksInput) => Promise<PlanTasksResult>;
  /**
   * Applies one middleware or guardrail to one text. @throws MiddlewareFailed when it threw, took too long or gave no
   * verdict; InvalidInput when the worker has none of that name.
   */
  readonly applyMiddleware: (input: ApplyMiddlewareInput) => Promise<ApplyMiddlewareResult>;
  /** Stores the report of a team, and shows it in `.planning/<run>/teams/<delegation>.md`. */
  readonly recordTeam: (input: RecordTeamInput) => Promise<RecordTeamResult>;
  /** Returns the parts of a thread that help with the message. @throws ThreadUnavailable when it can't be read. */
  readonly loadThread: (input: LoadThreadInput) => Promise<LoadThreadResult>;
  /** Tells a person about a run, by the setting of the worker; without one it does nothing. @throws NotificationFailed */
  readonly sendNotification: (input: Notification) => Promise<void>;
  /** Adds a message, its answer and its delegations to a thread, once. @throws ThreadUnavailable */
  readonly saveThread: (input: SaveThreadInput) => Promise<void>;
}

export interface OpenRunInput {
  readonly workflow_type: Exclude<
    keyof typeof workflowTypes,
    'consultation' | 'archival' | 'evaluation' | 'notification'
  >;
  readonly run_id: string;
  /** Temporal's run id of the first execution with this workflow id; a reset and a continuation keep it. Absent for a child. */
  readonly chain_id?: string;
  /** Unchecked text of the user; validated in the activity, because workflow code does not load zod. */
  readonly input: unknown;
  /** Place in the queues by the start command, unchecked. Absent without one. */
  readonly load?: RunLoad;
  /** Unix epoch seconds. */
  readonly started_at: number;
}

export interface OpenRunResult extends RunTerms {
  readonly record_ref: Ref;
  /** Null when nothing is limited. */
  readonly budget: RunBudget | null;
  /** The user's own criteria, all open. */
  readonly criteria: readonly CriterionState[];
  readonly known_inputs: readonly string[];
  /** The plan in the input: of a wave with `delegations`, or of a single delegation. */
  readonly plan: WavePlanOutline | null;
  /** Start of a single phase; absent for all others. */
  readonly phase_start?: PhaseStart;
  /** Settings of the run's design, and its plan if the input has one. Absent where no design is made. */
  readonly design?: DesignRequest;
  /** Everything that the run takes over from another one. Absent for one that begins from nothing. */
  readonly taken_over?: TakenOver;
}

/** Typed input that starts a single phase of a triad. */
export interface PhaseStart {
  readonly phase: TriadPhase;
  readonly spec: SpecState;
  /** The PhaseSummary as JSON, or a typed text as Markdown. */
  readonly summary_ref: Ref | null;
}

export interface RunToolInput {
  readonly run_id: string;
  readonly agent_id: string;
  /** Defined in ModelTurnInput. */
  readonly delegation_id?: string;
  /** Delegations whose results the caller has: their changes are in its copy of the workspace. */
  readonly builds_on: readonly string[];
  readonly registry_ref: Ref;
  readonly call: ToolCall;
  readonly record_ref: Ref;
  /** Without it the call is refused. */
  readonly effect?: EffectOrder;
}

export type RunToolResult = ToolDone | ApprovalNeeded | EffectUnverified;

export interface ToolDone {
  readonly type: 'done';
  readonly result_ref: Ref;
  readonly is_error: boolean;
  /** Absent for a call that was refused before its effect began. */
  readonly effect?: EffectReport;
}

export type EffectReport = Pick<RecordedEffect, 'state' | 'target' | 'receipt' | 'reason'>;

/** Nothing was done: the user has to approve the call first. */
export interface ApprovalNeeded {
  readonly type: 'needs_approval';
  readonly target: string;
  /** The arguments as JSON, cut. The whole is behind the call's `input_ref`. */
  readonly arguments_shown: string;
  /** The state of the target that the call would replace; empty when nothing of others is lost. */
  readonly before: string;
  /** Describes, in lines that are cut, what the call would replace. */
  readonly loss_shown: readonly string[];
}

/** The result of the effect is unknown: the user has to decide. */
export interface EffectUnverified {
  readonly type: 'unverified';
  readonly target: string;
  readonly found: string;
  /** Number of times the result was unknown, from 1. */
  readonly round: number;
}

export interface JudgeAnswersInput {
  /** Record with every answer that was taken. */
  readonly record_ref: Ref;
  readonly answers: NonNullable<AmendMessage['answers']>;
}

/** All answers are taken, or none. */
export type JudgeAnswersResult =
  | { readonly type: 'taken'; readonly answers: readonly AmendedAnswer[] }
  | { readonly type: 'refused'; readonly reasons: readonly string[] };

export interface ReviewDecisionInput {
  /** The record at the start of the wave. Until the wave ends, no fact is added that could contradict another. */
  readonly record_ref: Ref;
  readonly wave: number;
  readonly outcomes: readonly (Pick<
    DelegationOutcome,
    'delegation_id' | 'status' | 'turns' | 'output_ref'
  > & {
    /** Null for an agent, and where nothing came of a triad or a team. */
    readonly executor_end: ExecutorEnd | null;
  })[];
  /** Defined in RecordedWave. */
  readonly merge_conflicts?: readonly MergeConflict[];
  readonly decision_ref: Ref;
}

export interface ReviewDecisionResult {
  /** At most `faultsShownMax` of `core/limits.ts`. */
  readonly faults: readonly OutputFault[];
}

export interface UpdateRecordInput {
  readonly run_id: string;
  readonly record_ref: Ref;
  readonly changes: readonly RecordChange[];
  /** Unix epoch seconds. */
  readonly now: number;
}

export interface UpdateRecordResult {
  readonly record_ref: Ref;
  /** Facts in the whole record. */
  readonly facts_total: number;
  /** The newest facts that these changes added, at most `factsCarriedMax` of `core/limits.ts`, statements cut to 200. */
  readonly facts_added: readonly Fact[];
  /** Names that the record knows and a delegation may require. */
  readonly known_inputs: readonly string[];
  /** delegation_ids that may be redone, at most `staleShownMax` of `core/limits.ts`. */
  readonly stale: readonly string[];
  /** Null unless the changes end the run. */
  readonly result: RecordedResult | null;
}
