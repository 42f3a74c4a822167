import type { RunRecord } from '../../contracts/run-record.ts';
import { formatCost, formatTokens } from '../../core/text/format.ts';
import { chooseStale } from '../../core/pool/mark-stale.ts';

/** Stale delegations as the planner chooses from them: why, and what each cost the last time. */
export function describeStale(record: RunRecord): readonly object[] {
  const outcomes = new Map(
    record.waves.flatMap((wave) => wave.outcomes.map((one) => [one.delegation_id, one] as const)),
  );
  return chooseStale(record.stale).flatMap(({ delegation_id, wave, reasons }) => {
    const outcome = outcomes.get(delegation_id);
    if (outcome === undefined) return [];
    const { agent_id, title, usage } = outcome;
    const cost = `${usage.calls} calls, ${formatTokens(usage)}, ${formatCost(usage)}`;
    return [{ delegation_id, wave, agent_id, title, reasons, cost_last_time: cost }];
  });
}
