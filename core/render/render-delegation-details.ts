/**
 * The page of a delegation in Temporal's Web UI.
 *
 * Invariants:
 *   DD1. The page begins with what the delegation waits for, if it waits.
 */
import type { DelegationStatusView, ExecutorView } from '../../contracts/views.ts';
import { formatCost, formatTokens } from '../text/format.ts';
import { engineLimits } from '../limits.ts';
import { describeExecutor } from './labels.ts';
import { bullet, joinBlocks, plainText } from '../text/markdown.ts';
import { phaseBlocks } from './render-phase-details.ts';
import { teamBlocks } from './render-team-details.ts';

/** Content of a delegation's page. */
export type DelegationDetails = Omit<DelegationStatusView, 'delegation_id'>;

/** Returns Markdown for Temporal's current details. */
export function renderDelegationDetails(view: DelegationDetails): string {
  const waits = plainText(view.waiting_for, 1_000);
  return joinBlocks(
    [
      waits === '' ? '' : `## Waiting\n\n${waits}`,
      `## ${plainText(view.title, 120)}`,
      [
        bullet(`**State:** ${view.state}`),
        describeDoer(view),
        bullet(`**Used:** ${formatCost(view.usage)} · ${formatTokens(view.usage)}${without(view)}`),
      ].join('\n'),
      ...executorBlocks(view.executor),
    ],
    engineLimits.detailsBytesMax,
  );
}

function without({ phases_at_work = [] }: DelegationDetails): string {
  if (phases_at_work.length === 0) return '';
  return `, without the ${phases_at_work.length === 1 ? 'phase' : 'phases'} at work`;
}

function describeDoer({ agent_id, turn, executor }: DelegationDetails): string {
  if (executor.kind === 'agent') {
    return bullet(`**Agent:** ${plainText(agent_id, 60)} · turn ${turn}`);
  }
  return bullet(`**Done by:** ${describeExecutor({ agent_id, executor })} · ${turn} model calls`);
}

/** Shows what a triad or a team does; nothing for one agent, or before it begins. */
export function executorBlocks(executor: ExecutorView): string[] {
  if (executor.kind === 'agent' || executor.view === null) return [];
  return executor.kind === 'triad' ? phaseBlocks(executor.view) : teamBlocks(executor.view);
}
