import { condition } from '@temporalio/workflow';
import type { Taint } from '../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { decisionTaskId } from '../../core/ids.ts';
import { applyRuleOfTwo } from '../../core/plan/rule-of-two.ts';
import { orderDecision, readDecision } from '../shared/activities.ts';
import type { Decided } from './put-questions.ts';
import { usageUntilNow } from './wave-context.ts';
import type { WaveSite } from './wave-site.ts';
import { callUntilDone } from '../shared/failures.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { progressOf } from '../shared/messages.ts';

/** A wave that takes a further task while it works. */
export interface OpenWave extends WaveSite {
  /** With the tasks that were added since it began. */
  plan: WavePlanOutline;
  readonly byId: Map<string, DelegationOutline>;
  /** Number of tasks by which the solution architect decides. */
  decisions: number;
  /** True while the task of one is being added. */
  isAdding: boolean;
  /** Properties of all results after it, once a task was added. Absent when they have none. */
  taint: Taint | undefined;
}

/**
 * Has the solution architect of the plan decide questions, by a task of the same wave with notes and a verification of its
 * own (seed 003, "Resolution Process"). The asker waits for it.
 *
 * @returns null when the wave was stopped meanwhile.
 */
export async function letArchitectDecide(
  d: OpenWave,
  asker: string,
  questions: readonly AskedQuestion[],
  add: (jobs: readonly DelegationOutline[]) => void,
): Promise<Decided | null> {
  const { superior } = d.context;
  d.decisions += 1;
  const delegation_id = decisionTaskId(d.order.wave, d.decisions, asker);
  // The plan of each decision contains the tasks of those before it.
  while (d.isAdding) await condition(() => !d.isAdding);
  d.isAdding = true;
  const guard = await addDecision(d, { delegation_id, asker, questions }, add).finally(() => {
    d.isAdding = false;
  });
  if (guard !== null) return { delegation_id, answers: [], reason: guard };
  await condition(() => d.outcomes.has(delegation_id));
  const outcome = d.outcomes.get(delegation_id);
  if (outcome === undefined || outcome.status === 'stopped') return null;
  const { output_ref, verification, reason } = outcome;
  if (output_ref === null || verification?.status !== 'verified') {
    return { delegation_id, answers: [], reason: reason || 'its decision was not verified' };
  }
  const { answers } = await callUntilDone(superior, readDecision, `answers of ${delegation_id}`, {
    output_ref,
    questions,
  });
  return { delegation_id, answers, reason: 'its decision does not fit the question' };
}

/** Plans the task, tells the run and adds it. @returns as `addTask`. */
async function addDecision(
  d: OpenWave,
  decision: {
    readonly delegation_id: string;
    readonly asker: string;
    readonly questions: readonly AskedQuestion[];
  },
  add: (jobs: readonly DelegationOutline[]) => void,
): Promise<string | null> {
  const { architect } = d.order;
  if (architect === undefined) throw new Error('There is no architect to decide.');
  const { delegation_id, asker } = decision;
  const input = { architect, wave_plan_ref: d.plan.plan_ref, ...decision };
  const step = `decision for ${asker}`;
  const ordered = await callUntilDone(d.context.superior, orderDecision, step, input);
  const guard = addTask(d, ordered, delegation_id, asker);
  if (guard !== null) return guard;
  await d.context.onPlanned(progressOf(d.order.wave, d.plan, usageUntilNow(d.context.work)));
  add(d.plan.delegations.filter((one) => one.delegation_id === delegation_id));
  return null;
}

/**
 * Adds the task to the wave. What the plan says of the other tasks stays as the rules have left it.
 *
 * @returns why the asker must not get the answer; null when it may: its calls are approved as its own plan says.
 */
function addTask(
  d: OpenWave,
  ordered: WavePlanOutline,
  delegation_id: string,
  asker: string,
): string | null {
  const delegations = ordered.delegations.map((one) =>
    one.delegation_id === asker ? { ...one, depends_on: [...one.depends_on, delegation_id] } : one,
  );
  const { plan, taint } = applyRuleOfTwo({ ...ordered, delegations }, d.order);
  const find = (id: string): DelegationOutline | undefined =>
    plan.delegations.find((one) => one.delegation_id === id);
  const guard = find(asker)?.rule_of_two;
  if (guard !== undefined && d.byId.get(asker)?.rule_of_two === undefined)
    return `with the answer it ${guard}`;
  const added = find(delegation_id);
  if (added === undefined) throw new Error(`The plan has no task ${delegation_id}.`);
  d.plan = { ...d.plan, plan_ref: plan.plan_ref, delegations: [...d.plan.delegations, added] };
  d.byId.set(delegation_id, added);
  d.taint = taint;
  return null;
}
