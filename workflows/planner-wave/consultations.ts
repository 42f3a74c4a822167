import type { CriterionState } from '../../contracts/criterion.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { applyOutcomes, applyPlan, openCriteria } from '../../core/criteria/criteria.ts';
import { settleByAnswers } from '../../core/criteria/settle-by-answers.ts';
import { checkDecision } from '../../core/decision/check-decision.ts';
import { capFaults } from '../../core/text/list-names.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import type { PlanContext } from '../../core/plan/check-plan.ts';
import { readEnd } from '../../core/executor.ts';
import type { NewsFeed } from '../shared/news-feed.ts';
import type { Consultation } from './consult-planner.ts';
import type { Dispatched } from './dispatch-wave.ts';
import { createDetailLoader } from './load-details.ts';
import { reviewFacts } from './review-facts.ts';
import { knownAnswers, knownInputs, settleByNews } from './wave-context.ts';
import type { WaveContext } from './wave-context.ts';

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
    criteriaAfter(order, plan, dispatched, context.superior.news);
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
      ...(dispatched.merge_conflicts !== undefined && {
        merge_conflicts: dispatched.merge_conflicts,
      }),
      outcomes: dispatched.outcomes.map((outcome) => ({
        delegation_id: outcome.delegation_id,
        status: outcome.status,
        reason: outcome.reason,
        turns: outcome.turns,
        output_ref: outcome.output_ref,
        ...(outcome.files !== undefined && { files: outcome.files }),
        ...(outcome.replaces !== undefined && { replaces: outcome.replaces }),
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

/** Returns the criteria after the work of a wave. */
export function criteriaAfter(
  order: WaveOrder,
  plan: WavePlanOutline | null,
  { outcomes }: Dispatched,
  news: NewsFeed,
): readonly CriterionState[] {
  const planned = settleByAnswers(applyPlan(order.criteria, plan?.delegations ?? []), plan ?? {});
  return settleByNews(applyOutcomes(planned, outcomes), news);
}
