/**
 * Which effects a team takes over continue-as-new.
 *
 * Invariants:
 *   KE1. All of the leader's own are kept: they number its next ones, and no two calls ever have one id.
 *   KE2. No more than `effectsMax` are kept, in their order; of the members' the newest.
 */
import { isEffectOf } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-claimed-effects.ts';

/** @param known Of leader and members, in the order of the first reports. @param delegationId Of the team. */
export function keepEffects(
  known: readonly KnownEffect[],
  delegationId: string,
): readonly KnownEffect[] {
  const ofMembers = known.filter(({ effect_id }) => !isEffectOf(delegationId, effect_id));
  const tooMany = Math.max(0, known.length - engineLimits.effectsMax);
  const left = new Set(ofMembers.slice(0, tooMany));
  return known.filter((effect) => !left.has(effect));
}
