/**
 * Lists the cells of an evaluation, and says what carries each out and what decides its result.
 *
 * Invariants:
 *   EM1. Every goal is there once for each of its settings and each repetition, and no cell twice.
 *   EM2. All goals and settings come before the next repetition, so that an interrupted evaluation has a whole picture.
 *   EM3. Two cells have the same content only if goal, setting, agents, model, graders and repetition are the same; names
 *        of goals and settings, the number of repetitions, parallelism and budgets of the whole make no difference.
 *   EM4. Graders of one goal have different names.
 *   EM5. A run of a cell asks nobody, and changes no folder of the user's.
 */
import type { BudgetAmounts, Allowance, Spending } from '../../contracts/budget.ts';
import type {
  Cell,
  CellRun,
  EvaluationGoal,
  EvaluationInput,
  EvaluationSetting,
  Grader,
} from '../../contracts/evaluation.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import { checkSchema } from '../design/check-plan-evidence.ts';
import { hashText } from '../text/hash-text.ts';
import { listNames } from '../text/list-names.ts';
import { messageOf } from '../text/message-of.ts';
import { definedOnly } from '../json.ts';
import { limitsOf as limitsOfAmounts, microUsdPerUsd } from '../budget/resolve-budget.ts';
import { mapAllowance, mapSpending } from '../budget/spending.ts';

export function listCells({ goals, settings, repeat }: EvaluationInput): Cell[] {
  const pairs = goals.flatMap((goal) =>
    settings
      .filter(({ name }) => goal.settings?.includes(name) ?? true)
      .map((setting) => ({ goal: goal.name, setting: setting.name })),
  );
  return Array.from({ length: repeat }, (_one, at) => at + 1)
    .flatMap((repetition) => pairs.map((pair) => ({ ...pair, repetition })))
    .map((pair, at) => ({ cell: at + 1, ...pair }));
}

/** @throws Error for a cell of another evaluation. */
export function partsOf(
  { goals, settings }: EvaluationInput,
  cell: Pick<Cell, 'goal' | 'setting'>,
): { readonly goal: EvaluationGoal; readonly setting: EvaluationSetting } {
  const goal = goals.find(({ name }) => name === cell.goal);
  const setting = settings.find(({ name }) => name === cell.setting);
  if (goal !== undefined && setting !== undefined) return { goal, setting };
  throw new Error(`The evaluation has no cell of ${cell.goal} and ${cell.setting}.`);
}

export type NamedGrader = Grader & { readonly name: string };

/** Lists the graders of a goal, each with a name: its own, or its kind, with a number where it is taken. */
export function gradersOf(input: EvaluationInput, goal: EvaluationGoal): NamedGrader[] {
  const taken = new Set<string>();
  return [...input.graders, ...(goal.graders ?? [])].map((grader) => {
    const wanted = grader.name ?? grader.kind;
    let name = wanted;
    for (let n = 2; taken.has(name); n += 1) name = `${wanted}-${n}`;
    taken.add(name);
    return { ...grader, name };
  });
}

/** Parts of a cell's content that only the worker knows. */
export interface CellTerms {
  /** Hash of the agents that the setting has. */
  readonly agents: string;
  /** Model of agents that name none. */
  readonly model: string;
  /** Hash of the grader's rules. */
  readonly grading: string;
}

/**
 * Returns what tells two evaluations with one id apart, in the ids of their cells: without it the second would work in the
 * folders of the first. Short, because the id of a run is a slug.
 *
 * @param executionId Id of the execution that opened the evaluation.
 */
export function evaluationStamp(executionId: string): string {
  return Number.parseInt(hashText(executionId).slice(0, 10), 16)
    .toString(36)
    .slice(-4)
    .padStart(4, '0');
}

/** Version of what the cells of this code record. */
const contentVersion = 1;

/** Returns everything that decides the result of a cell (EM3). */
export function contentOf(input: EvaluationInput, cell: Cell, terms: CellTerms): object {
  const { goal, setting } = partsOf(input, cell);
  const { name: _goal, settings: _settings, graders: _graders, ...asked } = goal;
  const { name: _setting, ...under } = setting;
  const graders = gradersOf(input, goal);
  return { contentVersion, asked, under, graders, terms, repetition: cell.repetition };
}

/** Words of a goal and its constraints, for a run that has no field for constraints. */
function taskOf({ goal, constraints = [] }: EvaluationGoal): string {
  return [goal, ...constraints.map((one) => `- ${one}`)].join('\n');
}

/** Kinds of run whose input is one text, and the most characters of it. */
const oneText: readonly EvaluationSetting['run'][] = ['model', 'triad', 'team'];
const taskCharsMax = 20_000;

/** Fields of a setting that only one kind of run looks at. */
const fieldsOfRuns = [
  ['agent_id', 'model'],
  ['triad_type', 'triad'],
  ['members', 'team'],
] as const;

/** Finds settings that would be ignored, and what no run and no grader could work with: before anything is bought. */
export function findEvaluationFaults(input: EvaluationInput): PlanFinding[] {
  const { goals, settings, graders } = input;
  const rule = 'evaluation';
  const ignored = settings.flatMap((setting, at) =>
    fieldsOfRuns.flatMap(([field, run]): PlanFinding[] => {
      if (setting[field] === undefined || setting.run === run) return [];
      const message = `a run of the kind "${setting.run}" has no ${field}`;
      return [
        { rule, path: `settings/${at}/${field}`, message, cure: `run: ${run}, or leave it out` },
      ];
    }),
  );
  const long = goals.flatMap((goal, at): PlanFinding[] => {
    const { length } = taskOf(goal);
    const under = settings.filter(
      ({ name, run }) => (goal.settings?.includes(name) ?? true) && oneText.includes(run),
    );
    if (length <= taskCharsMax || under.length === 0) return [];
    const names = listNames(under.map(({ name }) => name));
    const message = `with its constraints it has ${length} characters, and the input of ${names} takes ${taskCharsMax}`;
    return [{ rule, path: `goals/${at}/goal`, message, cure: 'A shorter goal, or other settings' }];
  });
  return [
    ...ignored,
    ...long,
    ...findBadGraders(graders, 'graders'),
    ...goals.flatMap((goal, at) => findBadGraders(goal.graders ?? [], `goals/${at}/graders`)),
  ];
}

