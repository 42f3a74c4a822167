import { ApplicationFailure } from '@temporalio/activity';
import { z } from 'zod';
import {
  cellStatuses,
  type CellResult,
  type KeepCellInput,
  EvaluationInput,
  type Cell,
  type OpenCell,
  type OpenEvaluationResult,
  type OpenRubric,
} from '../../contracts/evaluation.ts';
import { noUsage, readUsage } from '../../core/usage/add-usage.ts';
import { graderAgentId } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import {
  findEvaluationFaults,
  evaluationStamp,
  contentOf,
  gradersOf,
  listCells,
  type CellTerms,
} from '../../core/evaluation/matrix.ts';
import { chooseLoad, recordStore } from '../../core/run/run-place.ts';
import { listNames } from '../../core/text/list-names.ts';
import { keepNewest } from '../artifacts/keep-newest.ts';
import { orNull, readShape, type RegistrySnapshot } from '../artifacts/read-artifact.ts';
import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';
import type { RecordDeps } from '../run-record/deps.ts';
import {
  describeFault,
  describeInputIssues,
  describeInvalidInput,
} from '../run-record/describe-input-issues.ts';
import { loadRegistry, type LoadedRegistry } from '../run-record/load-registry.ts';
import { gradingRules } from '../stages/grading.ts';
import { hashBytes } from '../text/bytes.ts';

interface KeptCellsDeps {
  readonly store: ArtifactStore;
  /** Maps the address of each cell to its newest result, among other names. */
  readonly kept: Pick<RunIndex, 'read' | 'write'>;
}

const KeptCell: z.ZodType<CellResult> = z.object({
  cell: z.number(),
  goal: z.string(),
  setting: z.string(),
  repetition: z.number(),
  run_id: z.string(),
  status: z.enum(cellStatuses),
  reason: z.string(),
  passed: z.boolean(),
  grades: z.array(
    z.object({
      grader: z.string(),
      result: z.enum(['passed', 'failed', 'not_run']),
      score: z.number().nullable(),
      reason: z.string(),
    }),
  ),
  usage: z.unknown().transform((value) => readUsage(value) ?? noUsage),
  seconds: z.number(),
  cached: z.boolean(),
});

/** Returns the kept result of an address; null without one, and for one that was pruned. */
async function findCell(
  { store, kept }: KeptCellsDeps,
  address: string,
): Promise<CellResult | null> {
  const { ref } = await kept.read(nameOf(address));
  if (ref === null) return null;
  return orNull(readShape(store, ref, KeptCell, 'the result of a cell'));
}

/** Beside the names of technologies, none of which begins like this. */
function nameOf(address: string): string {
  return `evaluation/${address}`;
}

export interface OpenEvaluationDeps
  extends
    KeptCellsDeps,
    Pick<
      RecordDeps,
      | 'agents'
      | 'identifyStore'
      | 'modelQueue'
      | 'toolNames'
      | 'workspaceTools'
      | 'mcp'
      | 'onLeftOut'
    > {
  /** Model of agents that name none. */
  readonly defaultModel: string;
  /** Runs no commands: why, and the cure. Null when commands run in a sandbox. */
  readonly noCommands: string | null;
}

/**
 * Checks a typed evaluation, lists its cells and finds the results of those that ran before.
 *
 * @param executionId Id of the workflow's execution: the same evaluation may be started again.
 */
export async function openEvaluation(
  deps: OpenEvaluationDeps,
  typed: unknown,
  executionId: string,
): Promise<OpenEvaluationResult> {
  const parsed = EvaluationInput.safeParse(typed);
  if (!parsed.success) {
    return refuse(describeInputIssues(parsed.error, EvaluationInput).map(describeFault));
  }
  const input = parsed.data;
  const registries = await loadRegistries(deps, input);
  const faults = [...registries.faults, ...checkGraders(deps, input)];
  if (faults.length > 0) return refuse(faults);
  const grader = graderOf(registries);
  const placed = await placeCells(deps, input, createTerms(deps, registries));
  const needsHome = input.goals.some(({ workspace_dir }) => workspace_dir !== undefined);
  return {
    type: 'open',
    store: recordStore(await deps.identifyStore(), needsHome),
    ...chooseLoad({}, {}, deps.modelQueue),
    evaluation: {
      input,
      input_ref: await deps.store.put(JSON.stringify(input)),
      registry_ref: await deps.store.put(JSON.stringify(grader)),
      rubrics: await storeRubrics(deps, input),
      stamp: evaluationStamp(executionId),
      open: placed.flatMap((one) => ('address' in one ? [one] : [])),
      done: placed.flatMap((one) => ('address' in one ? [] : [one])),
    },
  };
}

