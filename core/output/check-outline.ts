import type { TurnOutline } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { capFaults } from './cap-faults.ts';
import { checkAgentOutput } from './check-agent-output.ts';
import { checkClaimedEffects } from './check-claimed-effects.ts';
import type { KnownEffect } from './check-claimed-effects.ts';

/**
 * Checks the output of an agent, or of a team's leader.
 *
 * @param effects Known attempts to change something outside. @returns none for another shape of reply.
 */
export function checkOutline(
  outline: TurnOutline,
  criterionIds: readonly string[],
  effects: readonly KnownEffect[],
): readonly OutputFault[] {
  if (outline.shape !== 'agent_output') return [];
  const { output } = outline;
  return capFaults([
    ...checkClaimedEffects(output, effects),
    ...checkAgentOutput(output, criterionIds),
  ]);
}
