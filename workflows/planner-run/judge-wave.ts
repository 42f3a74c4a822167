import type { Adaptation, AskedLoop } from '../../contracts/adaptation.ts';
import type { FindWorkResult } from '../../contracts/design-activities.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import { chargeBefore, reserveForWave } from '../../core/budget/resolve-budget.ts';
import { plannerChild } from '../../core/budget/step-account.ts';
import { isDone, reopenCriteria, waiveCriteria } from '../../core/criteria/criteria.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { AdaptedPlan, JudgedWork } from '../design/adapt-plan.ts';
import { judgeWork } from '../design/judge-work.ts';
import type { Judgement } from '../design/judge-work.ts';
import { beginDesignWork, designUsage, statusOfEnd } from '../design/design-context.ts';
import type { DesignContext, DesignEnded } from '../design/design-context.ts';
import { endedBy, openAccount } from '../shared/account.ts';
import { findWork } from '../shared/activities.ts';
import type { RootHost } from '../shared/root-host.ts';
import { shareBudget } from '../shared/share-budget.ts';
import { takePlan } from './run-design-first.ts';
import { currentPlan } from '../design/approve-plan.ts';
import { callUntilDone } from '../shared/failures.ts';
import { recallOwn } from '../shared/settle-run.ts';

/**
 * Judges what a wave of a designed run has shown, before the next one begins: its proofs of concept, answers that contradict
 * what others stated, and tasks that asked the same again and again. The plan is changed where that is called for.
 *
 * @returns the status of a run that ends here; null when it goes on.
 */
export async function judgeWave(host: RootHost, wave: number): Promise<RunStatus | null> {
  const { state } = host;
  const { plan_approved, loops } = state;
  state.loops = [];
  const { opened } = state;
  if (plan_approved === null || opened === null) return null;
  // With nothing left to do, no change of the plan would have an effect.
  if (isDone(state.criteria)) return null;
  if (!hasToJudge(host, plan_approved, loops)) return null;
  const record_ref = await host.record.flush();
  const found = await callUntilDone(host, findWork, `find what wave ${wave} has shown`, {
    plan_ref: plan_approved.plan_ref,
    record_ref,
    wave,
    looping: loops.map(({ delegation_id }) => delegation_id),
    ...(state.again.length > 0 && { again: state.again }),
  });
  const works = listWork(found, loops);
  if (works.length === 0) return null;
  const missed = await recallOwn(host);
  const { account, budget } = openAccount(
    chargeBefore(reserveForWave(state.budget, state.usage), missed),
    { control: host.control, superior: host, limits: opened.limits, wave },
    plannerChild,
  );
  const work = beginDesignWork();
  state.stages = work.talks;
  work.usage = missed;
  work.plan = plan_approved;
  work.materials = found.materials;
  // Numbers of earlier questions of this workflow are not used again.
  work.escalations = host.inbox.carry().next_question;
  const context: DesignContext = {
    place: {
      run_id: host.runId,
      record_ref,
      registry_ref: opened.registry_ref,
      limits: opened.limits,
      amendments: state.amendments,
      research_max_age_days: 0,
      designed_at: state.started_at,
    },
    control: host.control,
    superior: host,
    budget,
    sharing: shareBudget(budget),
    work,
    // Recorded with its judgement.
    report: async () => undefined,
  };
  // The views count what the judgement has used so far.
  state.judging = () => designUsage(work);
  const ended = await judgeAll(host, wave, works, context);
  state.judging = null;
  state.budget = account?.carry() ?? null;
  host.refresh();
  if (ended !== 'finished') return ended;
  if (endedBy(account) === 'abandoned') return 'abandoned';
  return isDone(state.criteria) ? 'completed' : 'finished_unmet';
}

function hasToJudge(
  { inbox }: RootHost,
  { proofs_of_concept }: PlanOutline,
  loops: readonly AskedLoop[],
): boolean {
  if (proofs_of_concept > 0 || loops.length > 0) return true;
  // Answers to tasks are held against the pool.
  return inbox.recentAnswers().some(({ delegation_id }) => delegation_id !== null);
}

function listWork(
  { proofs, looping, contradicted, verified }: FindWorkResult,
  loops: readonly AskedLoop[],
): JudgedWork[] {
  const asked = looping.flatMap((worked): JudgedWork[] => {
    const [first, ...more] = loops.filter((one) => one.delegation_id === worked.delegation_id);
    if (first === undefined) return [];
    return [{ worked, loop: joinLoops(first, more), verified }];
  });
  const shown = [...proofs, ...contradicted].map((worked): JudgedWork => ({
    worked,
    loop: null,
    verified,
  }));
  return [...shown, ...asked];
}

