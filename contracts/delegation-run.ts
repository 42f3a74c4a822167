import { z } from 'zod';
import type { Reservation } from './budget.ts';
import type { WrittenFile } from './effect.ts';
import type { DelegationOutline } from './delegation.ts';
import type { RunLimits } from './limits.ts';
import type { NewsItem } from './messages.ts';
import type { LoneAnswer } from './planner-run.ts';
import type { NotesOutline } from './note.ts';
import type { Ref } from './ref.ts';
import type { ExecutorOutcome, TeamLink } from './team-run.ts';
import type { Usage } from './usage.ts';
import type { SeenCommand, VerificationOutcome } from './verification.ts';
import { runSettings } from './limits.ts';
import type { GradingPrompt } from './evaluation.ts';
import { Slug } from './agent-definition.ts';

/** Typed input that starts a single delegation. */
export const DelegationInput = z.strictObject({
  agent_id: Slug,
  task_description: z.string().trim().min(1).max(20_000),
  /** Default: one criterion, "The task is done as described." */
  acceptance_criteria: z.array(z.string().trim().min(1).max(1_000)).min(1).max(20).optional(),
  ...runSettings,
});
export type DelegationInput = z.infer<typeof DelegationInput>;

export interface UpstreamOutput {
  readonly delegation_id: string;
  readonly output_ref: Ref;
  /** delegation_ids that it stands for besides its own. Absent when it replaces nothing. */
  readonly replaces?: readonly string[];
  /** Defined in DelegationOutcome. */
  readonly files?: readonly WrittenFile[];
  /** True for a task of a team that ended without being completed: its changes of files don't count. */
  readonly unfinished?: true;
}

/** Attempts at a delegation that crashed. What they have bought and changed is taken over, and not made again. */
export interface CrashedAttempts {
  readonly count: number;
  /** Workflow id at or below which they worked. */
  readonly place: string;
  /** Unix epoch milliseconds before the first began. */
  readonly since: number;
  /** Value of the first, as in EffectOrder. */
  readonly chain_id: string;
  /** Defined in EffectOrder. */
  readonly executions: readonly string[];
  readonly usage: Usage;
}

/** Order of a wave to a delegation. */
export interface DelegationOrder {
  readonly run_id: string;
  readonly wave: number;
  readonly delegation: DelegationOutline;
  readonly plan_ref: Ref;
  readonly registry_ref: Ref;
  readonly record_ref: Ref;
  readonly upstream: readonly UpstreamOutput[];
  /** Decisions since `record_ref` was written. */
  readonly news: readonly NewsItem[];
  readonly limits: RunLimits;
  /** Amounts that it may spend before it asks its wave for more. Null when nothing is limited. */
  readonly reservation: Reservation | null;
  /** True for a delegation that continues as new while it is paused. */
  readonly paused: boolean;
  /** Defined in WaveOrder. */
  readonly notes?: boolean;
  /** The CompletionSession that it began in a wave that was lost. Absent without one. */
  readonly session_ref?: Ref;
  /** True for a task of a plan that is done again: no planning follows its failure, so the user is asked. Absent otherwise. */
  readonly asks_when_failed?: true;
  /** Absent for the first attempt. */
  readonly crashed?: CrashedAttempts;
  /** Workflow in which it began, as in EffectOrder. Absent for work that is still there. */
  readonly begun?: Pick<CrashedAttempts, 'place' | 'chain_id'>;
  /** The teams that it works for, outermost first. Absent outside of a team. */
  readonly chain?: readonly TeamLink[];
}

/** A delegation started by a wave gets its order; one started by hand gets a DelegationInput. */
export type DelegationArgs = { readonly order: DelegationOrder } | DelegationInput;

export interface DelegationOutcome {
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly title: string;
  /** `skipped`: never started, because an input was not available. `stopped`: cancelled during its work. */
  readonly status: 'completed' | 'failed' | 'stopped' | 'skipped';
  /** Cause of its failure, for people and for the planner. Empty when it completed. */
  readonly reason: string;
  readonly criteria_met: readonly string[];
  readonly criteria_unmet: readonly string[];
  readonly produces: readonly string[];
  /** The delegation_id whose result its output replaces. Absent when it replaces nothing. */
  readonly replaces?: string;
  readonly output_ref: Ref | null;
  /**
   * Files that it wrote, each with its newest content: the newest, at most `writtenFilesMax`. Absent when there are
   * none.
   */
  readonly files?: readonly WrittenFile[];
  /** detail_ids that it loaded, in the order of their first loading, at most `loadedDetailsMax`. */
  readonly loaded_details: readonly string[];
  readonly turns: number;
  readonly usage: Usage;
  readonly executor: ExecutorOutcome;
  /** Number of attempts that broke off without an outcome, the last one included. Absent unless it failed by that. */
  readonly crashes?: number;
  /** True for a decision of a solution architect that failed by that: no wave does it again. Absent for all else. */
  readonly decides?: true;
  /** Absent when it has no notes. */
  readonly notes?: NotesOutline;
  /** Absent when no verification was demanded. */
  readonly verification?: VerificationOutcome;
}

/** Result of a delegation, triad, phase or team that a person started. */
export interface LoneOutcome extends DelegationOutcome, LoneAnswer {}

/** The task of a delegation, with the results that it builds on. */
export interface TaskPrompt {
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  readonly delegation_id: string;
  readonly upstream: readonly UpstreamOutput[];
}

/** First message to a verifier: the work of another agent, and nothing of how it came about. */
interface VerificationPrompt extends TaskPrompt {
  readonly kind: 'verification';
  readonly output_ref: Ref;
  /** Defined in DelegationOutcome. */
  readonly files: readonly WrittenFile[];
  /** The EvidenceReport as JSON. */
  readonly evidence_ref: Ref;
  /** Commands that the author ran, in their order. Absent without any. */
  readonly commands?: readonly SeenCommand[];
  /** The CompletionSession as JSON; null without notes. */
  readonly notes_ref: Ref | null;
  /** The AgentOutput of the triad that has judged it. Absent without a triad. */
  readonly judgement_ref?: Ref;
  /** Both defined in VerificationFeedback. */
  readonly instructions_ref: Ref | null;
  readonly guidance_refs: readonly Ref[];
}

/** First messages to agents that judge what others have made. */
export type JudgingPrompt = VerificationPrompt | GradingPrompt;
