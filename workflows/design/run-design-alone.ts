import { ApplicationFailure } from '@temporalio/workflow';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type { DesignProgress, DesignResult } from '../../contracts/design-run.ts';
import type { RunAnswer, RunStatus } from '../../contracts/planner-run.ts';
import { reserveForWave } from '../../core/budget/resolve-budget.ts';
import { plannerChild } from '../../core/budget/step-account.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { openAccount } from '../shared/account.ts';
import { createEscalationRouter } from '../shared/escalation-router.ts';
import { registerRootHandlers } from '../shared/root-handlers.ts';
import { RootHost } from '../shared/root-host.ts';
import { endDesign, showDesign } from '../shared/show-design.ts';
import { beginDesignWork, noRecalledWork } from './design-context.ts';
import type { DesignWork } from './design-context.ts';
import { runDesign } from './run-design.ts';
import { runRiskChild } from './run-risk-child.ts';
import type { RiskResult } from './run-risk-child.ts';
import { runRisk } from './assess-risks.ts';

/** Makes a design that was started by hand: it has its own inbox, record and result. */
export async function runDesignAlone(input: unknown): Promise<DesignResult & RunAnswer> {
  const { host, escalations, work, report } = openAlone();
  const opened = await host.open('architectureDesign', input);
  const { auto_approve } = requestOf(opened);
  const result = await host.stoppable(() =>
    runDesign(
      { ...orderAlone(host, opened), auto_approve },
      {
        control: host.control,
        superior: host,
        work,
        report,
        assess: (technologies, context) => runRiskChild(technologies, context, escalations),
      },
    ),
  );
  return { ...result, ...(await finish(host, result)) };
}

/** Assesses the risks of a typed plan. */
export async function runRiskAlone(input: unknown): Promise<RiskResult & RunAnswer> {
  const { host, work, report } = openAlone();
  const opened = await host.open('riskAssessment', input);
  const { plan, technologies } = requestOf(opened);
  if (plan === null) throw ApplicationFailure.nonRetryable('The input gave no plan.');
  const place = orderAlone(host, opened);
  const { control } = host;
  const { account, budget } = openAccount(
    place.budget,
    { control, superior: host, limits: place.limits, wave: 0 },
    plannerChild,
  );
  const result = await host.stoppable(() =>
    runRisk(
      {
        place,
        plan,
        technologies,
        materials: [],
        recalled: noRecalledWork,
        budget: null,
        news: [],
      },
      { control, superior: host, work, report, budget },
    ),
  );
  const end = { ...result, findings: [], approved_by: null, budget: account?.carry() ?? null };
  return { ...result, ...(await finish(host, end)) };
}

function openAlone() {
  const host = new RootHost(null);
  registerRootHandlers(host);
  const escalations = createEscalationRouter(
    (reason) => host.refuse(reason),
    (escalation) => host.escalate(escalation),
  );
  const work: DesignWork = beginDesignWork();
  host.state.stages = work.talks;
  const report = async (progress: DesignProgress): Promise<void> => {
    showDesign(host, progress);
  };
  return { host, escalations, work, report };
}

function requestOf({ design }: OpenRunResult): NonNullable<OpenRunResult['design']> {
  if (design === undefined) throw ApplicationFailure.nonRetryable('The input set no design.');
  return design;
}

function orderAlone(host: RootHost, opened: OpenRunResult) {
  const { registry_ref, record_ref, agents, limits } = opened;
  return {
    run_id: host.runId,
    registry_ref,
    record_ref,
    agents,
    limits,
    budget: reserveForWave(host.state.budget, noUsage),
    amendments: [],
    news: [],
    research_max_age_days: requestOf(opened).research_max_age_days,
    designed_at: host.state.started_at,
  };
}

type LoneEnd = Pick<DesignResult, 'findings' | 'approved_by' | 'usage' | 'budget'> & {
  readonly status: DesignResult['status'] | RiskResult['status'];
};

async function finish(host: RootHost, end: LoneEnd): Promise<RunAnswer> {
  endDesign(host, end);
  const ended = await host.finish(runStatuses[end.status], new Map());
  const { answer, result_path, report_path } = ended;
  return { answer, result_path, report_path };
}

const runStatuses: Readonly<Record<LoneEnd['status'], RunStatus>> = {
  approved: 'completed',
  assessed: 'completed',
  finished: 'finished_unmet',
  stopped: 'stopped',
  abandoned: 'abandoned',
};
