/**
 * The page of a wave in Temporal's Web UI.
 *
 * Invariants:
 *   WD1. Every delegation is listed with its state; one that does not work says what it waits for or why it ended.
 *   WD2. It has at most `detailsBytesMax` bytes.
 */
import type { DelegationView, WaveView } from '../../contracts/views.ts';
import { formatCost, formatTokens } from '../text/format.ts';
import { engineLimits } from '../limits.ts';
import { describeExecutor } from './labels.ts';
import { bullet, codeSpan, joinBlocks, plainText } from '../text/markdown.ts';

/** Delegations in one block: blocks are shown whole or not at all. */
const linesPerBlock = 10;

/** Returns Markdown for Temporal's current details. */
export function renderWaveDetails(view: WaveView): string {
  const lines = view.delegations.map(renderDelegation);
  const blocks: string[] = [];
  for (let i = 0; i < lines.length; i += linesPerBlock) {
    blocks.push(lines.slice(i, i + linesPerBlock).join('\n'));
  }
  return joinBlocks(
    [
      `## Wave ${view.wave}: ${view.phase}`,
      describeCounts(view.delegations),
      ...blocks,
      `${formatCost(view.usage)} · ${formatTokens(view.usage)}${without(view.at_work.length)}`,
    ],
    engineLimits.detailsBytesMax,
  );
}

function without(atWork: number): string {
  if (atWork === 0) return '';
  return `, without the ${atWork === 1 ? 'one' : atWork} at work`;
}

function renderDelegation(d: DelegationView): string {
  const turn = d.turn === undefined ? '' : ` · turn ${d.turn}`;
  const guard = d.rule_of_two === undefined ? '' : ' · each change needs your approval';
  const reason = d.reason === '' ? '' : ` · ${plainText(d.reason, 300)}`;
  return bullet(
    `**${d.state}** · ${plainText(d.title, 80)} · ${codeSpan(d.delegation_id, 60)} · ${describeExecutor(d)}${turn}${guard}${reason}`,
  );
}

/** `2 running, 1 waiting, 3 completed`, in the order of first appearance. */
function describeCounts(delegations: readonly DelegationView[]): string {
  const counts = new Map<string, number>();
  for (const { state } of delegations) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}
