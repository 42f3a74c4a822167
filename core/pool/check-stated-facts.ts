/**
 * Checks a list of stated facts, from any source.
 *
 * Invariants:
 *   SK1. No key is blank, and no two facts of one list give one key different values.
 */
import type { StatedFact } from '../../contracts/fact.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { isSameValue, normaliseKey } from './normalise-fact.ts';

export function checkStatedFacts(
  facts: readonly Pick<StatedFact, 'key' | 'value'>[],
): OutputFault[] {
  const first = new Map<string, { readonly index: number; readonly value: string }>();
  return facts.flatMap(({ key, value }, index) => {
    const path = `facts[${index}].key`;
    const normalised = normaliseKey(key);
    if (normalised === null) {
      return [
        { path, reason: 'the key is blank', hint: 'Try: "hosting price per month of Hetzner"' },
      ];
    }
    const before = first.get(normalised);
    if (before === undefined) {
      first.set(normalised, { index, value });
      return [];
    }
    if (isSameValue(before.value, value)) return [];
    return [
      {
        path,
        reason: `"${cutText(key, 80)}" has another value in facts[${before.index}]: "${cutText(before.value, 80)}" there, "${cutText(value, 80)}" here`,
        hint: 'Try: keep the one that holds, or keys that say what differs',
      },
    ];
  });
}
