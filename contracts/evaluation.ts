import { z } from 'zod';
import { BudgetAmounts } from './budget.ts';
import { LimitsInput, type OpenedPlace } from './limits.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';
import { TriadType } from './triad.ts';
import { Slug } from './agent-definition.ts';

/** Most cells of an evaluation: its result has a line for each, and has to fit into one payload. */
export const cellsMax = 400;

/** Most characters of a whole input, which history keeps. */
const inputCharsMax = 150_000;

/** Ways to carry out a goal. `model`: one agent alone, in one conversation, without a planner. */
export const SettingRun = z.enum(['model', 'direct', 'designed', 'auto', 'triad', 'team']);

const name = Slug.optional().describe('Shown in the results. Default: its kind.');

/** Judge of an answer. */
export const Grader = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('regex'),
    name,
    pattern: z.string().min(1).max(1_000).describe('Regular expression of JavaScript.'),
    flags: z
      .string()
      .regex(/^[ims]{0,3}$/, 'expected some of "i", "m" and "s"')
      .default(''),
    matches: z.boolean().default(true).describe('False: the answer must not match.'),
  }),
  z.strictObject({
    kind: z.literal('schema'),
    name,
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the answer.'),
  }),
  z.strictObject({
    kind: z.literal('command'),
    name,
    argv: z
      .array(z.string().max(2_000))
      .min(1)
      .max(50)
      .describe("Program and arguments, run in the run's files; the answer is its standard input."),
    exit_code: z.number().int().min(0).max(255).default(0),
  }),
  z.strictObject({
    kind: z.literal('rubric'),
    name,
    rubric: z.string().trim().min(1).max(10_000).describe('What a model judges the answer by.'),
    pass_at: z.number().min(0).max(1).default(0.7).describe('Score from which it passes.'),
    model: z.string().min(1).max(120).optional(),
  }),
  z.strictObject({
    kind: z.literal('criteria'),
    name,
    share: z.number().min(0).max(1).default(1).describe('Share of criteria that have to be met.'),
  }),
]);
export type Grader = z.infer<typeof Grader>;

const graders = z.array(Grader).max(6);

export const EvaluationGoal = z.strictObject({
  name: Slug,
  goal: z.string().trim().min(1).max(20_000),
  constraints: z.array(z.string().trim().min(1).max(4_000)).max(20).optional(),
  criteria: z.array(z.string().trim().min(1).max(1_000)).min(1).max(12).optional(),
  workspace_dir: z.string().min(1).max(1_000).optional(),
  /** Settings that the goal is carried out under. If undefined, all of them. */
  settings: z.array(Slug).min(1).optional(),
  /** Graders besides those of all goals. */
  graders: graders.optional(),
});
export type EvaluationGoal = z.infer<typeof EvaluationGoal>;

export const EvaluationSetting = z.strictObject({
  name: Slug,
  run: SettingRun,
  /** Model of all agents. If undefined, those of their files. */
  model: z.string().min(1).max(120).optional(),
  agents_dir: z.string().min(1).optional(),
  /** Agent of `model`. Default "writer". */
  agent_id: Slug.optional(),
  /** Default "dialectic". */
  triad_type: TriadType.optional(),
  /** Members of `team`. Default: researcher and writer. */
  members: z.array(Slug).min(1).max(12).optional(),
  verify: z.boolean().optional(),
  limits: LimitsInput.optional(),
  /** Limit of each run. */
  budget: BudgetAmounts.optional(),
});
export type EvaluationSetting = z.infer<typeof EvaluationSetting>;

/** Typed input of an evaluation: `{"name":"x","goals":[{"name":"a","goal":"…"}],"settings":[{"name":"d","run":"direct"}]}`. */
export const EvaluationInput = z
  .strictObject({
    name: Slug,
    goals: z.array(EvaluationGoal).min(1).max(50),
    settings: z.array(EvaluationSetting).min(1).max(12),
    /** Graders of all goals. */
    graders: graders.default([]),
    /** Runs of each goal under each setting. */
    repeat: z.number().int().min(1).max(50).default(1),
    /** Runs at the same time. */
    parallel: z.number().int().min(1).max(10).default(2),
    /** Limit of the whole evaluation, its graders included. */
    budget: BudgetAmounts.omit({ minutes: true }).optional(),
    /** Run cells again that ran before. */
    fresh: z.boolean().default(false),
  })
  .superRefine((input, context) => {
    for (const list of ['goals', 'settings'] as const) {
      for (const [at, one] of input[list].entries()) {
        if (input[list].findIndex((other) => other.name === one.name) === at) continue;
        const message = `"${one.name}" is there twice. Try: another name`;
        context.addIssue({ code: 'custom', path: [list, at, 'name'], message });
      }
    }
    const known = new Set(input.settings.map((one) => one.name));
    for (const [at, { settings = [] }] of input.goals.entries()) {
      for (const [index, one] of settings.entries()) {
        if (known.has(one)) continue;
        const message = `there is no setting "${one}". There are: ${[...known].join(', ')}`;
        context.addIssue({ code: 'custom', path: ['goals', at, 'settings', index], message });
      }
    }
    const counts = input.goals.map(({ settings = input.settings }) => settings.length);
    const cells = input.repeat * counts.reduce((sum, count) => sum + count, 0);
    if (JSON.stringify(input).length > inputCharsMax) {
      const message = `this is longer than ${inputCharsMax} characters. Try: two files`;
      context.addIssue({ code: 'custom', path: ['goals'], message });
    }
    if (cells > cellsMax) {
      const message = `these are ${cells} cells, at most ${cellsMax} fit. Try: fewer repetitions, or two files`;
      context.addIssue({ code: 'custom', path: ['repeat'], message });
    }
  });
