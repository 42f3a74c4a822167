/**
 * Compares the changes that an agent claims to have made outside of the run with those that the engine saw (seed 004
 * §11).
 *
 * Invariants:
 *   EC1. A claim holds when the newest effect on that target that may have taken place is confirmed; any other claim is
 *        `unproven`, and the output goes back.
 *        `unproven`, and the output goes back.
 *   EC3. A file that evidence names must have been written in this delegation, just like a claimed one.
 *   EC2. Every claim is judged, and the fault lists what could be claimed.
 */
import type { AgentOutputOutline, Coverage } from '../../contracts/agent-output.ts';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

/** Part of an effect that the rules need. An effect that is only intended has no more than id, target and state. */
export type KnownEffect = Pick<RecordedEffect, 'effect_id' | 'target' | 'state'> &
  Partial<Pick<RecordedEffect, 'tool' | 'arguments_ref' | 'receipt'>>;

type Claiming = Pick<AgentOutputOutline, 'effects_claimed' | 'coverage' | 'status'>;

/** @param effects Effects of the delegation, in the order of its calls. */
export function checkClaimedEffects(
  { effects_claimed, coverage, status }: Claiming,
  effects: readonly KnownEffect[],
): OutputFault[] {
  const states = new Map<string, KnownEffect['state']>();
  for (const { target, state } of effects) {
    if (mayHaveHappened(state)) states.set(target, state);
  }
  const proven = [...states].flatMap(([target, state]) => (state === 'confirmed' ? target : []));
  const known = proven.length === 0 ? 'There are none' : `Confirmed are: ${listNames(proven)}`;
  const files = status === 'blocked' ? [] : findFiles(coverage);
  const claims = effects_claimed.map((claim, i) => ({ claim, path: `effects_claimed[${i}]` }));
  return [...claims, ...files].flatMap(({ claim, path }) => {
    if (states.get(claim) === 'confirmed') return [];
    return [
      {
        path,
        reason: `unproven: ${JSON.stringify(cutText(claim, 120))} has no confirmed effect in this delegation. ${known}`,
        hint: 'Try: bring it about with a tool, or take the claim out and move the criteria that rest on it to criteria_unmet',
      },
    ];
  });
}

function findFiles({ criteria_met }: Coverage): { claim: string; path: string }[] {
  return criteria_met.flatMap(({ where }, i) =>
    where.kind === 'file'
      ? [{ claim: where.value, path: `coverage.criteria_met[${i}].where` }]
      : [],
  );
}

function mayHaveHappened(state: KnownEffect['state']): boolean {
  return state !== 'failed' && state !== 'denied';
}
