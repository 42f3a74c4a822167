/**
 * Selects the effects that a team carries over continue-as-new.
 *
 * Invariants:
 *   KE1. All effects of the leader are kept: they number its next ones, so that no two calls have one id.
 *   KE2. At most `effectsMax` effects are kept, in their order; of the members' the newest.
 */
import { isEffectOf } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-claimed-effects.ts';

/**
 * @param known Effects of leader and members, in the order of the first reports. @param delegationId Delegation of the
 * team.
 */
export function keepEffects(
  known: readonly KnownEffect[],
  delegationId: string,
): readonly KnownEffect[] {
  const ofMembers = known.filter(({ effect_id }) => !isEffectOf(delegationId, effect_id));
  const tooMany = Math.max(0, known.length - engineLimits.effectsMax);
  const left = new Set(ofMembers.slice(0, tooMany));
  return known.filter((effect) => !left.has(effect));
}