/** Joins the refused questions of one task. */
function joinLoops(first: AskedLoop, more: readonly AskedLoop[]): AskedLoop {
  if (more.length === 0) return first;
  const cycle = [first, ...more].find((one) => one.cycle !== undefined)?.cycle;
  const again = more.map(({ question }) => question);
  return { ...first, again, ...(cycle !== undefined && { cycle }) };
}

/** @returns how the run ends; null when all was judged. */
async function judgeAll(
  host: RootHost,
  wave: number,
  works: readonly JudgedWork[],
  context: DesignContext,
): Promise<DesignEnded['status'] | null> {
  const autoApprove = host.state.opened?.design?.auto_approve ?? false;
  const known = context.work.materials.length;
  const touched = new Set<string>();
  try {
    for (const work of works) {
      if (isMoot(work, touched)) continue;
      // A later judgement is about the plan as the earlier ones left it.
      // oxlint-disable-next-line no-await-in-loop
      const judgement = await judgeWork(work, autoApprove, context);
      const { changed_tasks = [], removed_tasks = [] } = judgement.change?.rating ?? {};
      for (const task_id of [...changed_tasks, ...removed_tasks]) touched.add(task_id);
      // oxlint-disable-next-line no-await-in-loop
      await takeJudgement(host, wave, { ...judgement, known }, context);
    }
    return null;
  } catch (error) {
    const status = statusOfEnd(error);
    recordUse(host, context, known, null);
    return status;
  }
}

/**
 * Returns true for work on a task that an earlier judgement of the round has removed, or changed so that it is done anew. A
 * contradiction holds all the same: others rely on what was stated.
 *
 * @param touched task_ids.
 */
function isMoot({ worked }: JudgedWork, touched: ReadonlySet<string>): boolean {
  return worked.conflicts === undefined && touched.has(worked.task_id);
}

/** Takes over a judgement, with the new version of the plan if there is one. */
async function takeJudgement(
  host: RootHost,
  wave: number,
  { cause, change, known }: Judgement & { readonly known: number },
  context: DesignContext,
): Promise<void> {
  const { state } = host;
  const plan = change === null ? null : currentPlan(context);
  recordUse(host, context, known, { wave, cause, ...describeChange(plan, change) });
  if (plan === null || change === null) return;
  const { removed_evidence, reworded_evidence } = change.rating;
  if (removed_evidence.length > 0 && change.approved_by !== null) {
    const question_id = change.approved_by;
    state.waived = [...state.waived, ...removed_evidence];
    state.criteria = waiveCriteria(state.criteria, removed_evidence, question_id);
    host.record.add({ type: 'criteria_waived', criterion_ids: removed_evidence, question_id });
  }
  // What was met under the old words says nothing about the new ones.
  state.criteria = reopenCriteria(state.criteria, reworded_evidence);
  await takePlan(host, plan);
}

/** @param plan The new version; null when the plan stays as it was. */
function describeChange(
  plan: PlanOutline | null,
  change: AdaptedPlan | null,
): Omit<Adaptation, 'wave' | 'cause'> {
  if (plan === null || change === null) {
    return { plan_ref: null, changed_tasks: [], approved_by: null };
  }
  const { changed_tasks, reworded_evidence } = change.rating;
  return {
    plan_ref: plan.plan_ref,
    changed_tasks,
    ...(reworded_evidence.length > 0 && { reworded_evidence }),
    approved_by: change.approved_by,
  };
}

/** Records what the judgement used and made. @param adaptation Null when it did not come to an end. */
function recordUse(
  host: RootHost,
  { work }: DesignContext,
  known: number,
  adaptation: Adaptation | null,
): void {
  const { state, record } = host;
  const { usage, planRefs, findings } = work;
  const materials = work.materials.slice(known);
  state.usage = addUsage(state.usage, usage);
  // An end without a judgement leaves the plan as it was.
  const plan_refs = (adaptation?.plan_ref ?? null) === null ? [] : planRefs;
  const approved_by = adaptation?.approved_by ?? null;
  record.add({
    type: 'designed',
    progress: { status: 'approved', materials, plan_refs, findings, approved_by, usage },
    adaptation,
  });
  work.usage = noUsage;
  work.materials = work.materials.slice(0, known);
  work.planRefs = [];
  work.findings = [];
}
