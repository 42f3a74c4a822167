import { CancellationScope } from '@temporalio/workflow';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { TeamTerms } from '../../contracts/team-run.ts';
import type { Superior } from '../shared/superior.ts';
import type { Budget } from '../shared/budget.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import { applyGuards } from './apply-guards.ts';
import { keepThread } from './finish-team.ts';

/** An answer that a leader mended alone, after its team had ended. */
export interface MendedAnswer {
  readonly order: DelegationOrder;
  readonly outcome: DelegationOutcome;
  readonly terms: TeamTerms;
}

/** Means of checking an answer. */
interface CheckContext {
  readonly superior: Superior;
  readonly budget: Pick<Budget, 'release'>;
  /** Called with notes for people. */
  readonly note: (text: string) => void;
}

/** Picks the task of a team as middlewares left it; nothing without a team. */
export function pickRewritten(
  terms: TeamTerms | undefined,
): Partial<Pick<TeamTerms, 'record_ref' | 'plan_ref'>> {
  return terms === undefined ? {} : { record_ref: terms.record_ref, plan_ref: terms.plan_ref };
}

/** Sends a mended answer through the output functions of its team, as the first answer. */
export async function guardMended(
  { order, outcome, terms }: MendedAnswer,
  context: CheckContext,
): Promise<DelegationOutcome> {
  const { output_ref } = outcome;
  const steps = terms.output_middlewares.length + terms.guardrails.output.length;
  if (output_ref === null || steps === 0) return outcome;
  const guarded = await stopWhenCancelled(() =>
    applyGuards(terms, 'output', output_ref, { order, ...context }),
  );
  if (guarded?.type === 'passed') return { ...outcome, output_ref: guarded.subject_ref };
  // An unchecked answer is not passed on.
  const withheld = { ...outcome, output_ref: null };
  return guarded === null
    ? { ...withheld, status: 'stopped', reason: 'stopped while its answer was checked' }
    : { ...withheld, status: 'failed', reason: guarded.reason };
}

/**
 * Replaces the answer that a team has left in its thread before its verification.
 *
 * @param isVerified False when no answer passed: the thread then has none.
 */
export async function replaceInThread(
  { order, outcome, terms }: MendedAnswer,
  isVerified: boolean,
  note: (text: string) => void,
): Promise<void> {
  const { executor } = outcome;
  const output_ref = isVerified ? outcome.output_ref : null;
  const report_ref = executor.kind === 'team' ? executor.work?.report_ref : undefined;
  if (terms.thread_id === null || report_ref === undefined) return;
  await CancellationScope.nonCancellable(() =>
    keepThread(order, terms, { report_ref, output_ref }, note),
  );
}
