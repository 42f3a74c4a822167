import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { ExecutorOutline } from '../../contracts/delegation.ts';
import type { VerificationView } from '../../contracts/views.ts';
import { engineLimits } from '../../core/limits.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { openVerification } from '../../core/verification/step-verification.ts';
import type { VerificationState } from '../../core/verification/step-verification.ts';
import type { DelegationEnd, ExecutionContext } from '../execution/execution-context.ts';
import type { JudgingView } from './judge-together.ts';

/** A delegation whose output is verified. */
export interface Verifying {
  readonly executor: ExecutorOutline;
  readonly context: ExecutionContext;
  state: VerificationState;
  /** Changes that its attempts tried, escalations, and why the last one failed. */
  earlier: Pick<DelegationEnd, 'effects' | 'escalations'> & Partial<Pick<DelegationEnd, 'why'>>;
  view: VerificationView;
}

export function beginVerifying(
  executor: ExecutorOutline,
  context: ExecutionContext,
  verified_by: string,
): Verifying {
  const { carried } = context;
  const state = carried?.verification ?? openVerification();
  return {
    executor,
    // Notes of one attempt are there for the next.
    context: { ...context, session: context.session ?? { state: null } },
    state,
    earlier: { effects: carried?.effects ?? [], escalations: carried?.escalations ?? 0 },
    view: {
      verified_by,
      state: 'working',
      attempt: state.failures + 1,
      attempts_max: engineLimits.verificationsMax,
    },
  };
}

export function setView(v: Verifying, state: VerificationView['state']): void {
  const ended = state === 'verified' || state === 'unverified';
  v.view = { ...v.view, state, ...(!ended && { attempt: v.state.failures + 1 }) };
}

/** @param work Work of a triad that judges, whose phases are workflows. */
export function show(
  { context, state, view }: Verifying,
  status: DelegationOutcome['status'] | 'running' | 'waiting',
  waiting_for: string,
  { turn, usage, phases_at_work }: JudgingView = { turn: 0, usage: noUsage, waiting_for },
): void {
  const { delegation_id, agent_id, title } = context.order.delegation;
  context.onStatus({
    delegation_id,
    agent_id,
    title,
    state: status === 'running' && waiting_for !== '' ? 'waiting' : status,
    turn: state.turns + turn,
    waiting_for,
    usage: addUsage(state.usage, usage),
    ...(phases_at_work !== undefined && { phases_at_work }),
    executor: { kind: 'agent' },
    verification: view,
  });
}
