/**
 * The page of a delegation in Temporal's Web UI.
 *
 * Invariants:
 *   DD1. It begins with what the delegation waits for, if it waits.
 */
import type { Usage } from '../../contracts/usage.ts';
import type { DelegationState, TeamView, TriadPhaseView } from '../../contracts/views.ts';
import { formatCost, formatTokens } from '../text/format.ts';
import { engineLimits } from '../limits.ts';
import { describeExecutor } from './labels.ts';
import { bullet, joinBlocks, plainText } from '../text/markdown.ts';
import { phaseBlocks } from './render-phase-details.ts';
import { teamBlocks } from './render-team-details.ts';

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
  /** As in DelegationStatusView. */
  readonly phases_at_work?: readonly string[];
  /** Where its triad is. If undefined, none does it. */
  readonly triad?: TriadPhaseView;
  /** Where its team is. If undefined, none does it. */
  readonly team?: TeamView;
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
        describeDoer(view),
        bullet(`**Used:** ${formatCost(view.usage)} · ${formatTokens(view.usage)}${without(view)}`),
      ].join('\n'),
      ...executorBlocks(view),
    ],
    engineLimits.detailsBytesMax,
  );
}

function without({ phases_at_work = [] }: DelegationDetails): string {
  if (phases_at_work.length === 0) return '';
  return `, without the ${phases_at_work.length === 1 ? 'phase' : 'phases'} at work`;
}

function describeDoer({ agent_id, turn, triad, team }: DelegationDetails): string {
  if (triad === undefined && team === undefined) {
    return bullet(`**Agent:** ${plainText(agent_id, 60)} · turn ${turn}`);
  }
  const executor = {
    agent_id,
    ...(triad !== undefined && { triad: triad.type }),
    ...(team !== undefined && { team: team.team_id ?? '' }),
  };
  return bullet(`**Done by:** ${describeExecutor(executor)} · ${turn} model calls`);
}

interface Executors {
  readonly triad?: TriadPhaseView | undefined;
  readonly team?: TeamView | undefined;
}

/** What a triad or a team does. Empty for one agent. */
export function executorBlocks({ triad, team }: Executors): string[] {
  return [
    ...(triad === undefined ? [] : phaseBlocks(triad)),
    ...(team === undefined ? [] : teamBlocks(team)),
  ];
}
