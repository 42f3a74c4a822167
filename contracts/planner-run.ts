import { z } from 'zod';
import type { CarriedBudget } from './budget.ts';
import type { AgentSummary, Taint } from './agent-definition.ts';
import { CoordinationPlan } from './coordination-plan.ts';
import { ForkPoint } from './fork.ts';
import { designSettings } from './design-run.ts';
import type { DesignRequest, FinishedStages, PlanOutline } from './design-run.ts';
import type {
  AnsweredQuestion,
  AcceptedAnswer,
  AskedBefore,
  Question,
  RejectedAnswer,
  Autonomy,
  QuestionRules,
} from './question.ts';
import type { NotifiedState } from './notification.ts';
import type { StoreIdentity } from './store.ts';
import { NamedTeams, type TeamSummary } from './team.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';
import type { Fact } from './agent-output.ts';
import type { ChangeSize } from './effect.ts';
import type { TriadType } from './triad.ts';
import type { RunLimits, ChangesMode, RunLoad, ModeChoice } from './limits.ts';
import { runSettings } from './limits.ts';
import type { CriterionState } from './criterion.ts';
import type { UnjudgedWave } from './adaptation.ts';

/** Typed input that starts a run: `{"goal":"…"}` is enough. */
export const PlannerRunInput = z.strictObject({
  goal: z
    .string()
    .trim()
    .min(1, 'expected a goal. Try: {"goal":"Compare three ways to …"}')
    .max(100_000),
  constraints: z.array(z.string().trim().min(1).max(4_000)).max(50).optional(),
  /** Criteria of the user's own. The run is not done before each is met with evidence or waived. */
  criteria: z.array(z.string().trim().min(1).max(1_000)).max(20).optional(),
  /**
   * direct: the planner plans wave by wave. designed: a design is made and approved first. auto: the planner's first plan
   * decides, by `core/design/graph.ts`. Default direct.
   */
  mode: z.enum(['direct', 'designed', 'auto']).optional(),
  /** An approved plan, which is carried out without a design. */
  plan: CoordinationPlan.optional(),
  /** Go on from another run, whose earlier waves are not done or paid again. */
  from: ForkPoint.optional(),
  ...designSettings,
  /** False: every delegation is done by one agent. Default true. */
  triads: z.boolean().optional(),
  /** Teams that the planner may give a delegation to, besides those it defines; false: none at all. */
  teams: NamedTeams.optional(),
  ...runSettings,
});
export type PlannerRunInput = z.infer<typeof PlannerRunInput>;

export type RunStatus =
  | 'completed'
  /** Ended by the user's choice with criteria unmet. */
  | 'finished_unmet'
  | 'stopped'
  | 'abandoned';

export interface CriterionResult {
  readonly criterion_id: string;
  readonly state: CriterionState['state'];
  /** Reason why it is open; empty for one that is met or waived. `report.md` has the evidence. */
  readonly reason: string;
}

/** Answer of a run to the user, with the paths of its files. Every workflow that a person started returns it. */
export interface RunAnswer {
  /**
   * Markdown. An answer longer than `returnedAnswerCharsMax` of `core/limits.ts` is cut, with a last line that says
   * where the whole is. Empty when there is none.
   */
  readonly answer: string;
  /** Path of `result.md`, the whole answer, below the artifact home. */
  readonly result_path: string;
  /** Path of `report.md`, which explains how the answer was produced, below the artifact home. */
  readonly report_path: string;
}

/** Answer of a wave, delegation, triad, phase, team or design that a person started. */
export type LoneAnswer = RunAnswer & Partial<Pick<PlannerRunResult, 'stop_reason'>>;

export interface PlannerRunResult extends RunAnswer {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly waves: number;
  readonly criteria: readonly CriterionResult[];
  readonly usage: Usage;
  readonly record_ref: Ref;
  /** Reason why it was stopped. Absent when none was given, and for every other status. */
  readonly stop_reason?: string;
  /** `result.md` and `report.md` as artifacts. */
  readonly result_ref: Ref;
  readonly report_ref: Ref;
}

