import type { OpenRunInput, OpenRunResult } from '../../contracts/activity-types.ts';
import { resolveBudget } from '../../core/budget/resolve-budget.ts';
import { resolveLimits } from '../../core/limits.ts';
import { resolveQuestionRules } from '../../core/questions/question-moments.ts';
import { checkBudget } from './check-budget.ts';
import { checkRequest, summariseAgent } from './check-request.ts';
import { composePlan, storePlan } from './compose-plan.ts';
import type { RecordDeps } from './deps.ts';
import { createFirstRecord } from './first-record.ts';
import { createInvalidInput } from './input-fault.ts';
import type { InputFault } from './input-fault.ts';
import { listKnownInputs } from './known-inputs.ts';
import { loadRegistry } from './load-registry.ts';
import { publishRecord } from './publish-record.ts';
import { readInput } from './read-input.ts';
import type { RunRequest } from './read-input.ts';

/**
 * Checks what was typed and begins the run's record.
 *
 * Repeating it with the same input gives the same references, and does not set a run back that has gone on.
 *
 * @throws InvalidInput with every fault of the input and of the agent files at once.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function openRun(deps: RecordDeps, input: OpenRunInput): Promise<OpenRunResult> {
  const { workflow_type } = input;
  const { request, agentsDir, faults } = readInput(workflow_type, input.input);
  const registry = await loadRegistry(deps, agentsDir);
  const shapeFaults = [...faults, ...registry.faults];
  if (request === null || shapeFaults.length > 0) {
    throw createInvalidInput(workflow_type, shapeFaults);
  }
  const limits = resolveLimits(request.limits);
  const budget = resolveBudget(request.budget);
  const ruleFaults = [
    ...checkRequest(workflow_type, request, registry.agents, limits),
    ...checkBudget(budget, registry.agents, deps.isPriced),
    ...(await checkWorkspace(deps, request)),
  ];
  if (ruleFaults.length > 0) throw createInvalidInput(workflow_type, ruleFaults);

  const registryRef = await deps.store.put(JSON.stringify(registry.agents));
  const plan =
    request.delegations === null
      ? null
      : await storePlan(deps.store, composePlan(request.delegations));
  const record = createFirstRecord(input, request, registryRef);
  const recordRef = await publishRecord(deps, record, []);
  return {
    goal_title: record.goal_title,
    registry_ref: registryRef,
    record_ref: recordRef,
    agents: registry.agents.map(summariseAgent),
    limits,
    budget,
    use_defaults: request.useDefaults,
    autonomy: request.autonomy,
    triads: request.triads,
    questions: resolveQuestionRules(request.questions),
    criteria: record.criteria.map(({ criterion_id, state, delegation_id }) => ({
      criterion_id,
      state,
      delegation_id,
    })),
    known_inputs: listKnownInputs(record),
    plan,
  };
}

/** What agents are to write into is looked at before anything is paid for. */
async function checkWorkspace(
  { workspaces }: Pick<RecordDeps, 'workspaces'>,
  { workspaceDir }: RunRequest,
): Promise<readonly InputFault[]> {
  if (workspaceDir === null) return [];
  const reason = await workspaces.findFault(workspaceDir);
  return reason === null ? [] : [{ path: 'workspace_dir', reason }];
}
