import type { FanOutEstimate } from './budget.ts';
import type { Adaptation } from './adaptation.ts';
import type { DesignProgress, RecordedDesign } from './design-run.ts';
import type { DelegationOutcome } from './delegation-run.ts';
import type { AcceptanceCriterion } from './delegation.ts';
import type { RecordedEffect, WrittenFile, MergeConflict, SettledChanges } from './effect.ts';
import type { AmendedAnswer, GuardedDelegation, WaveProgress } from './messages.ts';
import type { SessionReport, ArchivalResult } from './note.ts';
import type { RunAnswer, RunStatus } from './planner-run.ts';
import type { AnsweredQuestion, Question, RejectedAnswer } from './question.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';
import type { RunPhase } from './views.ts';
import type { Fact, UserFact } from './agent-output.ts';
import type { ChangesMode, ModeChoice, RunLoad } from './limits.ts';
import type { CriterionState } from './criterion.ts';

/** Facts, answers and decision in the packets of all delegations of a wave. */
export interface ShownToWave {
  /** Assumptions that stood. */
  readonly fact_ids: readonly string[];
  /** Questions that were answered. */
  readonly question_ids: readonly string[];
  /** Source of the wave_compact: `wave-001/planner_decision`. Null before the first decision. */
  readonly decision: string | null;
}

/** An output of another delegation that a delegation received. */
export interface ConsumedInput {
  /** The name under which it was received: a delegation_id, or a name that the delegation produces. */
  readonly name: string;
  /** Source of the output: `wave-001/<delegation_id>`. */
  readonly source: string;
}

/** Basis of a completed delegation, besides what its wave was shown. */
export interface Consumption {
  readonly delegation_id: string;
  readonly wave: number;
  /** Its own questions that were answered. */
  readonly question_ids: readonly string[];
  /** Outputs that it depended on, required or loaded. */
  readonly inputs: readonly ConsumedInput[];
}

/** A completed delegation whose basis has changed. */
export interface StaleDelegation {
  readonly delegation_id: string;
  readonly wave: number;
  /** The first reasons that were found, at most `staleReasonsMax` of `core/limits.ts`. */
  readonly reasons: readonly string[];
  /** The delegation that redid it. Null while none has. */
  readonly redone_by: string | null;
}

/** The run that a run went on from. */
export interface RunOrigin {
  readonly run_id: string;
  /** The first wave that is done anew. */
  readonly wave: number;
  /** Use of the work that was taken over: the other run paid it. */
  readonly reused: Usage;
}

/** Versions of the record's shape, newest last. A reader refuses others by name. */
export const runRecordVersions = [1] as const;

/** A detail that a packet can list and `load_detail` can return (seed 004 §4). */
export interface DetailEntry {
  /** `<delegation_id>` for a delegation's detailed_md, or a name that it produces. */
  readonly detail_id: string;
  readonly title: string;
  readonly summary: string;
  readonly tags: readonly string[];
  /** Bytes of the detail. */
  readonly size: number;
  /** The agent output that holds it. */
  readonly output_ref: Ref;
  /** Files that belong to it. Absent when there are none. */
  readonly files?: readonly WrittenFile[];
}

export interface RecordedCriterion extends AcceptanceCriterion {
  readonly state: CriterionState['state'];
  readonly delegation_id: string | null;
  /** The question whose answer waived or met it. Absent when no answer did. */
  readonly question_id?: string;
  /** Evidence when it is met, otherwise the last reason why not. */
  readonly note: string;
}

export interface RecordedWave {
  readonly wave: number;
  /** `lost`: it was terminated or failed, and reported nothing. */
  readonly status: 'running' | 'decided' | 'stopped' | 'abandoned' | 'finished' | 'lost';
  readonly plan_ref: Ref | null;
  /**
   * The record from which the packets of its delegations were rendered. Null without a plan, because there were none.
   */
  readonly record_ref: Ref | null;
  readonly outcomes: readonly DelegationOutcome[];
  readonly decision_ref: Ref | null;
  /** Contradictory changes of the workspace. Absent when there were none. */
  readonly merge_conflicts?: readonly MergeConflict[];
  /** Changes of tasks that its completed teams left out, because others of the team changed the same lines. Absent when there were none. */
  readonly task_conflicts?: readonly MergeConflict[];
  readonly usage: Usage;
}