export type EvaluationInput = z.infer<typeof EvaluationInput>;

/** Goal under a setting, once. */
export interface Cell {
  /** Number in the evaluation, from 1. */
  readonly cell: number;
  readonly goal: string;
  readonly setting: string;
  /** Number of the repetition, from 1. */
  readonly repetition: number;
}

/** Workflow that carries out a cell. */
export interface CellRun {
  readonly workflow_type: 'plannerRun' | 'delegation' | 'triad' | 'team';
  readonly input: object;
}

/** Judgement of one grader. `not_run`: it could not judge, and the cell does not pass. */
export interface Grade {
  readonly grader: string;
  readonly result: 'passed' | 'failed' | 'not_run';
  /** From 0 to 1; null for a grader that only passes or fails. */
  readonly score: number | null;
  /** At most 300 characters. */
  readonly reason: string;
}

/**
 * Ends of a cell: those of its run, and four more. `waits_for_user`: it was ended because only a person could answer its
 * question. `failed`: its workflow failed. `no_budget`, `not_started`: the evaluation's budget was spent, or it was stopped.
 */
export const cellStatuses = [
  'completed',
  'finished_unmet',
  'stopped',
  'abandoned',
  'waits_for_user',
  'failed',
  'no_budget',
  'not_started',
] as const;

export interface CellResult extends Cell {
  readonly run_id: string;
  readonly status: (typeof cellStatuses)[number];
  /** Reason why it did not complete, otherwise empty. At most 300 characters. */
  readonly reason: string;
  readonly passed: boolean;
  readonly grades: readonly Grade[];
  /** Use of the run and of its model graders. */
  readonly usage: Usage;
  readonly seconds: number;
  /** True for a result of an earlier evaluation: nothing was bought for it. */
  readonly cached: boolean;
}

export interface EvaluationResult {
  readonly evaluation_id: string;
  readonly name: string;
  /** In the order of their numbers. */
  readonly cells: readonly CellResult[];
  /** Bought by this evaluation: without cells of earlier ones. */
  readonly usage: Usage;
}

/** A cell that is still to be run. */
export interface OpenCell extends Cell {
  /** Hash of everything that decides its result. */
  readonly address: string;
}

/** Task of a model that grades. */
export interface OpenRubric {
  readonly goal: string;
  readonly grader: string;
  /** The GradingTask as JSON. */
  readonly rubric_ref: Ref;
  readonly pass_at: number;
  readonly model?: string;
}

export interface OpenedEvaluation {
  readonly input: EvaluationInput;
  /** The same as JSON in the store, for activities. */
  readonly input_ref: Ref;
  /** Registry snapshot with the grader. */
  readonly registry_ref: Ref;
  readonly rubrics: readonly OpenRubric[];
  /** Part of the ids of its cells, which no other evaluation has. */
  readonly stamp: string;
  readonly open: readonly OpenCell[];
  readonly done: readonly CellResult[];
}

export type OpenEvaluationResult =
  | ({ readonly type: 'open'; readonly evaluation: OpenedEvaluation } & OpenedPlace)
  | { readonly type: 'refused'; readonly reason: string };

/** State that an evaluation carries over continue-as-new. Only the engine writes it. */
export interface CarriedEvaluation {
  readonly evaluation: OpenedEvaluation;
  readonly usage: Usage;
}

export type EvaluationArgs =
  | z.input<typeof EvaluationInput>
  | { readonly carried: CarriedEvaluation };

export interface GradeCellInput {
  readonly input_ref: Ref;
  readonly cell: Cell;
  readonly run_id: string;
}

/** Everything that is judged without a model. */
export interface GradedCell {
  readonly status: CellResult['status'];
  readonly reason: string;
  readonly grades: readonly Grade[];
  /** Null when the run has no record. */
  readonly answer_ref: Ref | null;
}

export interface KeepCellInput {
  readonly address: string;
  /** The evaluation, so that the address can be compared. */
  readonly input_ref: Ref;
  readonly result: CellResult;
}
export interface EvaluationActivities {
  /** Checks the input, lists the cells, and finds those that ran before. */
  readonly openEvaluation: (input: { readonly input: unknown }) => Promise<OpenEvaluationResult>;
  /** Judges the answer of a run by all graders but models. Commands run in the sandbox. */
  readonly gradeCell: (input: GradeCellInput) => Promise<GradedCell>;
  /** Keeps a result for later evaluations. */
  readonly keepCell: (input: KeepCellInput) => Promise<void>;
}

/** First message to the grader: an answer and a rubric, and nothing of how the answer came about. */
export interface GradingPrompt {
  readonly kind: 'grading';
  /** The GradingTask as JSON. */
  readonly rubric_ref: Ref;
  readonly answer_ref: Ref;
}

/** Task of the grader: the goal, and the rubric that it judges by. */
export const GradingTask = z.strictObject({ goal: z.string(), rubric: z.string() });
export type GradingTask = z.infer<typeof GradingTask>;

/** Judgement of a model by a rubric. */
export const Grading = z.strictObject({
  reason: z
    .string()
    .min(1)
    .max(2_000)
    .describe('What the answer has and lacks by the rubric, with its places, before the score.'),
  score: z.number().min(0).max(1).describe('0: nothing of the rubric is fulfilled. 1: all of it.'),
});
export type Grading = z.infer<typeof Grading>;
