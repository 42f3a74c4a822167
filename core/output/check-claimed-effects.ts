/**
 * Whether what an agent says it changed outside of the run is what the engine saw (seed 004 §11).
 *
 * Invariants:
 *   EC1. A claim holds when the newest effect on that target that may have taken place is confirmed; any other claim is
 *        `unproven`, and the output goes back.
 *   EC2. Every claim is judged, and the fault lists what could be claimed.
 */
import type { RecordedEffect } from '../../contracts/effect.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

/** What the rule needs to know of an effect. */
export type KnownEffect = Pick<RecordedEffect, 'effect_id' | 'target' | 'state'>;

/** @param effects Of the delegation, in the order of its calls. */
export function checkClaimedEffects(
  claims: readonly string[],
  effects: readonly KnownEffect[],
): OutputFault[] {
  const states = new Map<string, KnownEffect['state']>();
  for (const { target, state } of effects) {
    if (mayHaveHappened(state)) states.set(target, state);
  }
  const proven = [...states].flatMap(([target, state]) => (state === 'confirmed' ? target : []));
  return claims.flatMap((claim, i) => {
    if (states.get(claim) === 'confirmed') return [];
    const known = proven.length === 0 ? 'There are none' : `Confirmed are: ${listNames(proven)}`;
    return [
      {
        path: `effects_claimed[${i}]`,
        reason: `unproven: ${JSON.stringify(cutText(claim, 120))} has no confirmed effect in this delegation. ${known}`,
        hint: 'Try: bring it about with a tool, or take the claim out and move the criteria that rest on it to criteria_unmet',
      },
    ];
  });
}

function mayHaveHappened(state: KnownEffect['state']): boolean {
  return state !== 'failed' && state !== 'denied';
}
