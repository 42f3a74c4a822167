import * as fc from 'fast-check';
import { effectId } from '../../../core/ids.ts';
import { engineLimits } from '../../../core/limits.ts';
import { keepEffects } from '../../../core/team/team-state.ts';
import { property } from './builders.ts';

const { effectsMax } = engineLimits;

/** Effects in their order, by whoever made them: `design` leads the team, the others are its tasks. */
const made = (makers: readonly string[]) =>
  makers.map((maker, at) => ({
    effect_id: effectId(maker, makers.slice(0, at).filter((one) => one === maker).length + 1),
    target: `file-${at}`,
    state: 'confirmed' as const,
  }));

const isOwn = ({ effect_id }: { readonly effect_id: string }) => effect_id.startsWith('design/');

it("KE1 and KE2: the leader's own are kept, of the others the newest, and no more than there is room for", () => {
  const makers = fc.array(fc.constantFrom('design', 'design.d1', 'design.d2', 'design.d1'), {
    minLength: 0,
    maxLength: effectsMax + 60,
  });
  fc.assert(
    fc.property(makers, (all) => {
      const known = made(all.filter((maker, at) => maker !== 'design' || at < effectsMax));
      const kept = keepEffects(known, 'design');
      expect(kept.filter(isOwn)).toEqual(known.filter(isOwn));
      expect(kept).toHaveLength(Math.min(known.length, effectsMax));
      const others = kept.filter((one) => !isOwn(one));
      expect(others).toEqual(
        others.length === 0 ? [] : known.filter((one) => !isOwn(one)).slice(-others.length),
      );
      expect(kept).toEqual(known.filter((one) => kept.includes(one)));
    }),
    property,
  );
});

it('KE1: however much members change, the only effect of the leader is kept', () => {
  const known = made(['design', ...Array.from({ length: effectsMax }, () => 'design.d1')]);
  expect(keepEffects(known, 'design')[0]).toEqual(known[0]);
});