export interface StoredWave extends Omit<RecordedWave, 'record_ref'> {
  /** Unix epoch seconds. Null when the wave ended before it had a plan, or came with its plan. */
  readonly planned_at: number | null;
  /** Unix epoch seconds; null while it runs. */
  readonly done_at: number | null;
  /** Delegations whose acting calls need approvals, with the reason. Absent when there are none. */
  readonly guarded?: readonly GuardedDelegation[];
  /** Delegations whose changes the decision dropped. Absent when there are none. */
  readonly dropped?: readonly string[];
  /** Expected use. Absent when the wave came with its plan, or had none. */
  readonly expected?: FanOutEstimate;
  /** Null while it runs, and when it had no plan. */
  readonly shown: ShownToWave | null;
}

export interface StoredAnswer extends AnsweredQuestion {
  /** The whole answer, when `answer` is cut. */
  readonly answer_ref: Ref | null;
  /** The question that was asked; null when its opening was never recorded. */
  readonly question: Question | null;
  /** Unix epoch seconds at which the user changed it last. If undefined, it is the first answer. */
  readonly amended_at?: number;
}

/**
 * Everything a run knows, in one artifact. The workflow carries only its reference.
 * Each change makes a new record; `.planning/<run>/` is a projection of it and is never read back.
 */
export interface RunRecord {
  readonly version: (typeof runRecordVersions)[number];
  /** 0 for the first record of a run; each later one is one more than the record it was made from. */
  readonly revision: number;
  /** The record this one was made from; null for the first. It shows a late writer that its base is outdated. */
  readonly previous_ref: Ref | null;
  readonly run_id: string;
  readonly goal: string;
  readonly goal_title: string;
  readonly constraints: readonly string[];
  readonly instructions: readonly string[];
  readonly registry_ref: Ref;
  /** Id of the store that has the record. */
  readonly store_id: string;
  /** Defined in OpenRunInput. Absent in records of children. */
  readonly chain_id?: string;
  /** The typed input as JSON. Absent in records of parts that were started alone. */
  readonly input_ref?: Ref;
  /** Names of those who may decide what lets the run act or spend. Absent: everyone. */
  readonly approvers?: readonly string[];
  /** Its place in the queues, also where the start command gave it and not the input. Absent without one. */
  readonly load?: RunLoad;
  /** Absent for a run that began from nothing. */
  readonly origin?: RunOrigin;
  /** Folder in which agents write files, as the input named it. Absent: the run's own folder. */
  readonly workspace_dir?: string;
  /** Defined in `runSettings`. Absent without `workspace_dir`. */
  readonly changes?: ChangesMode;
  /** Text of the workspace for those who work in it: its `AGENTS.md`, else its `CLAUDE.md`. Absent when it has neither. */
  readonly workspace_guide?: { readonly file: string; readonly ref: Ref };
  /** Language of everything that people read, as a canonical BCP 47 tag. Absent: that of the goal. */
  readonly language?: string;
  /** Unix epoch seconds. */
  readonly started_at: number;
  readonly updated_at: number;
  readonly phase: RunPhase;
  readonly status: RunStatus | null;
  /** The user's reason for `stop`. Absent when the run was not stopped or no reason was given. */
  readonly stop_reason?: string;
  readonly waves: readonly StoredWave[];
  readonly criteria: readonly RecordedCriterion[];
  readonly details: readonly DetailEntry[];
  readonly facts: readonly Fact[];
  readonly consumptions: readonly Consumption[];
  /** Completed delegations whose basis has changed, by wave. */
  readonly stale: readonly StaleDelegation[];
  readonly open_questions: readonly Question[];
  readonly answered_questions: readonly StoredAnswer[];
  readonly rejected_answers: readonly RejectedAnswer[];
  /** Changes that tools made outside, in the order of the first report. Absent while there are none. */
  readonly effects?: readonly RecordedEffect[];
  /** Newest report of each session, in the order of the first reports. Absent while there are none. */
  readonly sessions?: readonly SessionReport[];
  /** Result of the archival at the beginning. Absent when there was none, or nothing to do. */
  readonly archival?: ArchivalResult;
  /** The run whose archival found that this one had ended without a word. Absent for all others. */
  readonly archived_by?: string;
  /** Fate of the agents' changes. Absent before the end, and where nothing was changed in a folder of the user's. */
  readonly settled_changes?: SettledChanges;
  readonly usage: Usage;
  /** Absent for a run whose input gives the mode. */
  readonly mode?: ModeChoice;
  /** Absent for a run without a design. */
  readonly design?: RecordedDesign;
  /** `result.md` and `report.md`; null until the run has ended. */
  readonly result_ref: Ref | null;
  readonly report_ref: Ref | null;
}

