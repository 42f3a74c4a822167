/**
 * Adds up what a run has used until now, although each workflow counts what is below it only at its end.
 *
 * A view names the work whose usage is not in its own. Those are asked after it: whatever ends in between, nothing is
 * counted twice, and nothing is left out.
 */
import { queryNames } from '../contracts/names.ts';
import type { Usage } from '../contracts/usage.ts';
import type {
  DelegationStatusView,
  PhaseStatusView,
  StatusView,
  WaveView,
} from '../contracts/views.ts';
import { askStatus, type StatusAnswer, type WorkAddress } from './read-view.ts';
import type { ClientContext } from './server-calls.ts';
import { addUsage, noUsage } from '../core/usage/add-usage.ts';

export interface UsageNow {
  readonly usage: Usage;
  /** Workflow ids of what no worker told: what those have used is missing in `usage`. */
  readonly untold: readonly string[];
}

/** Returns true if the usage of the view is complete. */
export function isWholeUsage({
  usage,
  delegation,
  wave_workflow_id,
  evaluation,
}: StatusView): boolean {
  if (evaluation !== undefined) return evaluation.at_work.length === 0;
  // A part that was started by hand is counted at its end.
  return delegation === undefined ? wave_workflow_id === null : usage.calls > 0;
}

/** Reads the usage of a run, of an evaluation, or of a part that was started by hand. */
export async function readUsageNow(context: ClientContext, status: StatusView): Promise<UsageNow> {
  const { usage, delegation, evaluation, wave_workflow_id: waveId } = status;
  if (isWholeUsage(status)) return { usage, untold: [] };
  if (evaluation !== undefined) {
    const runs = evaluation.at_work.map(({ run_id }) => countRun(context, run_id));
    return addBelow(usage, await Promise.all(runs));
  }
  if (delegation !== undefined)
    return addBelow(usage, [await countDelegation(context, delegation)]);
  return addBelow(usage, waveId === null ? [] : [await countWave(context, waveId)]);
}

async function countRun(context: ClientContext, workflow_id: string): Promise<UsageNow> {
  const answer = await askStatus<StatusView>(context, { workflow_id });
  return countTold(workflow_id, answer, (view) => readUsageNow(context, view));
}

async function countWave(context: ClientContext, waveId: string): Promise<UsageNow> {
  const answer = await askStatus<WaveView>(context, { workflow_id: waveId }, queryNames.wave);
  return countTold(waveId, answer, async ({ usage, at_work, delegations }) => {
    const working = delegations.filter(({ delegation_id }) => at_work.includes(delegation_id));
    return addBelow(
      usage,
      await Promise.all(working.map((one) => countDelegationAt(context, one))),
    );
  });
}

async function countDelegationAt(context: ClientContext, address: WorkAddress): Promise<UsageNow> {
  const answer = await askStatus<DelegationStatusView>(context, address);
  return countTold(address.workflow_id, answer, (view) => countDelegation(context, view));
}

async function countDelegation(
  context: ClientContext,
  { usage, phases_at_work = [] }: DelegationStatusView,
): Promise<UsageNow> {
  return addBelow(usage, await Promise.all(phases_at_work.map((id) => countPhase(context, id))));
}

async function countPhase(context: ClientContext, id: string): Promise<UsageNow> {
  const answer = await askStatus<PhaseStatusView>(context, { workflow_id: id });
  return countTold(id, answer, async ({ usage }) => ({ usage, untold: [] }));
}

/** @param count Counts what the workflow tells. One that has nothing to tell yet has used nothing. */
async function countTold<T>(
  id: string,
  answer: StatusAnswer<T>,
  count: (view: T) => Promise<UsageNow>,
): Promise<UsageNow> {
  if (!answer.isTold) return { usage: noUsage, untold: [id] };
  return answer.view === null ? { usage: noUsage, untold: [] } : count(answer.view);
}

function addBelow(own: Usage, parts: readonly UsageNow[]): UsageNow {
  return {
    usage: addUsage(own, ...parts.map(({ usage }) => usage)),
    untold: [...new Set(parts.flatMap(({ untold }) => untold))],
  };
}
