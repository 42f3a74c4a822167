import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { withoutWork } from '../../core/executor.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { listWritten } from '../../core/effects/step-effect.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';

/** Work of a delegation, independent of its result. */
type WorkDone = Pick<DelegationOutcome, 'loaded_details' | 'turns' | 'usage'> & {
  /** Everything that it tried to change outside. */
  readonly effects: readonly KnownEffect[];
};

/** Builds the outcome of a delegation whose output keeps the rules. Triads and teams add what they say of their work. */
export function outcomeOfOutput(
  { delegation_id, agent_id, title, produces, replaces, executor }: DelegationOutline,
  { effects, ...work }: WorkDone,
  { status, coverage, output_ref }: AgentOutputOutline,
): DelegationOutcome {
  const files = listWritten(effects);
  const unmet = coverage.criteria_unmet;
  const isCompleted = status === 'completed';
  return {
    delegation_id,
    agent_id,
    title,
    produces,
    ...(replaces !== undefined && { replaces }),
    ...(files.length > 0 && { files }),
    ...work,
    status: isCompleted ? 'completed' : 'failed',
    reason: isCompleted ? '' : (unmet[0]?.reason ?? 'the agent reported failure'),
    criteria_met: coverage.criteria_met.map((met) => met.criterion_id),
    criteria_unmet: unmet.map(({ criterion_id }) => criterion_id),
    output_ref,
    executor: withoutWork(executor.kind),
  };
}

/** Builds the outcome of a delegation that ended without an output: none of its criteria is met. */
export function outcomeWithout(
  { delegation_id, agent_id, title, produces, criterion_ids, executor }: DelegationOutline,
  { effects: _effects, ...work }: WorkDone,
  end: Pick<DelegationOutcome, 'status' | 'reason'>,
): DelegationOutcome {
  return {
    delegation_id,
    agent_id,
    title,
    produces,
    ...work,
    ...end,
    criteria_met: [],
    criteria_unmet: criterion_ids,
    output_ref: null,
    executor: withoutWork(executor.kind),
  };
}

/** Builds the outcome of a delegation that made no call, or of which no more is known. */
export function outcomeUnbegun(
  delegation: DelegationOutline,
  status: DelegationOutcome['status'],
  reason: string,
): DelegationOutcome {
  const nothing = { loaded_details: [], turns: 0, usage: noUsage, effects: [] };
  return outcomeWithout(delegation, nothing, { status, reason });
}
