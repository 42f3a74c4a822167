import { isCancellation, startChild, workflowInfo } from '@temporalio/workflow';
import type { Allowance } from '../../contracts/budget.ts';
import type {
  Cell,
  CellResult,
  Grade,
  GradedCell,
  OpenCell,
  OpenedEvaluation,
  OpenRubric,
} from '../../contracts/evaluation.ts';
import { graderAgentId } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import { openNode } from '../../core/budget/budget-node.ts';
import { mapAllowance, spendingOf } from '../../core/budget/spending.ts';
import { partsOf, runOf, budgetOf } from '../../core/evaluation/matrix.ts';
import { isPassed } from '../../core/evaluation/summary.ts';
import { cellRunId } from '../../core/ids.ts';
import { defaultLimits, engineLimits } from '../../core/limits.ts';
import { turnSummary } from '../../core/render/labels.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { addUsage, lostUsage, noUsage } from '../../core/usage/add-usage.ts';
import { gradeCell, keepCell, recallRunSpent } from '../shared/activities.ts';
import { createBudget, unlimitedBudget } from '../shared/budget.ts';
import type { Budget } from '../shared/budget.ts';
import { nowMs } from '../shared/clock.ts';
import { createControl } from '../shared/control.ts';
import { converse, openConversation } from '../shared/conversation.ts';
import { nobodyAbove } from '../shared/superior.ts';
import { storeFaultOf, type CellOrders } from './cell-orders.ts';
import { childOptions } from '../shared/visibility.ts';
import { readFailure } from '../shared/failures.ts';

const reasonCharsMax = 300;

/** @param stopReason Why the evaluation was stopped; null when its budget left nothing for the cell. */
export function notStarted(
  opened: OpenedEvaluation,
  open: OpenCell,
  stopReason: string | null,
): CellResult {
  return {
    ...placeCell(opened, open),
    ...(stopReason === null
      ? { status: 'no_budget', reason: 'The budget of the evaluation was spent.' }
      : { status: 'not_started', reason: describeStop(stopReason) }),
    passed: false,
    grades: [],
    usage: noUsage,
    seconds: 0,
    cached: false,
  };
}

function describeStop(reason: string): string {
  const stopped = 'The evaluation was stopped';
  return cutText(reason === '' ? `${stopped}.` : `${stopped}: ${reason}`, reasonCharsMax);
}

/** Carries out a cell and judges its answer. A stopped evaluation has no model judge it. @param share What it may spend. */
export async function runCell(
  opened: OpenedEvaluation,
  open: OpenCell,
  { share, orders }: { readonly share: Allowance | 'none'; readonly orders: CellOrders },
): Promise<CellResult> {
  const began = nowMs();
  const ended = await runGoal(opened, open, { share, orders });
  const seconds = Math.round((nowMs() - began) / 1_000);
  const { status, reason, grades: known, answer_ref } = await judge(opened, open, ended, orders);
  const rubrics = opened.rubrics.filter(({ goal }) => goal === open.goal);
  const budget = budgetLeft(share, ended.usage);
  const grades = [...known];
  let usage = ended.usage;
  for (const rubric of rubrics) {
    if (answer_ref === null) break;
    const stopReason = orders.stopReason();
    if (stopReason !== null) {
      grades.push(notGradedBy(rubric.grader, describeStop(stopReason)));
      continue;
    }
    // They share what is left of the budget.
    // oxlint-disable-next-line no-await-in-loop
    const graded = await gradeByModel(opened, open, { rubric, answer_ref, budget });
    grades.push(graded.grade);
    usage = addUsage(usage, graded.usage);
  }
  const result: CellResult = {
    ...placeCell(opened, open),
    status,
    reason,
    passed: isPassed({ status, grades }),
    grades,
    usage,
    seconds,
    cached: false,
  };
  const { goal } = partsOf(opened.input, open);
  // The folder may be another one the next time.
  const isKept = goal.workspace_dir === undefined && isWorthKeeping(result, share);
  const { address } = open;
  const keep = (): Promise<void> => keepCell({ address, result, input_ref: opened.input_ref });
  if (!isKept) return result;
  try {
    await keep();
  } catch (error) {
    // The evaluation has the result, also of a cell that is not kept.
    await orders.afterPark(storeFaultOf(error), { work: keep, whenOver: () => {} });
  }
  return result;
}

/** Returns false for what may end otherwise the next time: it failed, was stopped, or did without a part of its money. */
function isWorthKeeping({ status, grades }: CellResult, share: Allowance | 'none'): boolean {
  if (grades.some(({ result }) => result === 'not_run')) return false;
  if (status === 'completed') return true;
  return share === 'none' && (status === 'finished_unmet' || status === 'waits_for_user');
}

/** Returns a cell with the id of its run. */
export function placeCell(
  opened: OpenedEvaluation,
  open: OpenCell,
): Cell & Pick<CellResult, 'run_id'> {
  return { ...cellOf(open), run_id: runIdOf(opened, open) };
}

function cellOf({ cell, goal, setting, repetition }: OpenCell): Cell {
  return { cell, goal, setting, repetition };
}

