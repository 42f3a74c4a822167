import { isCancellation, startChild } from '@temporalio/workflow';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import type { Lease, Spending } from '../../contracts/budget.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type {
  DelegationArgs,
  DelegationOrder,
  DelegationOutcome,
} from '../../contracts/delegation-run.ts';
import { workflowTypes } from '../../contracts/names.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { emptyPurse } from '../../core/budget/purse.ts';
import { noSpending, spendingOf } from '../../core/budget/spending.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { collectUpstream, dropReplaced, listReplaced } from '../../core/schedule/dependencies.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { delegationSummary } from '../../core/render/labels.ts';
import { secondsSince } from '../shared/clock.ts';
import type { ChildRelay } from '../shared/child-relay.ts';
import { readFailure } from '../shared/read-failure.ts';
import { toPlanned } from '../shared/progress-of.ts';
import { recorder } from '../shared/recorder.ts';
import type { Treasury } from '../shared/treasury.ts';
import { childOptions } from '../shared/child-options.ts';
import { outcomeUnbegun } from '../execution/build-outcome.ts';
import type { PlannerContext } from './consult-planner.ts';

/** The planner's context with the wave's account; null: nothing is limited. */
export type DispatchContext = PlannerContext & { readonly treasury: Treasury | null };

/** Facts about the wave that a delegation's start needs. */
export interface WaveSite {
  readonly plan: WavePlanOutline;
  readonly order: WaveOrder;
  readonly context: DispatchContext;
  readonly waveId: string;
  readonly byId: ReadonlyMap<string, DelegationOutline>;
  readonly outcomes: ReadonlyMap<string, DelegationOutcome>;
  readonly relay: ChildRelay;
  readonly plannedAtMs: number;
}

type DelegationChild = ChildWorkflowHandle<(args: DelegationArgs) => Promise<DelegationOutcome>>;

/** Starts a delegation, waits for its end, and settles its account. Every end, even a lost child, gives an outcome. */
export async function runChild(
  d: WaveSite,
  delegation: DelegationOutline,
): Promise<DelegationOutcome> {
  const { context, relay } = d;
  const { delegation_id } = delegation;
  // Unknown only when the child was lost: then its whole lease counts as spent.
  let spent: Spending | null = noSpending;
  try {
    const admitted = await admit(d, delegation_id);
    if (admitted.type === 'denied') return outcomeUnbegun(delegation, 'skipped', admitted.reason);
    recorder.observe(metrics.gateWait, {}, secondsSince(d.plannedAtMs));
    const news = context.superior.news.all();
    const child = await startDelegation(d, delegation, { lease: admitted.lease, news });
    spent = null;
    relay.welcome(child.workflowId, lastNewsId(news));
    const outcome = await child.result();
    spent = spendingOf(outcome.usage);
    return outcome;
  } catch (error) {
    if (isCancellation(error))
      return outcomeUnbegun(delegation, 'stopped', 'stopped before it began');
    context.superior.withdraw(delegation_id);
    recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'lost' });
    return outcomeUnbegun(delegation, 'failed', readFailure(error).message);
  } finally {
    relay.dismiss(delegationWorkflowId(d.waveId, delegation_id));
    context.treasury?.end(delegation_id, spent);
  }
}

type Admitted =
  | { readonly type: 'admitted'; readonly lease: Lease | null }
  | { readonly type: 'denied'; readonly reason: string };

/** Nothing starts that could make no call. */
async function admit({ context }: WaveSite, delegationId: string): Promise<Admitted> {
  if (context.treasury === null) return { type: 'admitted', lease: null };
  const { needs, spent, worked_ms } = emptyPurse;
  const { lease, reason } = await context.treasury.request(delegationId, {
    needs,
    spent,
    worked_ms,
  });
  return lease === null ? { type: 'denied', reason } : { type: 'admitted', lease };
}

function startDelegation(
  { order, plan, outcomes, byId, waveId }: WaveSite,
  delegation: DelegationOutline,
  { lease, news }: Pick<DelegationOrder, 'lease' | 'news'>,
): Promise<DelegationChild> {
  const { run_id, wave, registry_ref, record_ref, limits } = order;
  const versions = [...byId.values()];
  const upstream = dropReplaced(collectUpstream(delegation, byId)).flatMap((one) => {
    const { delegation_id } = one;
    const { output_ref = null, files } = outcomes.get(delegation_id) ?? {};
    const replaces = listReplaced(one, versions);
    if (output_ref === null) return [];
    return [
      {
        delegation_id,
        output_ref,
        ...(replaces.length > 0 && { replaces }),
        ...(files !== undefined && { files }),
      },
    ];
  });
  const { plan_ref } = plan;
  return startChild<(args: DelegationArgs) => Promise<DelegationOutcome>>(
    workflowTypes.delegation,
    {
      workflowId: delegationWorkflowId(waveId, delegation.delegation_id),
      args: [
        {
          order: {
            run_id,
            wave,
            delegation,
            plan_ref,
            registry_ref,
            record_ref,
            upstream,
            news,
            limits,
            lease,
            paused: false,
          },
        },
      ],
      ...childOptions(run_id, delegationSummary(toPlanned(delegation))),
    },
  );
}