/** Settings that a run has from its input, and gives to each of its waves. */
export interface WorkTerms {
  readonly registry_ref: Ref;
  readonly agents: readonly AgentSummary[];
  readonly limits: RunLimits;
  readonly use_defaults: boolean;
  /** True when agents keep completion-drive notes. Absent when they do not. */
  readonly notes?: boolean;
  readonly autonomy: Autonomy;
  /** True when every delegation gets a verifier; or criteria for which one is required. Absent: those of its plan. */
  readonly verify?: true | readonly string[];
  /** Type of the triad that judges what `verify` names. Absent: one agent does. */
  readonly verify_triad?: TriadType;
  /** Defined in `runSettings`. Absent for a run without a folder of the user's. */
  readonly changes?: ChangesMode;
  /** True when triads may do delegations. */
  readonly triads: boolean;
  /** Teams that a plan may name; null when teams are not allowed. */
  readonly teams: readonly TeamSummary[] | null;
  /** Models that members of triads may get: those that agents or the input name, and those of the provider. */
  readonly models: readonly string[];
}

/** Settings that a run has from its input to its end. */
export interface RunTerms extends WorkTerms {
  /** One line, at most 120 characters. */
  readonly goal_title: string;
  /** The store in which the run is kept. */
  readonly store: StoreIdentity;
  /** Absent where nothing sets it. */
  readonly load?: RunLoad;
  /** Defined in `runSettings`. Absent when somebody may answer. */
  readonly unattended?: boolean;
  /** True when a person is told that the run needs one, and that it has ended (`PLANWAVE_NOTIFY`). Absent: never. */
  readonly notify?: true;
  readonly questions: QuestionRules;
  /** Names of those who may decide what lets the run act or spend (`PLANWAVE_APPROVERS`). Null: everyone. */
  readonly approvers: readonly string[] | null;
}

/** Knowledge of a run between two waves: the next wave gets it, and the run carries it over continue-as-new. */
export interface RunKnowledge {
  readonly record_ref: Ref;
  readonly criteria: readonly CriterionState[];
  readonly known_inputs: readonly string[];
  /** Ids of all waves so far. */
  readonly delegation_ids: readonly string[];
  /** Number of dispatches by the fingerprint of their delegations. */
  readonly fingerprints: Readonly<Record<string, number>>;
  /** delegation_ids that may be redone. */
  readonly stale: readonly string[];
  readonly amendments: readonly string[];
  /** Number of facts in the record: their ids are `f1` to this one. */
  readonly facts_total: number;
  /** Properties of the results of all waves. Absent when they have none. */
  readonly taint?: Taint;
}

/** State that a run carries over continue-as-new; only the engine writes it. Of bounded size: the rest is behind `record_ref`. */
export interface CarriedRun extends RunTerms, RunKnowledge {
  readonly version: 1;
  readonly started_at: number;
  readonly budget: CarriedBudget | null;
  /** Defined in OpenRunResult. Absent where no design is made. */
  readonly design_request?: DesignRequest;
  /** Absent where the input gives the mode. */
  readonly mode_chosen?: ModeChoice;
  /** Plan of the wave that called for a design. Absent without one. */
  readonly first_plan_ref?: Ref;
  /** The approved plan that the run carries out. Absent without one. */
  readonly plan_approved?: PlanOutline;
  /** Finished stages of a design that is not approved, and the use of its attempts so far. Absent without one. */
  readonly design_at_work?: FinishedStages & { readonly lost: Usage };
  /** delegation_ids of a designed run that crashed and are wanted again. Absent when there are none. */
  readonly again?: readonly string[];
  /** Absent when the last wave was judged, and in a direct run. */
  readonly unjudged?: UnjudgedWave;
  readonly wave: number;
  readonly waves_allowed: number;
  readonly usage: Usage;
  readonly inbox: CarriedInbox;
  /** The newest answers, for the query `questions`; all are in the record. */
  readonly recent_answers: readonly AnsweredQuestion[];
  readonly recent_facts: readonly Fact[];
  /** Ids of news, all of it in the record: the newest, the newest from the user, and the newest considered. */
  readonly news: { readonly last: number; readonly from_user: number; readonly considered: number };
  /** Criteria that the user waived, including some that no plan had listed at that time. */
  readonly waived: readonly string[];
  /** Absent where no person is told. */
  readonly notified?: NotifiedState;
  readonly wave_outlines: readonly WaveSummary[];
  readonly paused_reason: string | null;
  readonly parked_reason: string | null;
  /** Unix epoch milliseconds at which a parked run goes on by itself. Absent: after a resume. */
  readonly parked_until?: number;
  /** Present where it has gone on by itself and parked again at once, so that no person is told of this park. */
  readonly parked_again?: true;
}