function runIdOf({ stamp }: OpenedEvaluation, { cell }: OpenCell): string {
  return cellRunId(workflowInfo().workflowId, stamp, cell);
}

/** Returns what models may still spend on grading. Beyond it they are not called. */
function budgetLeft(share: Allowance | 'none', used: Usage): Budget {
  if (share === 'none') return unlimitedBudget;
  const spent = spendingOf(used);
  const left = mapAllowance(share, (amount, measure) => Math.max(0, amount - spent[measure]));
  const node = openNode({ ...left, until: null });
  if (node === null) return unlimitedBudget;
  const denied = { reservation: null, reason: 'the budget of the evaluation is spent' };
  return createBudget(node, { request: async () => denied });
}

interface EndedRun {
  readonly usage: Usage;
  /** Reason why it has no result; null when it ended by itself. */
  readonly failure: string | null;
}

async function runGoal(
  opened: OpenedEvaluation,
  open: OpenCell,
  { share, orders }: Parameters<typeof runCell>[2],
): Promise<EndedRun> {
  const { input, rubrics } = opened;
  const parts = partsOf(input, open);
  const isGraded = rubrics.some(({ goal }) => goal === open.goal);
  const run = runOf(parts, budgetOf(share, parts.setting.budget, isGraded));
  const workflowId = runIdOf(opened, open);
  const since = nowMs();
  try {
    const child = await startChild<(given: object) => Promise<{ readonly usage: Usage }>>(
      run.workflow_type,
      {
        workflowId,
        args: [run.input],
        ...childOptions(workflowId, `${open.goal} · ${open.setting} · ${open.repetition}`),
      },
    );
    const { usage } = await orders.untilEnded(child);
    return { usage, failure: null };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const failure = cutText(readFailure(error).message, reasonCharsMax);
    const work = (): Promise<{ readonly missed: Usage }> =>
      recallRunSpent({ place: workflowId, since, known: noUsage });
    try {
      return { usage: (await work()).missed, failure };
    } catch (fault) {
      const again = { work, whenOver: () => ({ missed: lostUsage(null) }) };
      return { usage: (await orders.afterPark(storeFaultOf(fault), again)).missed, failure };
    }
  }
}

async function judge(
  opened: OpenedEvaluation,
  open: OpenCell,
  { failure }: EndedRun,
  orders: CellOrders,
): Promise<GradedCell> {
  if (failure !== null) return failedCell(failure);
  const input = { input_ref: opened.input_ref, cell: cellOf(open), run_id: runIdOf(opened, open) };
  const summary = `grade cell ${open.cell}`;
  const work = (): Promise<GradedCell> => gradeCell.executeWithOptions({ summary }, [input]);
  try {
    return await work();
  } catch (error) {
    const whenOver = (why: string): GradedCell =>
      failedCell(`Its answer could not be judged: ${why}`);
    return orders.afterPark(storeFaultOf(error), { work, whenOver });
  }
}

function failedCell(why: string): GradedCell {
  const reason = cutText(why, reasonCharsMax);
  return { status: 'failed', reason, grades: [], answer_ref: null };
}

interface ModelGrading {
  readonly rubric: OpenRubric;
  readonly answer_ref: Ref;
  readonly budget: Budget;
}

/** Has a model judge an answer. It sees goal, rubric and answer. */
async function gradeByModel(
  { registry_ref }: OpenedEvaluation,
  { cell }: OpenCell,
  { rubric: { grader, rubric_ref, pass_at, model }, answer_ref, budget }: ModelGrading,
): Promise<{ readonly grade: Grade; readonly usage: Usage }> {
  const conversation = openConversation(
    { kind: 'grading', rubric_ref, answer_ref },
    { ...defaultLimits, attempts_max: engineLimits.planAttemptsMax },
  );
  const end = await converse(conversation, {
    run_id: workflowInfo().workflowId,
    agent_id: graderAgentId,
    registry_ref,
    stage: 'grading',
    label: (calls) => turnSummary(graderAgentId, `cell-${cell}`, calls),
    control: createControl({ paused: null, parked: null }),
    superior: nobodyAbove(notGraded),
    budget,
    ...(model !== undefined && { offer: { model } }),
    check: () => [],
  }).catch((error: unknown) => {
    if (isCancellation(error)) throw error;
    return { type: 'failed' as const, reason: readFailure(error).message };
  });
  const { usage } = conversation;
  if (end.type === 'output' && end.outline.shape === 'grading') {
    const { score, reason } = end.outline;
    const result = score >= pass_at ? 'passed' : 'failed';
    return { grade: { grader, result, score, reason }, usage };
  }
  const why = 'reason' in end ? end.reason : 'the model gave no judgement';
  return { grade: notGradedBy(grader, `It could not be judged: ${why}`), usage };
}

function notGradedBy(grader: string, why: string): Grade {
  return { grader, result: 'not_run', score: null, reason: cutText(why, reasonCharsMax) };
}

function notGraded(reason: string): never {
  throw new Error(reason);
}
