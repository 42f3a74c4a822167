import { z } from 'zod';
import type { Ref } from './ref.ts';

/** Required form of an answer (seed 004 §10, `expected_answer_format`). */
export const AnswerFormat = z.enum(['text', 'boolean', 'number', 'choice', 'json']);
export type AnswerFormat = z.infer<typeof AnswerFormat>;

export const QuestionPriority = z.enum(['critical', 'high', 'normal', 'low']);
export type QuestionPriority = z.infer<typeof QuestionPriority>;

/** A question as a model asks it. The engine adds the id, the asker and the deadline. */
export const AskedQuestion = z.strictObject({
  text: z.string().min(1).max(2_000).describe('Understandable without other context.'),
  why_it_matters: z.string().max(1_000),
  priority: QuestionPriority,
  expected_answer_format: AnswerFormat,
  choices: z.array(z.string().min(1).max(200)).max(20).describe('Only for "choice"; else empty.'),
  default_answer: z.string().max(2_000).nullable(),
  fact_key: z
    .string()
    .min(1)
    .max(80)
    .optional()
    .describe('Key of the fact that the answer settles. Left out when it is no single value.'),
});
export type AskedQuestion = z.infer<typeof AskedQuestion>;

/** Reason why a question exists. */
export type QuestionKind =
  /** A delegation is blocked (seed 004 §6.1). */
  | 'blocking'
  /** The planner needs a decision before it plans on (seed 004 §10). */
  | 'planner'
  /** An agent of a design needs a decision (seed 003, "Plan Development"). */
  | 'design'
  /** A designed plan needs the user's consent before it is carried out. */
  | 'plan_approval'
  /** A delegation failed its verification too often: the user modifies it, guides its agent or abandons it. */
  | 'verification'
  /** The planner could not write a valid plan or decision in all its attempts. */
  | 'planner_stuck'
  /** A call that changes something outside needs the user's consent (seed 004 §11). */
  | 'approval'
  /** It is unknown whether a call made its change. */
  | 'effect'
  /** The last allowed wave is over and criteria are still open. */
  | 'waves_spent'
  /** A limit of the budget is reached. */
  | 'budget'
  /** The run's changes wait to be brought into the user's folder. */
  | 'changes';

/** Source of a question. */
export interface Asker {
  /** Null for the planner and the engine. */
  readonly delegation_id: string | null;
  readonly agent_id: string | null;
}

/** A question in the run's inbox. */
export interface Question extends AskedQuestion {
  /** `q1`, `q2`, … in the order of asking, unique in the run. */
  readonly question_id: string;
  readonly kind: QuestionKind;
  /** Wave number, from 1; 0 before the first wave. */
  readonly wave: number;
  /** The delegation that asked; null for the planner and the engine. */
  readonly delegation_id: string | null;
  readonly agent_id: string | null;
  /** Others that asked the same while it was open, and wait for the same answer. */
  readonly also_asked_by: readonly Asker[];
  /** JSON Schema of the answer when expected_answer_format is "json". If null, any JSON is taken. */
  readonly answer_schema: Readonly<Record<string, unknown>> | null;
  /** Seconds after asking at which `default_answer` is taken. If null, the question waits. */
  readonly deadline_seconds: number | null;
  /** Seconds after asking until the first reminder; the later ones come at growing intervals. */
  readonly remind_seconds: number;
  /** Reminders so far. */
  readonly reminded: number;
  /** Another person that it is also for when it was not answered in time. If null, no other. */
  readonly escalate_to: HandOver | null;
  /** Unix epoch seconds since which it is also for that person; null until then. */
  readonly escalated_at: number | null;
  /** Unix epoch seconds (seed 003: all timestamps are epoch integers). */
  readonly asked_at: number;
}

/** Payload of `submitAnswer` and of the signal `answer`. */
export const AnswerInput = z.strictObject({
  question_id: z.string(),
  answer: z.unknown(),
  answered_by: z.string().optional(),
  as_default: z.boolean().optional(),
});
export interface AnswerInput {
  readonly question_id: string;
  readonly answer: unknown;
  readonly answered_by?: string;
  /** True when the answer is the question's default, taken as it stands: the run signs it as `default`. */
  readonly as_default?: boolean;
}

export interface AskedBefore {
  readonly times: number;
  readonly question_id: string;
}

/** A refused answer, kept so that the sender can see the reason. */
export interface RejectedAnswer {
  readonly question_id: string | null;
  readonly reason: string;
  /** A payload that would be accepted, ready to send. */
  readonly example: AnswerInput | null;
  readonly rejected_at: number;
}