/** Returns the agents of whoever grades: the same under each setting. */
function graderOf({ bySetting }: Registries): RegistrySnapshot {
  const [first] = bySetting.values();
  const designers = first?.designers.filter(({ agent_id }) => agent_id === graderAgentId) ?? [];
  return { agents: [], designers, teams: [] };
}

function createTerms(
  { defaultModel }: Pick<OpenEvaluationDeps, 'defaultModel'>,
  registries: Registries,
): (cell: Pick<Cell, 'setting'>) => CellTerms {
  const grading = hashOf([gradingRules, graderOf(registries)]);
  return ({ setting }) => ({
    agents: hashOf(registries.bySetting.get(setting)),
    model: defaultModel,
    grading,
  });
}

/** Attempts while the agents of a cell can't be loaded, some 100 seconds: the evaluation waits for its cells. */
const keepAttemptsMax = 10;

/**
 * Keeps the result of a cell. The newest replaces any earlier one. Where agents or model have changed since the evaluation
 * began, the run had others than its address says, so nothing is kept.
 *
 * @param attempt number of the attempt at the activity, from 1.
 * @throws a retryable failure while the agents can't be loaded, such as when an MCP server is down for a moment. The last
 * attempt says that the result is not kept: the evaluation does not fail over it.
 */
export async function keepCell(
  deps: OpenEvaluationDeps,
  { address, result, input_ref }: KeepCellInput,
  attempt: number,
): Promise<void> {
  const { store, kept } = deps;
  const input = await readShape(store, input_ref, EvaluationInput, 'an evaluation');
  // The agents of whoever grades are those of the first setting.
  const settings = input.settings.filter(({ name }, at) => at === 0 || name === result.setting);
  const registries = await loadRegistries(deps, { settings });
  if (registries.faults.length > 0) {
    const message = describeNotKept(result, registries.faults);
    if (attempt < keepAttemptsMax) {
      throw ApplicationFailure.create({ type: 'Internal', message, nonRetryable: false });
    }
    deps.onLeftOut?.(message);
    return;
  }
  const termsOf = createTerms(deps, registries);
  if (hashOf(contentOf(input, result, termsOf(result))) !== address) return;
  await keepNewest(store, kept, nameOf(address), result);
}

function describeNotKept({ cell, goal, setting }: Cell, faults: readonly string[]): string {
  return (
    `The result of cell ${cell} (${goal}, ${setting}) is not kept, because its agents can't be compared with those it ran with: ` +
    `${faults.join('; ')}. Try: mend that before the next evaluation, which buys this cell again.`
  );
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
  { settings }: Pick<EvaluationInput, 'settings'>,
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

/** Finds what could never be judged, or carried out, here: every cell would be bought for nothing. */
function checkGraders({ noCommands }: OpenEvaluationDeps, input: EvaluationInput): string[] {
  const graders = input.goals.flatMap((goal) => gradersOf(input, goal));
  const commands = graders.filter(({ kind }) => kind === 'command').map(({ name }) => name);
  const refused =
    noCommands === null || commands.length === 0
      ? []
      : [`the grader ${listNames([...new Set(commands)])} runs a command, and ${noCommands}`];
  const faults = findEvaluationFaults(input).map(
    ({ path, message, cure }) => `${path.replaceAll('/', '.')}: ${message}. Try: ${cure}`,
  );
  return [...refused, ...faults];
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
  return { type: 'refused', reason: describeInvalidInput('evaluation', faults, example) };
}

const example =
  '{"name":"backup","goals":[{"name":"compare","goal":"Compare three ways to store a backup"}],"settings":[{"name":"direct","run":"direct"}]}';
