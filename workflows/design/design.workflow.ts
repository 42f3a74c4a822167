import {
  ApplicationFailure,
  getExternalWorkflowHandle,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  ArchitectureDesignArgs,
  DesignResult,
  LoneStageResult,
  RiskAssessmentInput,
  DesignProgress,
} from '../../contracts/design-run.ts';
import type { LoneAnswer, RunStatus } from '../../contracts/planner-run.ts';
import { createControl } from '../shared/control.ts';
import { designedSignal } from '../shared/messages.ts';
import { createParentSuperior, nameNextRequest } from '../shared/superior.ts';
import { answerStatus, beginDesignWork, noRecalledWork } from './design-context.ts';
import { runDesign, runLoneStage, endDesign, showDesign } from './run-design.ts';
import { runRiskChild } from './run-risk-child.ts';
import { renderDesignDetails } from '../../core/render/render-run-details.ts';
import { openChildBudget } from '../shared/budget.ts';
import { runRisk } from './assess-risks.ts';
import type { RiskOrder, RiskResult } from './run-risk-child.ts';
import { createEscalationRouter } from '../shared/child-relay.ts';
import { signalInOrder, signalQuietly } from '../shared/background.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import { chargeBefore, reserveForWave } from '../../core/budget/resolve-budget.ts';
import { plannerChild } from '../../core/budget/step-account.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { openAccount } from '../shared/account.ts';
import { registerRootHandlers } from '../shared/root-handlers.ts';
import { RootHost } from '../shared/root-host.ts';
import { recallAlone, recallBefore, toLoneAnswer } from '../shared/settle-run.ts';
import type { DesignWork } from './design-context.ts';

/**
 * Turns a goal into an approved plan (seed 003): interview, design, risk assessment, verification, approval.
 *
 * Started by a run with its order, or by hand with `{"goal":"…"}`; by hand also one stage alone, with `stage`. It never
 * continues as new: the questions, repairs and changes of a design have limits, and its texts are not in history.
 *
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function architectureDesign(
  args: ArchitectureDesignArgs,
): Promise<DesignResult | (LoneStageResult & LoneAnswer)> {
  const { parent } = workflowInfo();
  // Without an order it is alone, also below a workflow of the user's.
  if (parent === undefined || !('order' in args)) return runDesignAlone(args);
  const { order } = args;
  const control = createControl({ paused: null, parked: null });
  const superior = createParentSuperior(parent.workflowId, order.run_id, control, order.news);
  const escalations = createEscalationRouter((reason) => superior.refuse(reason));
  const run = getExternalWorkflowHandle(parent.workflowId);
  const work = beginDesignWork();
  answerStatus(work);
  const signalNext = signalInOrder();
  // When it is stopped meanwhile, the design ends as stopped.
  work.usage = (await stopWhenCancelled(() => recallBefore(order, superior))) ?? noUsage;
  const budget = chargeBefore(order.budget, work.usage);
  return runDesign(
    { ...order, budget },
    {
      control,
      superior,
      work,
      report(progress) {
        setCurrentDetails(renderDesignDetails(work));
        return signalNext(() => run.signal(designedSignal, progress));
      },
      assess: (technologies, context) => runRiskChild(technologies, context, escalations),
    },
  );
}

/** Name of this child's share in the budget of its design. */
const budgetName = 'risk';

/**
 * Assesses the risks of a plan (seed 003, "Risk Assessment Coordinator Agent", phase 1): research, consultation, proofs of
 * concept, practices.
 *
 * Started by a design with its order, or by hand with `{"plan":{…}}`.
 *
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function riskAssessment(
  args: { readonly order: RiskOrder } | RiskAssessmentInput,
): Promise<RiskResult | (RiskResult & LoneAnswer)> {
  const { parent } = workflowInfo();
  if (parent === undefined || !('order' in args)) return runRiskAlone(args);
  const { order } = args;
  const control = createControl({ paused: null, parked: null });
  const { workflowId } = parent;
  const superior = createParentSuperior(workflowId, order.place.run_id, control, order.news);
  const budget = openChildBudget(workflowId, budgetName, order.budget);
  const design = getExternalWorkflowHandle(workflowId);
  const work = beginDesignWork();
  answerStatus(work);
  return runRisk(order, {
    control,
    superior: nameNextRequest(superior, budget),
    work,
    budget,
    report(progress) {
      setCurrentDetails(renderDesignDetails(work));
      return signalQuietly(() => design.signal(designedSignal, progress));
    },
  });
}

/** Makes a design, or one stage of it, that was started by hand: it has its own inbox, record and result. */
async function runDesignAlone(input: unknown): Promise<LoneStageResult & LoneAnswer> {
  const { host, escalations, work, report } = openAlone();
  const opened = await host.open('architectureDesign', input);
  await recallAlone(host);
  const { auto_approve, stage, plan } = requestOf(opened);
  const order = { ...orderAlone(host, opened), auto_approve };
  const around = { control: host.control, superior: host, work, report };
  const result = await host.stoppable((): Promise<LoneStageResult> =>
    stage === undefined
      ? runDesign(order, {
          ...around,
          assess: (technologies, context) => runRiskChild(technologies, context, escalations),
        })
      : runLoneStage(order, { stage, plan }, around),
  );
  return { ...result, ...(await finish(host, result)) };
}

/** Assesses the risks of a typed plan. */
async function runRiskAlone(input: unknown): Promise<RiskResult & LoneAnswer> {
  const { host, work, report } = openAlone();
  const opened = await host.open('riskAssessment', input);
  await recallAlone(host);
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
    budget: reserveForWave(host.state.budget, host.state.usage),
    amendments: [],
    news: [],
    research_max_age_days: requestOf(opened).research_max_age_days,
    designed_at: host.state.started_at,
  };
}

type LoneEnd = Pick<DesignResult, 'findings' | 'approved_by' | 'usage' | 'budget'> & {
  readonly status: LoneStageResult['status'] | RiskResult['status'];
};

async function finish(host: RootHost, end: LoneEnd): Promise<LoneAnswer> {
  endDesign(host, end);
  return toLoneAnswer(await host.finish(runStatuses[end.status], new Map()));
}

const runStatuses: Readonly<Record<LoneEnd['status'], RunStatus>> = {
  approved: 'completed',
  interviewed: 'completed',
  assessed: 'completed',
  verified: 'completed',
  finished: 'finished_unmet',
  stopped: 'stopped',
  abandoned: 'abandoned',
};
