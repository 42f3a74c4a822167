/**
 * Checks a wave's plan beyond its shape (seed 004 §3, §10).
 *
 * Invariants:
 *   P1. A plan without delegations asks the user a question, and needs_user_input says so; or no criterion is open.
 *   P2. Executors are agents of the registry, and never the planner.
 *   P3. A delegation_id is a slug and new in the whole run.
 *   P4. Dependencies are other delegations of the plan, without a cycle; a cycle is shown A→B→A.
 *   P5. Every delegation has criteria, each once.
 *   P6. The plan keeps max_delegations.
 *   P7. Each provided input is known; each required one is known, or produced by a dependency.
 *   P8. A name is produced by only one delegation.
 *   P9. While criteria are open that no answer of the user settles, the plan covers at least one of them.
 *   P10. The same agent is not sent with the same task, inputs and criteria more than `sameFingerprintMax` times,
 *        unless it does a stale delegation again.
 *   P11. All faults are reported at once, each with path, reason and "Try: …".
 *   P12. Only stale delegations are redone, each once in a plan.
 *   P13. A result is replaced once, by a delegation that comes after it, and no other delegation of the plan builds on
 *        it.
 */
import type { CriterionState } from '../../contracts/criterion.ts';
import type { RunLimits } from '../../contracts/limits.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { isDone, openCriteria } from '../criteria/criteria.ts';
import { checkByAnswers, settleByAnswers } from '../criteria/settle-by-answers.ts';
import { capFaults, listNames } from '../text/list-names.ts';
import { checkUserQuestions } from '../questions/check-asked-questions.ts';
import { checkDelegations, checkReplaced } from './check-delegations.ts';
import { checkDependencies, checkInputs } from './check-inputs.ts';
import { checkExecutors } from './check-executors.ts';
import type { ExecutorContext } from './check-executors.ts';
import { checkRedone, checkRepetition } from './check-repetition.ts';

/** Facts against which a plan is checked. */
export interface PlanContext extends ExecutorContext {
  readonly criteria: readonly CriterionState[];
  readonly known_inputs: readonly string[];
  /** Ids of earlier waves. */
  readonly delegation_ids: readonly string[];
  /** Number of dispatches of each fingerprint. */
  readonly fingerprints: Readonly<Record<string, number>>;
  /** delegation_ids that may be redone. */
  readonly stale: readonly string[];
  /** All answers given so far, by anyone. */
  readonly answered_questions: readonly KnownAnswer[];
  readonly limits: RunLimits;
}

/** @returns every fault at once; empty when the plan is valid. */
export function checkPlan(plan: WavePlanOutline, context: PlanContext): OutputFault[] {
  return capFaults([
    ...checkSize(plan, context),
    ...checkUserQuestions(plan),
    ...checkDelegations(plan.delegations, context),
    ...checkExecutors(plan.delegations, context),
    ...checkDependencies(plan.delegations, context.delegation_ids),
    ...checkInputs(plan.delegations, context.known_inputs),
    ...checkByAnswers(plan, { ...context, claimed: [] }),
    ...checkProgress(plan, settleByAnswers(context.criteria, plan)),
    ...checkReplaced(plan.delegations, listResults(context)),
    ...checkRedone(plan.delegations, context.stale),
    ...checkRepetition(plan.delegations, context.fingerprints, context.stale),
  ]);
}

/** Lists earlier delegations whose results count. A failed or replaced result is no known input. */
function listResults({ delegation_ids, known_inputs }: PlanContext): string[] {
  const known = new Set(known_inputs);
  return delegation_ids.filter((id) => known.has(id));
}

function checkSize(plan: WavePlanOutline, context: PlanContext): OutputFault[] {
  const count = plan.delegations.length;
  const max = context.limits.max_delegations;
  const isDoneAlready = isDone(settleByAnswers(context.criteria, plan));
  if (count === 0 && !plan.needs_user_input && !isDoneAlready) {
    return [
      {
        path: 'delegations',
        reason: 'criteria are open, and the plan has no delegations and asks the user nothing',
        hint: 'Try: at least one delegation, or needs_user_input with a question',
      },
    ];
  }
  if (count > max) {
    return [
      {
        path: 'delegations',
        reason: `the plan has ${count} delegations, the limit is ${max}`,
        hint: 'Try: merge small ones, or leave the rest to the next wave',
      },
    ];
  }
  return [];
}

function checkProgress(plan: WavePlanOutline, criteria: readonly CriterionState[]): OutputFault[] {
  const open = openCriteria(criteria);
  if (open.length === 0 || plan.delegations.length === 0) return [];
  const taken = new Set(plan.delegations.flatMap((d) => d.criterion_ids));
  if (open.some((id) => taken.has(id))) return [];
  return [
    {
      path: 'delegations',
      reason: `no delegation takes up an open criterion. Open: ${listNames(open)}`,
      hint: 'Try: list an open criterion_id in the acceptance_criteria of the delegation that is to meet it',
    },
  ];
}
