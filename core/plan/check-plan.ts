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
import type { RunLimits } from '../../contracts/limits.ts';
import type { RunKnowledge } from '../../contracts/planner-run.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import { isDone, openCriteria, checkByAnswers, settleByAnswers } from '../criteria/criteria.ts';
import { capFaults, listNames } from '../text/list-names.ts';
import { checkUserQuestions } from '../questions/check-asked-questions.ts';
import { checkDependencies, checkInputs } from './check-inputs.ts';
import { checkExecutors } from './check-executors.ts';
import type { ExecutorContext } from './check-executors.ts';
import { checkRedone, checkRepetition } from './check-repetition.ts';
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { collectUpstream } from '../schedule/dependencies.ts';
import { cutText } from '../text/cut-text.ts';
import { checkAgent } from '../triad/check-triad.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

/** Facts against which a plan is checked. */
export interface PlanContext
  extends
    ExecutorContext,
    Pick<RunKnowledge, 'criteria' | 'known_inputs' | 'delegation_ids' | 'fingerprints' | 'stale'> {
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

/** Checks a plan one delegation after the other: executor, id, criteria. */

/** Pattern of `Slug` in the contracts, repeated here because `core` does not load zod. */
const slugPattern = /^[a-z0-9][a-z0-9_-]{0,39}$/;

function checkDelegations(
  delegations: readonly DelegationOutline[],
  context: {
    readonly agents: readonly AgentSummary[];
    readonly delegation_ids: readonly string[];
  },
): OutputFault[] {
  const earlier = new Set(context.delegation_ids);
  const first = new Map<string, number>();
  return delegations.flatMap((delegation, i) => {
    const path = `delegations[${i}]`;
    const before = first.get(delegation.delegation_id);
    if (before === undefined) first.set(delegation.delegation_id, i);
    return [
      ...checkAgent(delegation.agent_id, `${path}.agent_id`, context.agents),
      ...checkId(delegation.delegation_id, path, { before, earlier }),
      ...checkCriteria(delegation, path),
    ];
  });
}

function checkId(
  id: string,
  path: string,
  used: { readonly before: number | undefined; readonly earlier: ReadonlySet<string> },
): OutputFault[] {
  const faults: OutputFault[] = [];
  const fault = (reason: string, hint: string): void => {
    faults.push({ path: `${path}.delegation_id`, reason, hint });
  };
  if (!slugPattern.test(id)) {
    fault(
      `"${cutText(id, 60)}" is no valid delegation_id: 1 to 40 lower-case letters, digits, "-" or "_"`,
      `Try: "${toSlug(id)}"`,
    );
  }
  if (used.before !== undefined) {
    fault(
      `"${cutText(id, 60)}" is the delegation_id of delegations[${used.before}] already`,
      'Try: an id of its own for each delegation',
    );
  }
  if (used.earlier.has(id)) {
    fault(
      `"${id}" was used in an earlier wave`,
      `Try: a new id, such as "${toSlug(`${id}-again`)}"`,
    );
  }
  return faults;
}

function checkCriteria(delegation: DelegationOutline, path: string): OutputFault[] {
  const ids = delegation.criterion_ids;
  const at = `${path}.acceptance_criteria`;
  if (ids.length === 0) {
    return [
      {
        path: at,
        reason:
          'the delegation has no acceptance criteria, so nobody could tell whether it is done',
        hint: 'Try: at least one statement that can be checked',
      },
    ];
  }
  return ids.flatMap((id, i) => {
    const itemPath = `${at}[${i}].criterion_id`;
    if (ids.indexOf(id) !== i) {
      const reason = `"${cutText(id, 60)}" is listed twice in this delegation`;
      return [{ path: itemPath, reason, hint: 'Try: keep it once' }];
    }
    if (slugPattern.test(id)) return [];
    const reason = `"${cutText(id, 60)}" is no valid criterion_id: 1 to 40 lower-case letters, digits, "-" or "_"`;
    return [{ path: itemPath, reason, hint: `Try: "${toSlug(id)}"` }];
  });
}

/** Returns the nearest valid id, for a hint. */
function toSlug(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 40)
    .replace(/(?<![-_])[-_]+$/, '');
  return slug === '' ? 'market-research' : slug;
}

/**
 * Checks the results that a plan replaces: each exists by then, is replaced once, and no other delegation builds on it.
 */

/**
 * @param earlier Ids of earlier delegations whose results count.
 */
export function checkReplaced(
  delegations: readonly DelegationOutline[],
  earlier: readonly string[],
): OutputFault[] {
  const byId = new Map(delegations.map((one) => [one.delegation_id, one]));
  const planned: Planned[] = delegations.map((one, i) => ({
    delegation_id: one.delegation_id,
    replaces: one.replaces,
    path: `delegations[${i}]`,
    upstream: new Set(collectUpstream(one, byId).map(({ delegation_id }) => delegation_id)),
  }));
  return planned.flatMap((one) => {
    const { replaces, upstream } = one;
    if (replaces === undefined) return [];
    const path = `${one.path}.replaces`;
    const first = planned.find((other) => other.replaces === replaces);
    if (first !== undefined && first !== one) {
      const reason = `"${cutText(replaces, 60)}" is replaced by ${first.path} already`;
      return [{ path, reason, hint: 'Try: one delegation for each result that is replaced' }];
    }
    if (!byId.has(replaces)) {
      return earlier.includes(replaces) ? [] : [unknown(path, replaces, earlier)];
    }
    if (!upstream.has(replaces)) {
      const reason = `"${replaces}" is of this wave, and depends_on does not lead there, so nobody knows which of the two comes last`;
      return [{ path, reason, hint: `Try: add "${replaces}" to depends_on` }];
    }
    return planned.flatMap((other) => checkOther(other, one, replaces));
  });
}

/** A delegation of the plan with all its dependencies. */
interface Planned {
  readonly delegation_id: string;
  readonly replaces: string | undefined;
  readonly path: string;
  readonly upstream: ReadonlySet<string>;
}

/** Checks a delegation that builds on the older version: it must precede the newer one, or build on that too. */
function checkOther(other: Planned, newer: Planned, older: string): OutputFault[] {
  const isFine =
    other === newer ||
    !other.upstream.has(older) ||
    other.upstream.has(newer.delegation_id) ||
    newer.upstream.has(other.delegation_id);
  if (isFine) return [];
  return [
    {
      path: `${other.path}.depends_on`,
      reason: `it builds on "${older}", which "${newer.delegation_id}" replaces`,
      hint: `Try: depend on "${newer.delegation_id}"; or let "${newer.delegation_id}" depend on "${other.delegation_id}"`,
    },
  ];
}

function unknown(path: string, id: string, earlier: readonly string[]): OutputFault {
  return {
    path,
    reason: `"${cutText(id, 60)}" has no result that could be replaced`,
    hint:
      earlier.length === 0
        ? 'Try: leave it out, or name a delegation of this wave that it depends on'
        : `Try: leave it out, or one of ${listNames(earlier)}`,
  };
}
