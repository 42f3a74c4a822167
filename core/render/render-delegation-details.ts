/**
 * The page of a delegation in Temporal's Web UI.
 *
 * Invariants:
 *   DD1. The page begins with what the delegation waits for, if it waits.
 */
import type { Usage } from '../../contracts/usage.ts';
import type { DelegationState, TeamView, TriadPhaseView } from '../../contracts/views.ts';
import { formatCost, formatTokens } from '../text/format.ts';
import { engineLimits } from '../limits.ts';
import { describeExecutor } from './labels.ts';
import { bullet, joinBlocks, plainText } from '../text/markdown.ts';
import { phaseBlocks } from './render-phase-details.ts';
import { teamBlocks } from './render-team-details.ts';

/** Content of a delegation's page. */
export interface DelegationDetails {
  readonly agent_id: string;
  readonly title: string;
  /** Model calls so far. */
  readonly turn: number;
  readonly state: DelegationState;
  /** Empty when it waits for nothing. */
  readonly waiting_for: string;
  readonly usage: Usage;
  /** Defined in DelegationStatusView. */
  readonly phases_at_work?: readonly string[];
  /** State of its triad. Undefined for another executor. */
  readonly triad?: TriadPhaseView;
  /** State of its team. Undefined for another executor. */
  readonly team?: TeamView;
}

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

/** Renders the work of a triad or a team. Empty for one agent. */
export function executorBlocks({ triad, team }: Executors): string[] {
  return [
    ...(triad === undefined ? [] : phaseBlocks(triad)),
    ...(team === undefined ? [] : teamBlocks(team)),
  ];
}