function findBadGraders(graders: readonly Grader[], path: string): PlanFinding[] {
  return graders.flatMap((grader, at): PlanFinding[] => {
    if (grader.kind === 'schema')
      return checkSchema(grader.schema, { rule: 'evaluation', path: `${path}/${at}/schema` });
    if (grader.kind !== 'regex') return [];
    try {
      RegExp(grader.pattern, grader.flags);
      return [];
    } catch (error) {
      const cure = 'A regular expression of JavaScript';
      return [
        { rule: 'evaluation', path: `${path}/${at}/pattern`, message: messageOf(error), cure },
      ];
    }
  });
}

/** @param budget Limit of the run; if undefined, nothing is limited. */
export function runOf(
  { goal, setting }: ReturnType<typeof partsOf>,
  budget: BudgetAmounts | undefined,
): CellRun {
  const { criteria } = goal;
  const settings = definedOnly({
    unattended: true,
    changes: goal.workspace_dir === undefined ? undefined : 'keep',
    workspace_dir: goal.workspace_dir,
    agents_dir: setting.agents_dir,
    agents_model: setting.model,
    verify: setting.verify,
    limits: setting.limits,
    budget,
  });
  const alone = definedOnly({ ...settings, acceptance_criteria: criteria });
  const task = taskOf(goal);
  switch (setting.run) {
    case 'model': {
      const agent_id = setting.agent_id ?? 'writer';
      return { workflow_type: 'delegation', input: { ...alone, agent_id, task_description: task } };
    }
    case 'triad': {
      const type = setting.triad_type ?? 'dialectic';
      return { workflow_type: 'triad', input: { ...alone, type, task } };
    }
    case 'team': {
      const members = setting.members ?? ['researcher', 'writer'];
      return { workflow_type: 'team', input: { ...alone, members, message: task } };
    }
    case 'direct':
    case 'designed':
    case 'auto': {
      const typed = definedOnly({ constraints: goal.constraints, criteria });
      const mode = { mode: setting.run, auto_approve: true };
      return {
        workflow_type: 'plannerRun',
        input: { ...settings, ...typed, ...mode, goal: goal.goal },
      };
    }
  }
}

/**
 * Shares the budget of an evaluation among its cells.
 *
 * Invariants:
 *   EG1. What was spent and what running cells may still spend together never exceed the budget.
 *   EG2. A cell gets an equal share of what is left for all cells that have not started, so what one leaves is for the others.
 *   EG3. A cell is not started without room for a single call.
 *   EG4. Where models grade, a fifth of the share is theirs.
 *   EG5. A setting's own limit holds besides the share: the smaller counts.
 */

/** Returns the limits of the whole evaluation; null without any. */
export function limitsOf({ budget }: Pick<EvaluationInput, 'budget'>): Allowance | null {
  return budget === undefined ? null : mapAllowance(limitsOfAmounts(budget), (amount) => amount);
}

interface ShareTerms {
  /** Null without a limit. */
  readonly limits: Allowance | null;
  readonly spent: Spending;
  /** Shares of the cells at work. */
  readonly reserved: Spending;
  /** Cells that have not started, this one included. */
  readonly left: number;
}

/** Returns the share of a cell: null when there is too little left (EG3), `none` without a limit. */
export function shareOf({ limits, spent, reserved, left }: ShareTerms): Allowance | 'none' | null {
  if (limits === null) return 'none';
  const share = mapAllowance(limits, (limit, measure) =>
    Math.floor((limit - spent[measure] - reserved[measure]) / Math.max(1, left)),
  );
  const isEmpty = Object.values(share).some((amount) => amount !== null && amount < 1);
  return isEmpty ? null : share;
}

/** Returns a share as it is reserved: a measure without a limit counts nothing. */
export function toSpending(share: Allowance | 'none'): Spending {
  return mapSpending((measure) => (share === 'none' ? 0 : (share[measure] ?? 0)));
}

/** Returns the limit of a cell's run. @param share As `shareOf` returns it. @param graded True if models grade the cell. */
export function budgetOf(
  share: Allowance | 'none',
  own: BudgetAmounts | undefined,
  graded: boolean,
): BudgetAmounts | undefined {
  if (share === 'none') return own;
  const runs = mapAllowance(share, (amount) =>
    graded ? Math.max(1, Math.floor(amount * 0.8)) : amount,
  );
  const { calls, tokens, cost_micro_usd } = runs;
  const usd = cost_micro_usd === null ? null : cost_micro_usd / microUsdPerUsd;
  return {
    ...own,
    ...smaller('calls', calls, own),
    ...smaller('tokens', tokens, own),
    ...smaller('usd', usd, own),
  };
}

function smaller(
  name: 'calls' | 'tokens' | 'usd',
  share: number | null,
  own: BudgetAmounts | undefined,
): BudgetAmounts {
  return share === null ? {} : { [name]: Math.min(share, own?.[name] ?? share) };
}
