import type { StoreIdentity } from './store.ts';
import { z } from 'zod';
import { Slug } from './agent-definition.ts';
import { triadTypes } from './names.ts';
import { limitMaxima } from './limit-maxima.ts';
import { BudgetInput } from './budget.ts';
import { Autonomy, QuestionRulesInput } from './question.ts';

const count = (max: number, description: string): z.ZodOptional<z.ZodNumber> =>
  z.number().int().min(1).max(max).optional().describe(description);

/** Limits that a user may set per run. Missing ones come from `core/limits.ts`. */
export const LimitsInput = z.strictObject({
  max_waves: count(limitMaxima.max_waves, 'Waves before the run asks whether to go on.'),
  max_parallel: count(
    limitMaxima.max_parallel,
    'Delegations that work at the same time, over the whole run.',
  ),
  max_delegations: count(limitMaxima.max_delegations, 'Delegations in one wave.'),
  max_turns: count(limitMaxima.max_turns, 'Model calls of one delegation.'),
  inline_events: count(
    limitMaxima.inline_events,
    "Events of a wave's history up to which its delegations run inside it. A later one is a workflow of its own.",
  ),
  max_signals: count(
    limitMaxima.max_signals,
    'Signals to a run after which it ends its wave early and continues as new. The server takes 10,000.',
  ),
  max_output_tokens: count(
    limitMaxima.max_output_tokens,
    'Output tokens of one model call, at first. Truncation raises it; models limit it.',
  ),
});
export type LimitsInput = z.infer<typeof LimitsInput>;

/** The limits of a run, with every field set. */
export type RunLimits = { readonly [K in keyof LimitsInput]-?: NonNullable<LimitsInput[K]> };

/** A primary language of two or three letters; Intl alone takes words such as "german" for one. */
const beginsWithCode = /^[A-Za-z]{2,3}(?:-|$)/;

/** A BCP 47 language tag: `de`, `pt-BR`, `zh-Hant`. At most 35 characters, as the standard advises. */
const LanguageTag = z
  .string()
  .max(35)
  .refine(isLanguageTag, 'expected a BCP 47 language tag. Try: "de" or "pt-BR"');

function isLanguageTag(text: string): boolean {
  if (!beginsWithCode.test(text)) return false;
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

export const ChangesMode = z.enum(['ask', 'apply', 'commit', 'keep', 'direct']);
export type ChangesMode = z.infer<typeof ChangesMode>;

/** Name of a tenant, which is Temporal's fairness key. */
export const Tenant = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'expected 1 to 64 letters, digits, "-", "_" and ".". Try: "acme"');

/** Place of a run in the queues of the workers, which all its work inherits. */
export interface RunLoad {
  /** 1 is served first, 5 last. Absent: 3. */
  readonly priority?: number;
  /** Tenant for whom the run works. Absent: none in particular. */
  readonly tenant?: string;
  /** Task queue of the model calls. Absent: that of the run. */
  readonly model_queue?: string;
}

/** Place of an evaluation, as its opening tells it. */
export interface OpenedPlace {
  readonly load?: RunLoad;
  /** Store in which it is kept. */
  readonly store: StoreIdentity;
}

/** Settings of every typed input: spread them into the input's schema. */
export const runSettings = {
  /**
   * Fate of the agents' changes of `workspace_dir`. Each delegation works in a copy of the folder. "ask": the run asks at its end;
   * "apply" and "commit" bring them into the folder then; "keep" leaves them to `planwave apply`. "direct": there are no
   * copies, agents change the folder itself. Default "ask".
   */
  changes: ChangesMode.optional(),
  /** Give agents the tool `completion_note` (seed 003). A run with a plan always has it. Default false. */
  notes: z.boolean().optional(),
  /** Take the default of each question at once, if it has one. */
  use_defaults: z.boolean().optional(),
  /** Nobody will answer: each question takes its default at once, and one without a default ends the run. */
  unattended: z.boolean().optional(),
  /** Model of all agents, instead of those of their files. Members of triads and leaders with a model of their own keep it. */
  agents_model: z.string().min(1).max(120).optional(),
  /** Rules for unanswered questions. */
  questions: QuestionRulesInput.optional(),
  /** "assume": questions that are not critical become recorded assumptions. Default "ask". */
  autonomy: Autonomy.optional(),
  /**
   * true: the output of every delegation is verified by an agent that is not its author. A list of criterion_ids: only that of
   * delegations that work on one of them. The criteria of a run's input are `goal-1`, `goal-2` and so on. Default false.
   */
  verify: z.union([z.boolean(), z.array(Slug).min(1).max(20)]).optional(),
  /**
   * A triad of this type judges what `verify` names: three agents that are not its author judge together, and the one that
   * writes gives the verdict. It takes several times the calls of one verifier. Without `verify`, it judges every output.
   */
  verify_triad: z.enum(triadTypes).optional(),
  /** A folder with the user's own agents, as a path on the worker. */
  agents_dir: z.string().min(1).optional(),
  /** An existing folder, as an absolute path on the worker. If undefined, agents write into the run's own folder. */
  workspace_dir: z.string().min(1).max(1_000).optional(),
  /** Language of everything that people read, as a BCP 47 tag. If undefined, that of the goal. */
  language: LanguageTag.optional(),
  /** Urgency of all work of the run: 1 is served first, 5 last. Default 3, or the start's `--priority-key`. */
  priority: z
    .int()
    .min(1, 'expected 1 (first) to 5 (last). Try: 2')
    .max(5, 'expected 1 (first) to 5 (last). Try: 2')
    .optional(),
  /** Tenant for whom the run works: workers serve tenants in turn. Default: the start's `--fairness-key`. */
  tenant: Tenant.optional(),
  limits: LimitsInput.optional(),
  budget: BudgetInput.optional(),
};

const RunSettings = z.object(runSettings);
export type RunSettings = z.infer<typeof RunSettings>;

/** Mode of a run that was to choose it, with the numbers that decided. */
export interface ModeChoice {
  readonly mode: 'direct' | 'designed';
  /** Such as `3 agents (directly: at most 2)`. */
  readonly reasons: readonly string[];
}
