import type { WaveOrder } from '../../contracts/planner-wave.ts';
import { openCriteria } from '../../core/criteria/criteria.ts';
import { checkDecision } from '../../core/decision/check-decision.ts';
import { capFaults } from '../../core/text/list-names.ts';
import { settleWave } from '../../core/run/settle-wave.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import type { PlanContext } from '../../core/plan/check-plan.ts';
import { readEnd } from '../../core/executor.ts';
import type { Consultation } from './consult-planner.ts';
import type { Dispatched } from './dispatch-wave.ts';
import { knownAnswers, knownInputs, settleByNews } from './wave-context.ts';
import type { WaveContext } from './wave-context.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { dropReplacedOutcomes } from '../../core/schedule/dependencies.ts';
import { findMergeConflicts, reviewDecision } from '../shared/activities.ts';
import { createDetailLoader } from '../execution/call-tools.ts';
import { callUntilDone } from '../shared/failures.ts';
import type { WaveDecisionOutline, WavePlanOutline } from '../../contracts/wave-plan.ts';
import type { CriterionState } from '../../contracts/criterion.ts';
import { definedOnly } from '../../core/json.ts';

/** Consults the planner on the plan of a wave. */
export function planning(order: WaveOrder, { superior }: WaveContext): Consultation {
  const { wave, waves_left, record_ref, registry_ref, amendments, limits } = order;
  const planContext = (): PlanContext => ({
    ...order,
    known_inputs: knownInputs(order, superior.news),
    criteria: settleByNews(order.criteria, superior.news),
    answered_questions: knownAnswers(order, superior.news),
  });
  return {
    stage: 'plan',
    purpose: `plan wave ${wave}`,
    prompt: () => ({
      kind: 'plan',
      wave,
      waves_left,
      record_ref,
      registry_ref,
      open_criteria: openCriteria(planContext().criteria),
      known_inputs: planContext().known_inputs,
      max_delegations: limits.max_delegations,
      triad_models: order.triads ? order.models : null,
      teams: order.teams !== null,
      amendments,
    }),
    check: (outline) =>
      outline.shape === 'wave_plan' ? checkPlan(outline.plan, planContext()) : [],
    questions: (outline) => (outline.shape === 'wave_plan' ? outline.plan.user_questions : []),
    // Delegations and the decision follow; without them, nothing does.
    isLast: (outline) => outline.shape === 'wave_plan' && outline.plan.delegations.length === 0,
  };
}

/** Consults the planner on what a wave has come to. */
export function deciding(
  order: WaveOrder,
  plan: WavePlanOutline,
  dispatched: Dispatched,
  context: WaveContext,
): Consultation {
  const { wave, record_ref, amendments } = order;
  const criteria = (): readonly CriterionState[] =>
    criteriaAfter(order, { plan, dispatched, decision: null }, context);
  const outputs = dispatched.outcomes.flatMap(({ delegation_id, output_ref, files }) =>
    output_ref === null
      ? []
      : [{ delegation_id, output_ref, ...(files !== undefined && { files }) }],
  );
  return {
    stage: 'decision',
    purpose: `decide on wave ${wave}`,
    prompt: () => ({
      kind: 'decision',
      wave,
      record_ref,
      plan_ref: plan.plan_ref,
      ...definedOnly({
        merge_conflicts: dispatched.merge_conflicts,
        task_conflicts: dispatched.task_conflicts,
      }),
      outcomes: dispatched.outcomes.map((outcome) => ({
        delegation_id: outcome.delegation_id,
        status: outcome.status,
        reason: outcome.reason,
        turns: outcome.turns,
        output_ref: outcome.output_ref,
        ...definedOnly({ files: outcome.files, replaces: outcome.replaces }),
        criteria_met: outcome.criteria_met,
        criteria_unmet: outcome.criteria_unmet,
        executor_end: readEnd(outcome.executor),
      })),
      open_criteria: openCriteria(criteria()),
      amendments,
    }),
    check: async (outline) =>
      outline.shape === 'wave_decision'
        ? capFaults([
            ...checkDecision(outline.decision, {
              criteria: criteria(),
              claimed: dispatched.outcomes.flatMap(({ criteria_met }) => criteria_met),
              answered_questions: knownAnswers(order, context.superior.news),
            }),
            ...(await reviewFacts(order, dispatched, outline.decision, context)),
          ])
        : [],
    tools: createDetailLoader(order, outputs),
    questions: (outline) =>
      outline.shape === 'wave_decision' ? outline.decision.user_questions : [],
    isLast: (outline) =>
      outline.shape === 'wave_decision' && outline.decision.planner_decision.io_status === 'OK',
  };
}

/** Parts of a wave that change criteria. */
interface WaveParts {
  readonly plan: WavePlanOutline | null;
  readonly dispatched: Pick<Dispatched, 'outcomes'>;
  /** Null before and without it. */
  readonly decision: WaveDecisionOutline | null;
}

/** Returns the criteria after the work of a wave, or after its decision. */
export function criteriaAfter(
  { criteria }: Pick<WaveOrder, 'criteria'>,
  { plan, dispatched: { outcomes }, decision }: WaveParts,
  { superior, work }: Pick<WaveContext, 'superior' | 'work'>,
): readonly CriterionState[] {
  const news = superior.news.all();
  const heard = { plan: work.newsPlanned, decision: work.newsConsidered };
  return settleWave(criteria, { plan, outcomes, decision, news, heard });
}

/** Pool, outputs and the decision's text are in the store, so an activity holds them against each other. */
async function reviewFacts(
  { record_ref, wave }: WaveOrder,
  { outcomes, merge_conflicts }: Dispatched,
  { decision_ref }: WaveDecisionOutline,
  { superior }: WaveContext,
): Promise<readonly OutputFault[]> {
  const review = {
    record_ref,
    wave,
    outcomes: dropReplacedOutcomes(outcomes).map((outcome) => ({
      delegation_id: outcome.delegation_id,
      status: outcome.status,
      turns: outcome.turns,
      output_ref: outcome.output_ref,
      executor_end: readEnd(outcome.executor),
    })),
    ...(merge_conflicts !== undefined && { merge_conflicts }),
    decision_ref,
  };
  const { faults } = await callUntilDone(superior, reviewDecision, 'hold against the pool', review);
  return faults;
}

/**
 * Adds what the delegations have changed, and the changes of the same lines that the wave's delegations, or tasks of one team,
 * made, as far as they work in copies of a folder.
 */
export async function addMergeConflicts(
  { run_id, record_ref, changes }: WaveOrder,
  dispatched: Dispatched,
  { superior }: WaveContext,
): Promise<Dispatched> {
  const completed = dispatched.outcomes.flatMap(({ status, delegation_id }) =>
    status === 'completed' ? [delegation_id] : [],
  );
  if (changes === undefined || changes === 'direct' || completed.length === 0) return dispatched;
  const { conflicts, tasks, sizes } = await callUntilDone(
    superior,
    findMergeConflicts,
    'merge the changes',
    { run_id, record_ref, completed },
  );
  return {
    ...dispatched,
    ...(conflicts.length > 0 && { merge_conflicts: conflicts }),
    ...definedOnly({ task_conflicts: tasks }),
    ...(sizes.length > 0 && { changes: sizes }),
  };
}
