import { EvaluationInput } from '../../contracts/evaluation.ts';
import type {
  Cell,
  CellResult,
  OpenCell,
  OpenEvaluationResult,
  OpenRubric,
} from '../../contracts/evaluation.ts';
import { graderAgentId } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import { contentOf, gradersOf, listCells } from '../../core/evaluation/matrix.ts';
import type { CellTerms } from '../../core/evaluation/matrix.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { RegistrySnapshot } from '../artifacts/read-artifact.ts';
import type { RecordDeps } from '../run-record/deps.ts';
import { describeInputIssues } from '../run-record/describe-input-issues.ts';
import { loadRegistry } from '../run-record/load-registry.ts';
import type { LoadedRegistry } from '../run-record/load-registry.ts';
import { gradingRules } from '../stages/grading.ts';
import { hashBytes } from '../text/bytes.ts';
import { findCell } from './kept-cells.ts';
import type { KeptCellsDeps } from './kept-cells.ts';

export interface OpenEvaluationDeps
  extends
    KeptCellsDeps,
    Pick<RecordDeps, 'agents' | 'toolNames' | 'workspaceTools' | 'mcp' | 'onLeftOut'> {
  /** Model of agents that name none. */
  readonly defaultModel: string;
  /** Runs no commands: why, and the cure. Null when commands run in a sandbox. */
  readonly noCommands: string | null;
}

/** Checks a typed evaluation, lists its cells and finds the results of those that ran before. */
export async function openEvaluation(
  deps: OpenEvaluationDeps,
  typed: unknown,
): Promise<OpenEvaluationResult> {
  const parsed = EvaluationInput.safeParse(typed);
  if (!parsed.success) {
    const faults = describeInputIssues(parsed.error, EvaluationInput);
    return refuse(faults.map(({ path, reason }) => `${path}: ${reason}`));
  }
  const input = parsed.data;
  const registries = await loadRegistries(deps, input);
  const faults = [...registries.faults, ...checkGraders(deps, input)];
  const [first] = registries.bySetting.values();
  if (faults.length > 0 || first === undefined) return refuse(faults);
  const registry: RegistrySnapshot = {
    agents: [],
    designers: first.designers.filter(({ agent_id }) => agent_id === graderAgentId),
    teams: [],
  };
  const placed = await placeCells(deps, input, (cell) => ({
    agents: hashOf(registries.bySetting.get(cell.setting)),
    model: deps.defaultModel,
    grading: hashOf([gradingRules, registry]),
  }));
  return {
    type: 'open',
    evaluation: {
      input,
      input_ref: await deps.store.put(JSON.stringify(input)),
      registry_ref: await deps.store.put(JSON.stringify(registry)),
      rubrics: await storeRubrics(deps, input),
      open: placed.flatMap((one) => ('address' in one ? [one] : [])),
      done: placed.flatMap((one) => ('address' in one ? [] : [one])),
    },
  };
}

/** Finds the kept result of each cell. A cell without one, or of a fresh evaluation, is open. */
function placeCells(
  deps: KeptCellsDeps,
  input: EvaluationInput,
  termsOf: (cell: Cell) => CellTerms,
): Promise<(OpenCell | CellResult)[]> {
  return Promise.all(
    listCells(input).map(async (cell) => {
      const address = hashOf(contentOf(input, cell, termsOf(cell)));
      const kept = input.fresh ? null : await findCell(deps, address);
      return kept === null ? { ...cell, address } : { ...kept, ...cell, cached: true };
    }),
  );
}

interface Registries {
  readonly bySetting: ReadonlyMap<string, LoadedRegistry>;
  readonly faults: readonly string[];
}

/** Loads the agents of each setting, each folder once. */
async function loadRegistries(
  deps: OpenEvaluationDeps,
  { settings }: EvaluationInput,
): Promise<Registries> {
  const dirs = [...new Set(settings.map(({ agents_dir = null }) => agents_dir))];
  const loaded = await Promise.all(
    dirs.map(async (dir) => [dir, await loadRegistry(deps, dir, true)] as const),
  );
  const byDir = new Map(loaded);
  const faults = loaded.flatMap(([, registry]) =>
    registry.faults.map(({ path, reason }) => `${path}: ${reason}`),
  );
  const bySetting = new Map(
    settings.flatMap(({ name, agents_dir = null }) => {
      const registry = byDir.get(agents_dir);
      return registry === undefined ? [] : [[name, registry] as const];
    }),
  );
  return { bySetting, faults };
}

/** Finds graders that could never judge here: every cell would be bought for nothing. */
function checkGraders({ noCommands }: OpenEvaluationDeps, input: EvaluationInput): string[] {
  const graders = input.goals.flatMap((goal) => gradersOf(input, goal));
  const commands = graders.filter(({ kind }) => kind === 'command').map(({ name }) => name);
  const refused =
    noCommands === null || commands.length === 0
      ? []
      : [`the grader ${listNames([...new Set(commands)])} runs a command, and ${noCommands}`];
  return [...refused, ...graders.flatMap(findBadPattern)];
}

function findBadPattern(grader: ReturnType<typeof gradersOf>[number]): string[] {
  if (grader.kind !== 'regex') return [];
  try {
    RegExp(grader.pattern, grader.flags);
    return [];
  } catch (error) {
    return [`the grader "${grader.name}": ${error instanceof Error ? error.message : ''}`];
  }
}

/** Stores what models judge by: for each goal and rubric a task, which says nothing of settings. */
async function storeRubrics(
  { store }: KeptCellsDeps,
  input: EvaluationInput,
): Promise<OpenRubric[]> {
  const stored = input.goals.flatMap((goal) =>
    gradersOf(input, goal).map(async (grader): Promise<OpenRubric[]> => {
      if (grader.kind !== 'rubric') return [];
      const { rubric, pass_at, model, name } = grader;
      const rubric_ref: Ref = await store.put(JSON.stringify({ goal: goal.goal, rubric }));
      const own = model === undefined ? {} : { model };
      return [{ goal: goal.name, grader: name, rubric_ref, pass_at, ...own }];
    }),
  );
  return (await Promise.all(stored)).flat();
}

function hashOf(value: unknown): string {
  return hashBytes(JSON.stringify(value) ?? '');
}

function refuse(faults: readonly string[]): OpenEvaluationResult {
  return { type: 'refused', reason: faults.join('; ') };
}
