import { z } from 'zod';
import type { CriterionState } from './criterion.ts';
import type { Fact } from './fact.ts';
import type { CarriedBudget } from './budget.ts';
import type { RunLimits } from './limits.ts';
import type { AgentSummary } from './agent-definition.ts';
import type { AnsweredQuestion, AnswerFormat, Question, RejectedAnswer } from './question.ts';
import type { Autonomy, QuestionRules } from './question-rules.ts';
import { runSettings } from './run-settings.ts';
import { NamedTeams } from './team.ts';
import type { TeamSummary } from './team.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';

/** What a person types to start a run: `{"goal":"…"}` is enough. */
export const PlannerRunInput = z.strictObject({
  goal: z
    .string()
    .trim()
    .min(1, 'expected a goal. Try: {"goal":"Compare three ways to …"}')
    .max(100_000),
  constraints: z.array(z.string().min(1).max(4_000)).max(50).optional(),
  /** Criteria of the user's own. The run is not done before each is met with evidence or waived. */
  criteria: z.array(z.string().min(1).max(1_000)).max(20).optional(),
  mode: z.enum(['direct']).optional(),
  /** false: every delegation is done by one agent. Default true. */
  triads: z.boolean().optional(),
  /** Teams that the planner may give a delegation to, besides those it puts together; false: none at all. */
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
  /** Why it is not met, or what shows that it is. */
  readonly reason: string;
}

/** What a run brought the user, and where the rest is. Any workflow returns it that a person started. */
export interface RunAnswer {
  /**
   * Markdown. Of one longer than `returnedAnswerCharsMax` of `core/limits.ts` the beginning, with a last line that says where
   * the whole is. Empty when there is none.
   */
  readonly answer: string;
  /** Path of `result.md`, the whole answer, below the artifact home. */
  readonly result_path: string;
  /** Path of `report.md`, everything else, below the artifact home. */
  readonly report_path: string;
}

/** What the workflow returns. */
export interface PlannerRunResult extends RunAnswer {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly waves: number;
  readonly criteria: readonly CriterionResult[];
  readonly usage: Usage;
  readonly record_ref: Ref;
  /** `result.md` and `report.md` as artifacts. */
  readonly result_ref: Ref;
  readonly report_ref: Ref;
}

/**
 * What a run takes with it over continue-as-new. Small and of bounded size: the rest is behind `record_ref`.
 * Only the engine writes it; a person never types it.
 */
export interface CarriedRun {
  readonly version: 1;
  readonly started_at: number;
  readonly goal_title: string;
  readonly registry_ref: Ref;
  readonly record_ref: Ref;
  readonly agents: readonly AgentSummary[];
  readonly limits: RunLimits;
  readonly budget: CarriedBudget | null;
  readonly use_defaults: boolean;
  readonly questions: QuestionRules;
  readonly autonomy: Autonomy;
  readonly triads: boolean;
  /** As in OpenRunResult. */
  readonly teams: readonly TeamSummary[] | null;
  /** Those that members of triads may be given. */
  readonly models: readonly string[];
  readonly wave: number;
  readonly waves_allowed: number;
  readonly criteria: readonly CriterionState[];
  readonly known_inputs: readonly string[];
  readonly delegation_ids: readonly string[];
  /** How often each fingerprint was dispatched. */
  readonly fingerprints: Readonly<Record<string, number>>;
  readonly stale: readonly string[];
  readonly usage: Usage;
  readonly inbox: CarriedInbox;
  /** The newest answers, for the query `questions`; all are in the record. */
  readonly recent_answers: readonly AnsweredQuestion[];
  readonly facts_total: number;
  readonly recent_facts: readonly Fact[];
  readonly amendments: readonly string[];
  /** News so far, all of them in the record: the id of the newest, of the newest of the user, and of the newest considered. */
  readonly news: { readonly last: number; readonly from_user: number; readonly considered: number };
  /** Criteria that the user gave up, among them some that no plan had listed then. */
  readonly waived: readonly string[];
  readonly wave_outlines: readonly WaveSummary[];
  readonly paused_reason: string | null;
  readonly parked_reason: string | null;
}

/** Everything the inbox knows. Bounded: `core/limits.ts` proves that it fits into one payload with the rest. */
export interface CarriedInbox {
  /** In the order of asking. */
  readonly open: readonly Question[];
  /** By question_id: enough to tell a repeat from another answer, and to show the first. */
  readonly answered: Readonly<Record<string, AcceptedAnswer>>;
  readonly next_question: number;
  /** `<task>|<hash of the normalised text>` → how often it was asked, and as which question last. */
  readonly asked: Readonly<Record<string, AskedBefore>>;
  /** The newest ones, oldest first. */
  readonly rejected: readonly RejectedAnswer[];
  /** Escalations that wait for at least one answer, in the order of asking. */
  readonly pending: readonly PendingEscalation[];
}

export interface AcceptedAnswer {
  /** Hash of the whole answer in its canonical text form. */
  readonly hash: string;
  /** Hashes of other spellings that mean the same choice. Empty for other formats. */
  readonly same_hashes: readonly string[];
  readonly format: AnswerFormat;
  /** The answer as text, cut to 200 characters. */
  readonly shown: string;
  /** `default` when the default was taken. */
  readonly answered_by: string;
  readonly answered_at: number;
}

export interface AskedBefore {
  readonly times: number;
  readonly question_id: string;
}

export interface PendingEscalation {
  readonly escalation_id: string;
  /** The workflow that waits. */
  readonly from: string;
  /** The delegation that asked, or null when the planner or the engine did. */
  readonly delegation_id: string | null;
  /** One for each question of the escalation, in its order. */
  readonly answers: readonly PendingAnswer[];
}

export interface PendingAnswer {
  readonly question_id: string;
  /** The question. */
  readonly text: string;
  /** Null while the question is open. */
  readonly settled: SettledAnswer | null;
}

export interface SettledAnswer {
  /** The answer as text, cut to `inlineAnswerCharsMax` of `core/limits.ts`. */
  readonly answer_text: string;
  /** `answer_text` is not the whole answer. */
  readonly is_cut: boolean;
  /** Where the whole of a cut answer is stored, once it is. */
  readonly answer_ref: Ref | null;
  readonly answered_by: string;
  readonly loop: boolean;
}

/** What `plannerRun` is started with: by a person, or by itself when it continues as new. */
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
  readonly usage: Usage;
}
