import { TemporalFailure, isCancellation } from '@temporalio/workflow';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SeenCommand, TriadJudgement } from '../../contracts/verification.ts';
import type { DelegationStatusView } from '../../contracts/views.ts';
import { namePath, taskId, taskPlace } from '../../core/ids.ts';
import type { VerificationState } from '../../core/verification/step-verification.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { orderJudgement } from '../shared/activities.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { nowMs } from '../shared/clock.ts';
import { callUntilDone, readFailure } from '../shared/failures.ts';
import { recallLost } from '../shared/settle-run.ts';
import { runTriad } from '../triad/run-triad.ts';

/** Output of an author, with what its verifier looks at. */
export interface ToJudge {
  readonly outcome: DelegationOutcome;
  /** Commands that the author ran. */
  readonly commands: readonly SeenCommand[];
  readonly output_ref: Ref;
  /** agent_id of the verifier. */
  readonly verified_by: string;
  readonly state: VerificationState;
  /** Called when something that people see of a triad's judgement has changed. */
  readonly onStatus: (view: JudgingView) => void;
}

export type JudgingView = Pick<
  DelegationStatusView,
  'turn' | 'usage' | 'waiting_for' | 'phases_at_work'
>;

/** Judgement of a triad, with how it came about. */
interface JudgedTogether {
  readonly outcome: DelegationOutcome;
  readonly judgement: TriadJudgement;
}

/** End of a triad of which a phase was terminated. */
interface LostJudgement extends Pick<DelegationOutcome, 'usage' | 'turns'> {
  /** Reason for people. */
  readonly lost: string;
}

/** Has a triad judge an output. It works as on a task of the delegation, on the same files, and only reads. */
export async function judgeTogether(
  { outcome, commands, output_ref, state, onStatus }: ToJudge,
  context: ExecutionContext,
  evidence_ref: Ref,
): Promise<JudgedTogether | LostJudgement> {
  const { order } = context;
  const { run_id, plan_ref, record_ref } = order;
  const { delegation_id, rule_of_two, verification } = order.delegation;
  const { instructions_ref, guidance_refs } = state;
  const judgement_id = taskId(delegation_id, `verify-${state.attempts + 1}`);
  const ordered = await callUntilDone(
    context.superior,
    orderJudgement,
    `judgement of ${delegation_id}`,
    {
      run_id,
      delegation_id,
      plan_ref,
      record_ref,
      judgement_id,
      output_ref,
      evidence_ref,
      commands,
      notes_ref: outcome.notes?.session_ref ?? null,
      instructions_ref,
      guidance_refs,
      ...(verification?.triad !== undefined && {
        added: { verified_by: verification.verified_by, triad: verification.triad },
      }),
    },
  );
  const delegation = ordered.delegations.find((one) => one.delegation_id === judgement_id);
  if (delegation?.executor.kind !== 'triad') throw new Error(`No triad judges ${delegation_id}.`);
  const { crashed: _crashed, begun: _begun, notes: _notes, ...rest } = order;
  const { files } = outcome;
  const own: DelegationOrder = {
    ...rest,
    delegation: { ...delegation, ...(rule_of_two !== undefined && { rule_of_two }) },
    plan_ref: ordered.plan_ref,
    upstream: [
      ...order.upstream,
      { delegation_id, output_ref, ...(files !== undefined && { files }) },
    ],
  };
  const ended = await runUnlessLost(delegation.executor, {
    order: own,
    carried: null,
    control: context.control,
    superior: context.superior,
    budget: context.budget,
    escalations: context.escalations,
    place: taskPlace(context.place, namePath(judgement_id)),
    onStatus,
    carryOver: null,
  });
  if ('lost' in ended) return ended;
  if (ended.executor.kind !== 'triad' || ended.executor.work === null) {
    throw new Error(`The judgement of ${delegation_id} has no report of its triad.`);
  }
  const { work } = ended.executor;
  return {
    outcome: ended,
    judgement: {
      delegation_id: judgement_id,
      plan_ref: ordered.plan_ref,
      executor: { kind: 'triad', work },
    },
  };
}

/** Runs the triad. The output that it judges does not depend on it, so a lost phase is no loss of the delegation. */
async function runUnlessLost(
  triad: Parameters<typeof runTriad>[0],
  context: ExecutionContext,
): Promise<DelegationOutcome | LostJudgement> {
  const since = nowMs();
  const { budget, superior, place } = context;
  // Of the phases that have ended.
  let known: Pick<DelegationStatusView, 'usage' | 'turn'> = { usage: noUsage, turn: 0 };
  const onStatus = (view: DelegationStatusView): void => {
    known = view;
    context.onStatus(view);
  };
  try {
    return await runTriad(triad, { ...context, onStatus });
  } catch (error) {
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    const { usage, turn: turns } = known;
    const isLimited = budget.carry() !== null;
    const park = (reason: string): Promise<void> => superior.park(reason);
    const missed = await recallLost({ place, usage, since, isLimited, park });
    budget.spend(missed, 0);
    return { lost: readFailure(error).message, usage: addUsage(usage, missed), turns };
  }
}
