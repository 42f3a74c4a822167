import type { FanOutEstimate, RunBudget } from './budget.ts';
import type { RunLimits, RunLoad, ModeChoice } from './limits.ts';
import type { GuardedDelegation, PlannedDelegation } from './messages.ts';
import type { DesignStageName, StageName } from './names.ts';
import type { RunStatus, WaveSummary } from './planner-run.ts';
import type { AnsweredQuestion, Question, RejectedAnswer } from './question.ts';
import type { Claim, SectionState } from './spec.ts';
import type { StoreIdentity } from './store.ts';
import type { Usage } from './usage.ts';
import type { TriadPhase, TriadType } from './triad.ts';
import type { Fact } from './agent-output.ts';
import type { DelegationChange } from './effect.ts';
import type { PhaseReport } from './triad-run.ts';
import type { Cell, CellResult } from './evaluation.ts';
import type { ExecutorOf, PlannedExecutor } from './delegation.ts';

/** Phase of a run. The search attribute PlanwavePhase has the same values. */
export type RunPhase =
  | 'intake'
  | 'working'
  | 'waiting_for_user'
  | 'paused'
  | 'parked'
  | 'ending'
  | RunStatus
  | 'failed';

/** Answer of the query `status` on a workflow that a person started. */
export interface StatusView {
  readonly run_id: string;
  readonly goal: string;
  /** The store in which the run is kept. Absent before its input was checked. */
  readonly store?: StoreIdentity;
  /** Absent where nothing sets it. */
  readonly load?: RunLoad;
  readonly phase: RunPhase;
  readonly wave: number;
  readonly waves_allowed: number;
  /** One line per wait: who waits for what, and what happens by default. */
  readonly waiting_for: readonly string[];
  readonly open_questions: number;
  /** Use up to the last finished wave, or stage of a design; for another part that was started by hand, up to its end. */
  readonly usage: Usage;
  readonly paused_reason: string | null;
  readonly parked_reason: string | null;
  /** Reason for which it is stopping, perhaps empty. Absent before that, when it has ended, and of an evaluation. */
  readonly stop_reason?: string;
  /** Workflow id of the current wave, whose usage is not in `usage`, or null. Query it for live states. */
  readonly wave_workflow_id: string | null;
  /** Path below the artifact home; null until the run has ended. */
  readonly result_path: string | null;
  /** Delegations of the current plan whose acting calls need approvals, with the reason. Absent when there are none. */
  readonly guarded?: readonly GuardedDelegation[];
  /** Warning that the history comes near the size at which the server ends it. Absent before that. */
  readonly history_notice?: string;
  /** Absent where the input gives the mode, and before it is chosen. */
  readonly mode?: ModeChoice;
  /** Design at work. Absent before and after it. */
  readonly design?: DesignView;
  /** Stages of a design, or of a judgement of its work, that are at work: `research: PostgreSQL`. Absent where none is. */
  readonly stages_at_work?: readonly string[];
  /** State of a delegation, a triad or a phase that was started by hand. Absent in a run and a wave. */
  readonly delegation?: DelegationStatusView;
  /** Cells of an evaluation, whose `usage` is that of the cells that are done. Absent before they are listed, and in everything else. */
  readonly evaluation?: EvaluationView;
}

/** Cells of an evaluation, by what has become of them. */
export interface EvaluationView {
  /** Number of cells that have not begun. */
  readonly waiting: number;
  /** Cells that are carried out or judged, in the order of their numbers. */
  readonly at_work: readonly (Cell & Pick<CellResult, 'run_id'>)[];
  readonly passed: number;
  /** Number of all other cells that are done, those that were left out among them. */
  readonly not_passed: number;
  /** Number of the done cells whose result is that of an earlier evaluation. */
  readonly cached: number;
  /** The newest of those that did not pass. */
  readonly newest_not_passed: readonly (Cell & Pick<CellResult, 'run_id' | 'status' | 'reason'>)[];
}

