import { ApplicationFailure, patched } from '@temporalio/workflow';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type { DelegationOutline, ExecutorOutline } from '../../contracts/delegation.ts';
import type {
  DelegationOrder,
  DelegationOutcome,
  LoneOutcome,
} from '../../contracts/delegation-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';
import type { Ref } from '../../contracts/ref.ts';
import { applyOutcomes, applyPlan } from '../../core/criteria/criteria.ts';
import { reserveForWave } from '../../core/budget/resolve-budget.ts';
import { applyRuleOfTwo } from '../../core/plan/rule-of-two.ts';
import { addVerifiers } from '../../core/verification/choose-verifier.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { endedBy, openAccount } from '../shared/account.ts';
import { registerRootHandlers } from '../shared/root-handlers.ts';
import { RootHost } from '../shared/root-host.ts';
import type { ExecutionContext } from './execution-context.ts';
import { createEscalationRouter } from '../shared/child-relay.ts';
import { finishAlone, isHandedOver, recallAlone } from '../shared/settle-run.ts';
import { recorder } from '../shared/in-span.ts';
import { progressOf } from '../shared/messages.ts';

/**
 * A delegation, a triad or one of its phases that somebody started by hand: it has its own inbox, record and result.
 *
 * @param execute Does it, with everything that the input set.
 */
export async function runAlone(
  type: 'delegation' | 'triad' | 'triadPhase' | 'team',
  input: unknown,
  execute: (
    executor: ExecutorOutline,
    context: ExecutionContext,
    opened: OpenRunResult,
  ) => Promise<DelegationOutcome>,
): Promise<LoneOutcome> {
  const host = new RootHost(null);
  registerRootHandlers(host);
  const escalations = createEscalationRouter(
    (reason) => host.refuse(reason),
    (escalation) => host.escalate(escalation),
  );
  const opened = await host.open(type, input);
  await recallAlone(host);
  const plan =
    opened.plan === null ? null : applyRuleOfTwo(addVerifiers(opened.plan, opened), opened).plan;
  const delegation = plan?.delegations[0];
  if (plan === null || delegation === undefined) {
    throw ApplicationFailure.nonRetryable('The input gave no delegation.');
  }
  host.showPlan(progressOf(1, plan, noUsage));
  const { account, budget } = openAccount(
    reserveForWave(host.state.budget, host.state.usage),
    { control: host.control, superior: host, limits: opened.limits, wave: 1 },
    delegation.delegation_id,
  );
  const tells = tellsNews(delegation);
  const outcome = await host.stoppable(() =>
    execute(
      delegation.executor,
      {
        order: orderAlone(host.runId, opened, plan.plan_ref, delegation),
        carried: null,
        place: host.runId,
        escalations,
        control: host.control,
        superior: host,
        budget,
        onStatus: (view) => host.showWork(view),
        carryOver: null,
      },
      opened,
    ),
  );
  recorder.count(metrics.delegations, { agent: outcome.agent_id, status: outcome.status });
  const planned = applyPlan(host.state.criteria, plan.delegations);
  const criteria = isHandedOver(outcome) ? [] : applyOutcomes(planned, [outcome]);
  const wave: WaveResult = {
    wave: 1,
    status: outcome.status === 'stopped' ? 'stopped' : (endedBy(account) ?? 'decided'),
    plan_ref: plan.plan_ref,
    record_ref: opened.record_ref,
    outcomes: [outcome],
    decision: null,
    fingerprints: [],
    criteria,
    usage: outcome.usage,
    news_considered: 0,
    budget: account?.carry() ?? null,
  };
  const isKnown = tells && outcome.status !== 'stopped';
  const answer = await finishAlone(host, wave, isKnown ? host.news.heard() : undefined);
  return { ...outcome, ...answer };
}

/**
 * Returns true when a part tells which news its calls were told: the phases of a triad did not before 2026-11-27. Must be
 * called before the work.
 */
function tellsNews({ executor }: DelegationOutline): boolean {
  return executor.kind !== 'triad' || patched('triad-unread');
}

function orderAlone(
  run_id: string,
  { registry_ref, record_ref, limits, notes }: OpenRunResult,
  plan_ref: Ref,
  delegation: DelegationOutline,
): DelegationOrder {
  return {
    run_id,
    wave: 1,
    delegation,
    plan_ref,
    registry_ref,
    record_ref,
    upstream: [],
    news: [],
    limits,
    reservation: null,
    paused: false,
    ...(notes === true && { notes }),
  };
}