export type RecordChange =
  | { readonly type: 'phase'; readonly phase: RunPhase }
  /** Reported again after each change: people were reminded, or more askers wait for it. */
  | { readonly type: 'question_opened'; readonly question: Question }
  | {
      readonly type: 'question_answered';
      readonly answered: AnsweredQuestion;
      /** The whole answer, when `answered.answer` is cut. */
      readonly answer_ref: Ref | null;
    }
  | {
      readonly type: 'answer_amended';
      readonly amended: AmendedAnswer;
      /** Unix epoch seconds. */
      readonly amended_at: number;
    }
  /** The askers are gone. */
  | { readonly type: 'question_withdrawn'; readonly question_id: string }
  | { readonly type: 'answer_rejected'; readonly rejected: RejectedAnswer }
  | {
      readonly type: 'instruction';
      readonly instruction: string;
      /** Values that it settles by key. If undefined, none. */
      readonly facts?: readonly UserFact[];
    }
  | { readonly type: 'effect'; readonly effect: RecordedEffect }
  | { readonly type: 'session'; readonly session: SessionReport }
  /** At the beginning of a run: sessions of earlier runs were archived. */
  | { readonly type: 'archival'; readonly result: ArchivalResult }
  /** In the record of an earlier run, which ended without a word. */
  | { readonly type: 'archived'; readonly by: string }
  | {
      readonly type: 'criteria_waived';
      readonly criterion_ids: readonly string[];
      /** The question whose answer waives them. Undefined when an instruction does. */
      readonly question_id?: string;
    }
  | { readonly type: 'wave_planned'; readonly progress: WaveProgress }
  | {
      readonly type: 'wave_done';
      readonly wave: RecordedWave;
      readonly criteria: readonly CriterionState[];
    }
  | { readonly type: 'mode_chosen'; readonly mode: ModeChoice }
  /** A stage of the design has ended, its plan has changed, or the design has ended. */
  | {
      readonly type: 'designed';
      readonly progress: DesignProgress;
      /**
       * A judgement during the work, null for one that was ended: then the usage is its own, and is added. Absent during
       * the design.
       */
      readonly adaptation?: Adaptation | null;
    }
  /** Once, before the run ends. */
  | { readonly type: 'changes_settled'; readonly changes: SettledChanges }
  /** A wave ended without a report. */
  | { readonly type: 'wave_lost'; readonly wave: number; readonly usage: Usage }
  | {
      readonly type: 'ended';
      readonly status: RunStatus;
      readonly usage: Usage;
      readonly stop_reason?: string;
    };

/** The final files of an ended run. */
export interface RecordedResult extends RunAnswer {
  /** Reasons why open criteria are not met, by criterion_id, cut: also from before this run or execution. Absent when there are none. */
  readonly unmet_reasons?: Readonly<Record<string, string>>;
  readonly result_ref: Ref;
  readonly report_ref: Ref;
}

export interface StoredResult {
  /** Text of `result.md`: the answer, with notes about it. */
  readonly result_md: string;
  /** Text of `report.md`, which explains how the answer was produced. */
  readonly report_md: string;
  /** Their paths below the artifact home. */
  readonly result_path: string;
  readonly report_path: string;
}