/** Design at work, as far as it was reported. */
export interface DesignView {
  /** Workflow that makes it. */
  readonly workflow_id: string;
  readonly stages_done: number;
  /** Null before the first has ended. */
  readonly last_stage: DesignStageName | null;
}

/** Answer of the query `status` on a design, or an assessment of risks, that a run started. */
export type DesignStatusView = Required<Pick<StatusView, 'stages_at_work'>>;

/** Delegations that stand still until a question is answered, by delegation_id, and those who may answer. */
export interface QuestionWait {
  /** The askers. Empty for the planner and the engine. */
  readonly waiting: readonly string[];
  /** Their dependents, direct and indirect. */
  readonly blocked: readonly string[];
  /** Names of those who may decide it (`PLANWAVE_APPROVERS`). Absent: everyone. */
  readonly approvers?: readonly string[];
}

/** A question as the query `questions` shows it. A stored one has no more than the question. */
export type OpenQuestion = Question & Partial<QuestionWait>;

export interface QuestionsView {
  readonly open: readonly (Question & QuestionWait)[];
  readonly answered: readonly AnsweredQuestion[];
  /** The newest of them. */
  readonly rejected: readonly RejectedAnswer[];
  /** Number of all rejected messages. */
  readonly rejected_total: number;
}

export interface PlanView {
  readonly wave: number;
  readonly summary: string;
  readonly delegations: readonly PlannedDelegation[];
  /** Null when the plan came with the input. */
  readonly expected: FanOutEstimate | null;
}

export interface PoolView {
  /** Number of facts in the run. The newest `facts` are shown, the whole pool is in `pool.jsonl` and the pages before it. */
  readonly total: number;
  readonly facts: readonly Fact[];
}

export interface BudgetView {
  /** Sum of finished waves, and of the design or the judgement at work so far. */
  readonly usage: Usage;
  readonly limits: RunLimits;
  /** Null when nothing is limited. */
  readonly budget: RunBudget | null;
  /** Text such as `1.2 of 5 US$`: `usage` against the run's limits. Empty without limits. */
  readonly spent: string;
}

export type DelegationState =
  | 'pending'
  | 'running'
  /** The delegation has asked the user and holds no slot. */
  | 'waiting'
  /** The delegation has its answers and waits for a slot. */
  | 'resuming'
  | 'completed'
  | 'failed'
  /** Its time was over. Only a team's task has a time limit of its own. */
  | 'timed_out'
  /** It never started. */
  | 'skipped'
  | 'stopped';

export interface DelegationView extends PlannedDelegation {
  readonly state: DelegationState;
  /** Missing inputs with their producers, or the cause of its end. Empty while it works. */
  readonly reason: string;
  /** Model calls so far. Absent before the first, and where the delegation has a workflow of its own. */
  readonly turn?: number;
  /** Absent where none is demanded, before the work begins, and where the delegation has a workflow of its own. */
  readonly verification?: VerificationView;
  /** Workflow that carries it out: its wave's, or its own. Asked with the delegation's id, its query `status` tells more. */
  readonly workflow_id: string;
}

/** Answer of the query `wave` on a plannerWave. */
export interface WaveView {
  readonly wave: number;
  readonly phase: 'planning' | 'dispatching' | 'deciding' | 'done';
  readonly delegations: readonly DelegationView[];
  /** Changes of each delegation in the user's folder. Absent until all have ended, and when there are none. */
  readonly changes?: readonly DelegationChange[];
  /** Use of the planner until now, and of delegations that have ended. */
  readonly usage: Usage;
  /** delegation_ids of started delegations whose usage is not in `usage`: `status` reports it. */
  readonly at_work: readonly string[];
}

/** Answer of the query `wave` on a plannerRun. */
export interface RunWavesView {
  readonly done: readonly WaveSummary[];
  readonly current: PlanView | null;
  readonly wave_workflow_id: string | null;
}