/** State of the inbox. Bounded: `core/limits.ts` proves that it fits into one payload with the rest. */
export interface CarriedInbox {
  /** Listed in the order of asking. */
  readonly open: readonly Question[];
  /** Accepted answers by question_id: enough to recognise a repetition, and to show the first answer. */
  readonly answered: Readonly<Record<string, AcceptedAnswer>>;
  readonly next_question: number;
  /** Maps `<task>|<hash of the normalised text>` to the number of times it was asked, and the last question_id. */
  readonly asked: Readonly<Record<string, AskedBefore>>;
  /** The newest rejected messages, oldest first. */
  readonly rejected: readonly RejectedAnswer[];
  readonly rejected_total: number;
  /** Escalations that wait for at least one answer, in the order of asking. */
  readonly pending: readonly PendingEscalation[];
  /** Answers that work took which the run does once more, or that no one waited for, oldest first. Absent: there are none. */
  readonly left?: readonly LeftAnswer[];
}

/** Answer to a question of work that the run does once more: whoever asks the same again takes it. */
export interface LeftAnswer {
  readonly question: Question;
  readonly settled: SettledAnswer;
  /** True when the work has asked again: then only askers that would join an open question take it, too. */
  readonly is_taken: boolean;
}

export interface PendingEscalation {
  readonly escalation_id: string;
  /** The workflow that waits. */
  readonly from: string;
  /** The delegation that asked; null for the planner and the engine. */
  readonly delegation_id: string | null;
  /** One answer for each question of the escalation, in its order. */
  readonly answers: readonly PendingAnswer[];
}

export interface PendingAnswer {
  readonly question_id: string;
  readonly text: string;
  /** Null while the question is open. */
  readonly settled: SettledAnswer | null;
  /** Defined in DeliveredAnswer. */
  readonly is_last?: true;
}

export interface SettledAnswer {
  /** The answer as text, cut to `inlineAnswerCharsMax` of `core/limits.ts`. */
  readonly answer_text: string;
  /** True when `answer_text` is not the whole answer. */
  readonly is_cut: boolean;
  /** Address of the whole of a cut answer, once it is stored. */
  readonly answer_ref: Ref | null;
  readonly answered_by: string;
  readonly loop: boolean;
}

/** Everything that a run takes over from the one that it goes on from. Bounded like CarriedRun, whose fields have the same meaning. */
export interface TakenOver extends Pick<
  CarriedRun,
  'wave' | 'delegation_ids' | 'fingerprints' | 'taint' | 'stale' | 'facts_total' | 'recent_facts'
> {
  readonly wave_outlines: readonly WaveSummary[];
  readonly amendments: readonly string[];
  readonly waived: readonly string[];
  readonly mode_chosen?: ModeChoice;
  readonly answered: CarriedInbox['answered'];
  readonly next_question: number;
  readonly recent_answers: readonly AnsweredQuestion[];
  /** The instruction of the fork point. Absent without one. */
  readonly instruction?: string;
  readonly again?: CarriedRun['again'];
  readonly unjudged?: UnjudgedWave;
}

/** Input of `plannerRun`: typed by a person, or carried over when it continues as new. */
export type PlannerRunArgs = PlannerRunInput | { readonly carried: CarriedRun };

export interface WaveSummary {
  readonly wave: number;
  /** Null when no planner decided on it. */
  readonly io_status: 'OK' | 'NOT_OK' | null;
  readonly completed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly criteria_met: number;
  readonly criteria_open: number;
  /** Changes of its completed delegations in the user's folder. Absent when there are none. */
  readonly changed?: ChangeSize;
  readonly usage: Usage;
}
