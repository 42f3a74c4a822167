import { z } from 'zod';
import type { WrittenFile } from './effect.ts';
import type { Ref } from './ref.ts';
import { AskedQuestion } from './question.ts';

const text = z.string().min(1).max(2_000);
const requirements = z
  .array(z.string().min(1).max(1_000))
  .max(10)
  .describe('What must change in the plan, one sentence each.');

/** Fault of a change that is asked for and not described: the next agent would guess it. */
const noRequirement = 'nothing says what must change. Try: name each change in a sentence';

const ProofAssessment = z.enum(['pass', 'partial', 'fail']);

const JudgedCriterion = z.strictObject({
  kind: z.enum(['success', 'failure']).describe('The list of the plan that the criterion is in.'),
  criterion: text.describe('A success or failure criterion, word for word.'),
  seen: z.boolean().describe('True when the evidence shows it.'),
  where: text.describe('The passage that shows it, or what is missing.'),
});

/** Returns the assessment that follows from judged criteria. */
function assessCriteria(
  criteria: readonly z.infer<typeof JudgedCriterion>[],
): z.infer<typeof ProofAssessment> {
  const success = criteria.filter(({ kind }) => kind === 'success');
  if (criteria.some(({ kind, seen }) => kind === 'failure' && seen)) return 'fail';
  if (success.every(({ seen }) => !seen)) return 'fail';
  return success.every(({ seen }) => seen) ? 'pass' : 'partial';
}

/** Judgement of a proof of concept's evidence (seed 003, "PoC Evidence Reviewer Agent"). */
export const ProofReview = z
  .strictObject({
    criteria: z.array(JudgedCriterion).min(1).max(20),
    assessment: ProofAssessment,
    rationale: text,
  })
  .superRefine(({ criteria, assessment }, context) => {
    const expected = assessCriteria(criteria);
    if (assessment === expected) return;
    const message = `the criteria as judged give "${expected}". Try: give it, or correct what was seen`;
    context.addIssue({ code: 'custom', path: ['assessment'], message });
  });
export type ProofReview = z.infer<typeof ProofReview>;

/** Consequence of a proof of concept (seed 003, "PoC Decision Agent"). */
export const ProofDecision = z
  .strictObject({
    decision: z
      .enum(['proceed', 'adapt', 'escalate'])
      .describe('adapt: the plan must change. escalate: the user has to reconsider the approach.'),
    rationale: text,
    requirements: requirements.describe('With "adapt", what must change in the plan; else empty.'),
  })
  .superRefine((value, context) => {
    if (value.decision !== 'adapt' || value.requirements.length > 0) return;
    context.addIssue({ code: 'custom', path: ['requirements'], message: noRequirement });
  });
export type ProofDecision = z.infer<typeof ProofDecision>;

/** Reasons why a question comes back again and again (seed 003, "Loop Detection"). */
export const LoopCause = z.enum(['circular_dependency', 'planning_gap', 'unclear_requirements']);
export type LoopCause = z.infer<typeof LoopCause>;

export const LoopAnalysis = z
  .strictObject({
    root_cause: LoopCause,
    explanation: text,
    requirements,
    user_questions: z
      .array(AskedQuestion)
      .max(5)
      .describe('Only with "unclear_requirements": what the user has to settle.'),
  })
  .superRefine(({ root_cause, requirements: named, user_questions }, context) => {
    const asks = root_cause === 'unclear_requirements' && user_questions.length > 0;
    if (asks || named.length > 0) return;
    context.addIssue({ code: 'custom', path: ['requirements'], message: noRequirement });
  });
export type LoopAnalysis = z.infer<typeof LoopAnalysis>;

/** A task of the plan that has worked, for the judgement of its result. */
export interface WorkedTask {
  readonly task_id: string;
  readonly delegation_id: string;
  /** These are defined in DelegationOutcome. */
  readonly status: 'completed' | 'failed' | 'stopped' | 'skipped';
  readonly reason: string;
  readonly criteria_met: readonly string[];
  readonly criteria_unmet: readonly string[];
  readonly output_ref: Ref | null;
  /** Defined in DelegationOutcome: the evidence of a proof of concept. Absent for other tasks, and without files. */
  readonly files?: readonly WrittenFile[];
  /** Keys of its criteria (`core/design/check-judged`). Absent for a task that is no proof of concept. */
  readonly criteria?: readonly string[];
  /** Answers to its questions that contradict what others stated. Absent where there are none. */
  readonly conflicts?: readonly AnswerConflict[];
}

