/**
 * The timeline label of a model call.
 */
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

/** `researcher · market-research · turn 2`. */
export function turnSummary(agent: string, purpose: string, turn: number): string {
  const end = ` · turn ${turn}`;
  const begin = cutText(`${agent} · ${purpose}`.replace(/\s+/g, ' '), 100);
  return cutText(begin + end, engineLimits.labelCharsMax);
}
