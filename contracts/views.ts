import type { FanOutEstimate, RunBudget } from './budget.ts';
import type { ExecutorOf, PlannedExecutor } from './executor.ts';
import type { Fact } from './fact.ts';
import type { RunLimits } from './limits.ts';
import type { PlannedDelegation } from './messages.ts';
import type { RunStatus, WaveSummary } from './planner-run.ts';
import type { AnsweredQuestion, Question, RejectedAnswer } from './question.ts';
import type { Claim, SectionState } from './spec.ts';
import type { TaskStatus } from './team-run.ts';
import type { TriadPhase, TriadType } from './triad.ts';
import type { PhaseReport } from './triad-run.ts';
import type { Usage } from './usage.ts';

/** Where a run is. The search attribute PlanwavePhase has the same values. */
export type RunPhase =
  | 'intake'
  | 'working'
  | 'waiting_for_user'
  | 'paused'
  | 'parked'
  | 'ending'
  | RunStatus
  | 'failed';

/** Answer of the query `status` on a workflow that was not started by another. */
export interface StatusView {
  readonly run_id: string;
  readonly goal: string;
  readonly phase: RunPhase;
  readonly wave: number;
  readonly waves_allowed: number;
  /** One line per wait: who waits for what, and what happens by default. */
  readonly waiting_for: readonly string[];
  readonly open_questions: number;
  /** Up to the last finished wave; of a part that was started by hand, when it is over. */
  readonly usage: Usage;
  readonly paused_reason: string | null;
  readonly parked_reason: string | null;
  /** Workflow id of the wave at work, whose usage is not in `usage`, or null. Query it for live states. */
  readonly wave_workflow_id: string | null;
  /** Below the artifact home; null until the run has ended. */
  readonly result_path: string | null;
  /** What a delegation, a triad or a phase does that was started by hand. Absent in a run and a wave. */
  readonly delegation?: DelegationStatusView;
}

/** What stands still until a question is answered, as delegation_ids. */
export interface QuestionWait {
  /** Who asked. Empty when the planner or the engine did. */
  readonly waiting: readonly string[];
  /** What depends on them, directly or through others. */
  readonly blocked: readonly string[];
}

export interface QuestionsView {
  readonly open: readonly (Question & QuestionWait)[];
  readonly answered: readonly AnsweredQuestion[];
  readonly rejected: readonly RejectedAnswer[];
}

export interface PlanView {
  readonly wave: number;
  readonly summary: string;
  readonly delegations: readonly PlannedDelegation[];
  /** Null when the plan came with the input. */
  readonly expected: FanOutEstimate | null;
}

export interface PoolView {
  /** Facts recorded in the run. The newest `facts` are shown, the whole pool is in `pool.jsonl`. */
  readonly total: number;
  readonly facts: readonly Fact[];
}

export interface BudgetView {
  readonly usage: Usage;
  readonly limits: RunLimits;
  /** Null: nothing is limited. */
  readonly budget: RunBudget | null;
  /** `1.2 of 5 US$`: spent by finished waves, against the run's limits. Empty without limits. */
  readonly spent: string;
}

export type DelegationState =
  | 'pending'
  | 'running'
  /** Asked the user and holds no slot. */
  | 'waiting'
  /** Has its answers and waits for a slot. */
  | 'resuming'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'stopped';

export interface DelegationView extends PlannedDelegation {
  readonly state: DelegationState;
  /** What it waits for and who will produce it, or why it ended. Empty when it works. */
  readonly reason: string;
  readonly workflow_id: string;
}

/** Answer of the query `wave` on a plannerWave. */
export interface WaveView {
  readonly wave: number;
  readonly phase: 'planning' | 'dispatching' | 'deciding' | 'done';
  readonly delegations: readonly DelegationView[];
  /** Of the planner until now, and of delegations that have ended. */
  readonly usage: Usage;
  /** Workflow ids of delegations that were started and whose usage is not in `usage`: each tells its own. */
  readonly at_work: readonly string[];
}

/** Answer of the query `wave` on a plannerRun. */
export interface RunWavesView {
  readonly done: readonly WaveSummary[];
  readonly current: PlanView | null;
  readonly wave_workflow_id: string | null;
}

/** Answer of the query `status` on a delegation. */
export interface DelegationStatusView {
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly title: string;
  readonly state: DelegationState;
  /** Model calls so far. */
  readonly turn: number;
  /** The questions it waits for, or empty. */
  readonly waiting_for: string;
  readonly usage: Usage;
  /**
   * Workflow ids of phases whose usage is not in `usage`, of its triad or of those in its team: each tells its own. Absent
   * when none is at work.
   */
  readonly phases_at_work?: readonly string[];
  readonly executor: ExecutorView;
}

/** What an executor shows of itself while it works; null before it began. */
export type ExecutorView =
  | ExecutorOf<PlannedExecutor, 'agent'>
  /** The phase as it began or ended; how far it is in between, the phase itself tells. */
  | (ExecutorOf<PlannedExecutor, 'triad'> & { readonly view: TriadPhaseView | null })
  | (ExecutorOf<PlannedExecutor, 'team'> & { readonly view: TeamView | null });

/** Where a team is. */
export interface TeamView {
  readonly team_id: string | null;
  readonly leader: TeamLeaderView;
  /** Every task that was given out, in that order. */
  readonly tasks: readonly TaskView[];
  /** Calls of the leader that were not carried out, with why: the newest `refusalsShownMax`. */
  readonly refused: readonly { readonly member_id: string; readonly reason: string }[];
  /** How many there were in all. */
  readonly refused_total: number;
  readonly max_delegations: number;
  /** Seconds of work until now, and its limit. */
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
  /** As in `TeamSeat.executor_id`. */
  readonly executor_id: string;
  readonly title: string;
  readonly state: 'pending' | 'running' | 'waiting' | TaskStatus;
  /** What it waits for, or why it ended. Empty when it works. */
  readonly reason: string;
  readonly attempts: number;
  readonly turns: number;
  readonly usage: Usage;
  readonly executor: ExecutorView;
}

/** Answer of the query `status` on a triadPhase below a delegation. */
export interface PhaseStatusView extends TriadPhaseView {
  /** Of all members in this attempt, until now. */
  readonly usage: Usage;
}

/** Where a triad is. */
export interface TriadPhaseView {
  readonly type: TriadType;
  readonly phase: TriadPhase;
  readonly state: 'running' | PhaseReport['status'];
  /** From 1; 0 where only the phase itself knows it. */
  readonly round: number;
  readonly rounds_max: number;
  /** Names of the members at work, where they are known. */
  readonly at_work: readonly string[];
  readonly sections: readonly Pick<SectionState, 'section_id' | 'owner' | 'status' | 'version'>[];
  readonly claims: readonly Pick<
    Claim,
    'claim_id' | 'section_id' | 'member' | 'revision' | 'state'
  >[];
}
