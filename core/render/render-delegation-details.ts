/**
 * The page of a delegation in Temporal's Web UI.
 *
 * Invariants:
 *   DD1. It begins with what the delegation waits for, if it waits.
 */
import type { Usage } from '../../contracts/usage.ts';
import type { DelegationState, TriadPhaseView } from '../../contracts/views.ts';
import { engineLimits } from '../limits.ts';
import { formatCost, formatTokens } from '../usage/format-cost.ts';
import { describeExecutor } from './describe-executor.ts';
import { bullet, joinBlocks, plainText } from './markdown.ts';
import { phaseBlocks } from './render-phase-details.ts';

/** What a delegation's page shows. */
export interface DelegationDetails {
  readonly agent_id: string;
  readonly title: string;
  /** Model calls so far. */
  readonly turn: number;
  readonly state: DelegationState;
  /** Empty when it waits for nothing. */
  readonly waiting_for: string;
  readonly usage: Usage;
  /** Where its triad is. If undefined, one agent does it. */
  readonly triad?: TriadPhaseView;
}

/** Markdown for Temporal's current details. */
export function renderDelegationDetails(view: DelegationDetails): string {
  const waits = plainText(view.waiting_for, 1_000);
  return joinBlocks(
    [
      waits === '' ? '' : `## Waiting\n\n${waits}`,
      `## ${plainText(view.title, 120)}`,
      [
        bullet(`**State:** ${view.state}`),
        view.triad === undefined
          ? bullet(`**Agent:** ${plainText(view.agent_id, 60)} · turn ${view.turn}`)
          : bullet(
              `**Done by:** ${describeExecutor({ agent_id: view.agent_id, triad: view.triad.type })} · ${view.turn} model calls`,
            ),
        bullet(`**Used:** ${formatCost(view.usage)} · ${formatTokens(view.usage)}`),
      ].join('\n'),
      ...(view.triad === undefined ? [] : phaseBlocks(view.triad)),
    ],
    engineLimits.detailsBytesMax,
  );
}