/** An answer to a question of a task that contradicts what others stated under the key of one fact. */
export interface AnswerConflict {
  readonly question_id: string;
  readonly question: string;
  readonly answer: string;
  readonly answered_by: string;
  readonly fact_key: string;
  /** The value that the answer states. */
  readonly value: string;
  /** True when this value stands now, false when another one does. */
  readonly holds: boolean;
  /** Other values, each with the source that stated it. */
  readonly others: readonly { readonly value: string; readonly source: string }[];
  /** task_ids of those that stated another value, read from one that did, or wait for it. */
  readonly tasks: readonly string[];
}

/** A question that a task asked at least three times, or that waits for a result in a cycle. */
export interface AskedLoop {
  readonly delegation_id: string;
  /** Its wording when it was refused for the first time. */
  readonly question: string;
  /** Wordings of later questions of the task that were refused too. Absent when there are none. */
  readonly again?: readonly string[];
  /** delegation_ids of which each waits for the next, as [A, B, A]. Absent for a question that was repeated. */
  readonly cycle?: readonly string[];
}

/** Cause of a change of the plan during the work. */
export type AdaptationCause =
  | {
      readonly type: 'proof_of_concept';
      readonly task_id: string;
      readonly assessment: ProofReview['assessment'];
      /** `escalate`: the user decided. */
      readonly decision: ProofDecision['decision'];
    }
  | {
      readonly type: 'loop';
      readonly task_id: string;
      readonly root_cause: LoopCause;
      /** Defined in AskedLoop. */
      readonly cycle?: readonly string[];
    }
  /** Answers to questions of a task contradict what others stated. */
  | {
      readonly type: 'escalation';
      readonly task_id: string;
      readonly question_ids: readonly string[];
    };

/** Judgement of work on a plan, with the new version if the plan was changed. */
export interface Adaptation {
  /** The wave after which it was made. */
  readonly wave: number;
  readonly cause: AdaptationCause;
  /** Null: the plan stays as it was. */
  readonly plan_ref: Ref | null;
  /** task_ids that are new or different, and may therefore be done, even if they were before. */
  readonly changed_tasks: readonly string[];
  /** Defined in PlanChangeRating. Absent where there is none. */
  readonly reworded_evidence?: readonly string[];
  /** The question whose answer approved it. Null where no one had to be asked. */
  readonly approved_by: string | null;
}

/** Judgement in the record. */
export interface RecordedAdaptation extends Adaptation {
  /** Number of versions of the plan that led to `plan_ref`, with it. Absent where it is the only one, or none was made. */
  readonly versions?: number;
}

/** Difference between two versions of a plan, as far as it decides who has to agree. */
export interface PlanChangeRating {
  /** task_ids that are new or different. */
  readonly changed_tasks: readonly string[];
  readonly removed_tasks: readonly string[];
  /** evidence_ids that no task has any more. */
  readonly removed_evidence: readonly string[];
  /** evidence_ids that say something else or are checked otherwise. */
  readonly reworded_evidence: readonly string[];
  /** More than instructions has changed: the design verifier reviews the plan. */
  readonly significant: boolean;
  /** Something that was promised is left out, or an agent is drafted: the user agrees first. */
  readonly scope_changed: boolean;
  /** More work is done: the user agrees first, unless this is approved in the user's place. */
  readonly cost_changed: boolean;
}

/** A wave of a designed run whose work was not judged: its execution was full, or it is one of another run. */
export interface UnjudgedWave {
  /** Tasks that crashed, and that the user was not asked about. */
  readonly crashed: readonly CrashedTask[];
  /** Questions that its tasks asked again and again. Absent when there are none. */
  readonly loops?: readonly AskedLoop[];
}

/** These are defined in DelegationOutcome. */
export interface CrashedTask {
  readonly delegation_id: string;
  readonly title: string;
  readonly reason: string;
}