export interface AnsweredQuestion {
  readonly question_id: string;
  readonly text: string;
  readonly delegation_id: string | null;
  /**
   * The answer as text: a string unchanged, any other value as JSON. Long answers are cut here and whole in the store.
   */
  readonly answer: string;
  readonly answered_by: string;
  /** Sources of the planner's answer: `f3`, `q1`, a detail's id, `goal`. Empty for other answers. */
  readonly source_refs: readonly string[];
  readonly answered_at: number;
}

/** An answer as the inbox keeps it when the question is closed. */
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
  /** True when it lets the run act or spend, so that `amend` can't change it. Absent otherwise. */
  readonly is_decision?: true;
}

/** Part of an existing answer that the rules need. */
export type KnownAnswer = Pick<AnsweredQuestion, 'question_id' | 'answered_by'>;

/** Result of the update `submitAnswer` for an accepted answer. */
export interface AnswerReceipt {
  readonly question_id: string;
  /** The accepted form of the answer, cut to 1,000 characters. */
  readonly accepted: string;
}

const planners = ['answered', 'assumed', 'awaits', 'needs_user_input'] as const;

const meaning =
  '"answered": what the run knows settles it. "assumed": nothing settles it, it is not critical, and a careful assumption does no harm. "awaits": the result of a delegation in <unfinished> will settle it. "needs_user_input": only the user can settle it.';

function verdictOf<T extends z.ZodType>(verdict: T) {
  return z.strictObject({
    question: z.number().int().min(1).describe('The number of the question in the request.'),
    verdict,
    answer: z
      .string()
      .max(2_000)
      .nullable()
      .describe(
        'What the agent gets, in its expected_answer_format; null with awaits and needs_user_input.',
      ),
    source_refs: z
      .array(z.string().max(200))
      .max(20)
      .describe(
        'What the answer is taken from. At least one with "answered"; with "awaits" the delegation_ids; else usually empty.',
      ),
    reason: z.string().min(1).max(1_000).describe('Why, in a sentence or two.'),
  });
}

function reviewOf<T extends z.ZodType>(verdict: T) {
  return z.strictObject({
    reviews: z.array(verdictOf(verdict)).max(20).describe('Exactly one for each question.'),
  });
}

/** The planner's answer when it reviews agents' questions before the user sees them (seed 004 §2.1 and §10). */
export const QuestionReview = reviewOf(z.enum(planners).describe(meaning));

/** The same where the plan has a solution architect (seed 003, "Resolution Process"). */
export const RoutedReview = reviewOf(
  z
    .enum([...planners, 'architect'])
    .describe(
      `${meaning} "architect": it is about technology, architecture or security, and the solution architect decides it; the answer is null.`,
    ),
);
export type QuestionReview = z.infer<typeof RoutedReview>;

export interface QuestionReviewOutline extends QuestionReview {
  /** The whole QuestionReview as JSON. */
  readonly review_ref: Ref;
}

/** With `awaits`, an inbox only gets one that would wait for ever: `source_refs` is the cycle, as [A, B, A]. */
export type PlannerVerdict = Readonly<Omit<QuestionReview['reviews'][number], 'question'>>;

/** Handling of questions that are not critical: a run puts them to the user, or lets agents assume. */
export const Autonomy = z.enum(['ask', 'assume']);
export type Autonomy = z.infer<typeof Autonomy>;

const seconds = (description: string): z.ZodNumber =>
  z.number().int().min(1).max(31_536_000).describe(description);

/** Another person that a question is for when it was not answered in time. */
const HandOverInput = z.strictObject({
  person: z
    .string()
    .trim()
    .min(1, 'a name is missing. Try: "Maria"')
    .max(80)
    .describe('Shown beside the question; whoever is at hand tells the person.'),
  after_seconds: seconds('Seconds after asking.'),
});

/** Typed rules for unanswered questions: `{"deadline_seconds":7200}`. */
export const QuestionRulesInput = z.strictObject({
  deadline_seconds: seconds(
    'Seconds after asking at which the default of a question is taken, where it has one.',
  ).optional(),
  remind_seconds: seconds('Seconds after asking until the first reminder.').optional(),
  escalate_to: HandOverInput.optional(),
});
export type QuestionRulesInput = z.infer<typeof QuestionRulesInput>;

type HandOver = Readonly<z.infer<typeof HandOverInput>>;

/** The rules of a run, with every field set. */
export interface QuestionRules {
  /** Seconds after which a default is taken; null: never by itself. */
  readonly deadline_seconds: number | null;
  readonly remind_seconds: number;
  /** Null: no other person is asked. */
  readonly escalate_to: HandOver | null;
}