/** Answer of the query `status` on a delegation, and on a wave for a delegation that works in it. */
export interface DelegationStatusView {
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly title: string;
  readonly state: DelegationState;
  /** Model calls so far. */
  readonly turn: number;
  /** The questions that it waits for, or empty. */
  readonly waiting_for: string;
  readonly usage: Usage;
  /** Workflow ids of phases, of its triad or in its team, whose usage is not in `usage`: each reports its own. Absent when none is running. */
  readonly phases_at_work?: readonly string[];
  readonly executor: ExecutorView;
  /** Verification that it waits for or works after. Absent where none is demanded. */
  readonly verification?: VerificationView;
}

export interface VerificationView {
  readonly verified_by: string;
  readonly state: 'working' | 'verifying' | 'verified' | 'unverified';
  /** Number of the attempt, from 1, and the attempts until the user is asked. */
  readonly attempt: number;
  readonly attempts_max: number;
}

/** State of an executor while it works; `view` is null before it begins. */
export type ExecutorView =
  | ExecutorOf<PlannedExecutor, 'agent'>
  /** The phase as it began or ended; how far it is in between, the phase itself tells. */
  | (ExecutorOf<PlannedExecutor, 'triad'> & { readonly view: TriadPhaseView | null })
  | (ExecutorOf<PlannedExecutor, 'team'> & { readonly view: TeamView | null });

export interface TeamView {
  readonly team_id: string | null;
  readonly leader: TeamLeaderView;
  /** All tasks, in the order in which they were created. */
  readonly tasks: readonly TaskView[];
  /** Refused calls of the leader, with the reason: the newest `refusalsShownMax`. */
  readonly refused: readonly { readonly member_id: string; readonly reason: string }[];
  /** Number of all refused calls. */
  readonly refused_total: number;
  readonly max_delegations: number;
  /** Seconds of work until now, and their limit. */
  readonly worked_seconds: number;
  readonly timeout: number;
  readonly notes: readonly string[];
}

export interface TeamLeaderView {
  readonly agent_id: string;
  readonly state: 'opening' | 'thinking' | 'waiting_for_members' | 'waiting_for_user' | 'done';
  /** Model calls so far. */
  readonly turns: number;
  readonly usage: Usage;
}

export interface TaskView {
  readonly delegation_id: string;
  readonly member_id: string;
  /** Same form as `TeamSeat.executor_id`. */
  readonly executor_id: string;
  readonly title: string;
  readonly state: DelegationState;
  /** Reason why it waits, or the cause of its end. Empty while it works. */
  readonly reason: string;
  readonly attempts: number;
  readonly turns: number;
  readonly usage: Usage;
  readonly executor: ExecutorView;
}

/** Answer of the query `status` on a triadPhase below a delegation. */
export interface PhaseStatusView extends TriadPhaseView {
  /** Use of all members in this attempt, until now. */
  readonly usage: Usage;
}

export interface TriadPhaseView {
  readonly type: TriadType;
  readonly phase: TriadPhase;
  readonly state: 'running' | PhaseReport['status'];
  /** Number of the round, from 1; 0 where only the phase itself knows it. */
  readonly round: number;
  readonly rounds_max: number;
  /** Names of the members at work, if known. */
  readonly at_work: readonly string[];
  readonly sections: readonly Pick<SectionState, 'section_id' | 'owner' | 'status' | 'version'>[];
  readonly claims: readonly Pick<
    Claim,
    'claim_id' | 'section_id' | 'member' | 'revision' | 'state'
  >[];
}

/** Heartbeat details of a model call in flight, for live views. */
export interface TurnProgress {
  readonly agent_id: string;
  /** Defined in ModelTurnInput. */
  readonly delegation_id?: string;
  readonly stage: StageName;
  /** Number of the turn in its conversation, from 1. Absent until the conversation is read. */
  readonly turn?: number;
  readonly output_tokens: number;
  readonly last_words: string;
  /**
   * The text for people, without the JSON around it: `text` is its end, and `text_chars` counts all of it so far, so
   * that the next reader knows what is new. It only grows, except when an attempt begins anew. It has no secrets, and
   * lags a little behind the stream for that reason. Absent while there is none.
   */
  readonly text?: string;
  readonly text_chars?: number;
}
