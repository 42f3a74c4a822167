/**
 * Checks that all sides of a conflict can stand, each under a key of its own (`keys_apart`).
 *
 * Invariants:
 *   CK1. Each side that was shown is named once, and nothing else.
 *   CK2. No new key is blank, and no two values share a key afterwards: neither of these sides, nor of any fact that
 *        stands, is stated, or gets its key by the same decision.
 *   CK3. The user's statement keeps its key. The decision's own facts must use the right key at once. A triad's dispute
 *        is no fact and has no key.
 */
import { plannerAgentId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { chooseSides } from '../pool/find-conflicts.ts';
import type { Conflict, ConflictSide } from '../pool/find-conflicts.ts';
import { isSameValue, normaliseKey } from '../pool/normalise-fact.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

/** A side of a conflict and the key that the decision gives it. */
export interface KeyApart {
  readonly source: string;
  readonly key: string;
}

/** A value that stands, or would stand, under a normalised key. */
export interface KeyedValue {
  readonly key: string;
  readonly value: string;
}

export interface ApartContext {
  /** Path of the list keys_apart. */
  readonly path: string;
  readonly isDispute: boolean;
  /** Values of the pool, the outputs and the decision under other keys, and of other conflicts that get keys. */
  readonly others: readonly KeyedValue[];
}

export function checkKeysApart(
  conflict: Conflict,
  apart: readonly KeyApart[],
  { path, isDispute, others }: ApartContext,
): OutputFault[] {
  if (isDispute) {
    return [
      {
        path,
        reason: `${conflict.conflict_id} is a dispute about a text, and has no key`,
        hint: 'Try: the member whose side stands as origin, and one that gives way as superseded',
      },
    ];
  }
  if (conflict.sides.some(({ source }) => source === plannerAgentId)) {
    return [
      {
        path,
        reason: `facts state a value of their own under "${conflict.key}"`,
        hint: 'Try: in facts a key that names its subject, or leave it out there',
      },
    ];
  }
  const sides = chooseSides(conflict);
  const missing = sides.filter(({ source }) => !apart.some((one) => one.source === source));
  return [
    ...(missing.length === 0
      ? []
      : [
          {
            path,
            reason: `no key for ${listNames(missing.map(({ source }) => source))} of ${conflict.conflict_id}`,
            hint: 'Try: a key for every source of the conflict, or origin and superseded where one of them is wrong',
          },
        ]),
    ...apart.flatMap((one, i) => {
      const side = sides.find(({ source }) => source === one.source);
      const before = apart.slice(0, i);
      const at = `${path}[${i}]`;
      if (side === undefined || before.some(({ source }) => source === one.source)) {
        return [
          {
            path: `${at}.source`,
            reason: `"${cutText(one.source, 80)}" is no side of ${conflict.conflict_id}, or named twice`,
            hint: `Try: each of ${listNames(sides.map(({ source }) => source))} once`,
          },
        ];
      }
      const siblings = before.flatMap(({ source, key }) => {
        const value = sides.find((other) => other.source === source)?.value;
        const normalised = normaliseKey(key);
        return value === undefined || normalised === null ? [] : [{ key: normalised, value }];
      });
      return checkKey(conflict, side, one.key, { at, others: [...others, ...siblings] });
    }),
  ];
}

function checkKey(
  { key: old }: Conflict,
  side: ConflictSide,
  given: string,
  { at, others }: { readonly at: string; readonly others: readonly KeyedValue[] },
): OutputFault[] {
  const key = normaliseKey(given);
  const path = `${at}.key`;
  if (key === null) {
    return [{ path, reason: 'the key is blank', hint: `Try: "${old} of …", with the subject` }];
  }
  if (side.origin === 'user' && key !== old) {
    return [
      {
        path,
        reason: `${side.source} is what the user said: it keeps the key "${old}"`,
        hint: `Try: "${old}" here, and other keys for the other sides`,
      },
    ];
  }
  const taken = others.find((one) => one.key === key && !isSameValue(one.value, side.value));
  if (taken === undefined) return [];
  return [
    {
      path,
      reason: `"${key}" is "${cutText(taken.value, 80)}" already, and would be "${cutText(side.value, 80)}" too`,
      hint: `Try: a key that names the subject of ${side.source}`,
    },
  ];
}
