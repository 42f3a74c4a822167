/**
 * Finds lines of a text that state a superseded value. Only exact lines `key: value` count; nothing is guessed.
 *
 * Invariants:
 *   LL1. A line is found exactly when its key is in the pool or in a conflict, and its value lost there and stands
 *        nowhere under that key. Marks of lists and of emphasis don't count.
 */
import type { Fact } from '../../contracts/fact.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Conflict, ConflictSide } from '../pool/find-conflicts.ts';
import { normaliseKey, normaliseValue } from '../pool/admit-facts.ts';
import { cutText } from '../text/cut-text.ts';

export interface Losses {
  readonly pool: readonly Fact[];
  readonly resolved: readonly { readonly conflict: Conflict; readonly winner: ConflictSide }[];
}

/** Normalised values of one key. */
interface Values {
  readonly lost: Set<string>;
  readonly stand: Set<string>;
}

export function findLostLines(text: string, losses: Losses): OutputFault[] {
  const byKey = collectValues(losses);
  if (byKey.size === 0) return [];
  return text.split('\n').flatMap((line, index) => {
    const value = readStatements(line).find(([key, said]) => {
      const values = byKey.get(key);
      return values !== undefined && values.lost.has(said) && !values.stand.has(said);
    });
    if (value === undefined) return [];
    const [key] = value;
    return [
      {
        path: 'wave_compact',
        reason: `line ${index + 1} says "${cutText(line.trim(), 200)}", which is superseded`,
        hint: `Try: say what stands for "${cutText(key, 80)}" now, or leave the line out`,
      },
    ];
  });
}

function collectValues({ pool, resolved }: Losses): ReadonlyMap<string, Values> {
  const byKey = new Map<string, Values>();
  const valuesOf = (key: string): Values => {
    const values = byKey.get(key) ?? { lost: new Set(), stand: new Set() };
    byKey.set(key, values);
    return values;
  };
  const decided = new Set(resolved.map(({ conflict }) => conflict.key));
  for (const { key, value, superseded_by } of pool) {
    if (key === null || value === null) continue;
    const { lost, stand } = valuesOf(key);
    (superseded_by !== null || decided.has(key) ? lost : stand).add(normaliseValue(value));
  }
  for (const { conflict, winner } of resolved) {
    const { lost, stand } = valuesOf(conflict.key);
    for (const { value } of conflict.sides) lost.add(normaliseValue(value));
    stand.add(normaliseValue(winner.value));
  }
  return byKey;
}

/** Splits the line into key and value at each of its colons, because a key may contain one. */
function readStatements(line: string): [key: string, value: string][] {
  const plain = line.replace(/[*`]/g, '').replace(/^\s*\d+[.)]\s+/, '');
  return [...plain.matchAll(/:/g)].flatMap(({ index }): [string, string][] => {
    const key = normaliseKey(plain.slice(0, index));
    const said = plain.slice(index + 1);
    if (key === null) return [];
    return [said, said.trimEnd().replace(/[.,;]$/, '')].map((one) => [key, normaliseValue(one)]);
  });
}
