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
import { admitFacts, isSameValue, normaliseKey } from '../pool/admit-facts.ts';
import { chooseSides } from '../pool/find-conflicts.ts';
import type { Conflict, ConflictSide } from '../pool/find-conflicts.ts';
import { isNamed, keyOfConflict } from '../pool/settle-facts.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import type { PlannerDecision } from '../../contracts/wave-plan.ts';
import type { Fact } from '../../contracts/agent-output.ts';

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

/**
 * Facts that met under one key although each is about another subject: the decision gives them keys of their own.
 *
 * Invariants:
 *   KA1. What was in the pool stays; a fact under its new key is a new entry that says the same, and the old one is marked
 *        as superseded by it.
 *   KA2. Doing it twice is doing it once.
 *   KA3. What the user said keeps its key.
 *
 * @param now Unix epoch seconds.
 */
export function keyApart(
  pool: readonly Fact[],
  wave: number,
  resolutions: PlannerDecision['conflicts_resolved'],
  now: number,
): readonly Fact[] {
  return resolutions.reduce((facts, { conflict, keys_apart = [] }) => {
    const key = keyOfConflict(conflict);
    if (key === null) return facts;
    return keys_apart.reduce((all, apart) => {
      const fact = all.find((one) => one.key === key && isNamed(one, apart.source.trim(), wave));
      return fact === undefined ? all : giveKey(all, fact, normaliseKey(apart.key), now);
    }, facts);
  }, pool);
}

function giveKey(
  pool: readonly Fact[],
  fact: Fact,
  key: string | null,
  now: number,
): readonly Fact[] {
  const { origin, superseded_by } = fact;
  if (key === null || key === fact.key || origin === 'user' || superseded_by !== null) return pool;
  const known = admitFacts(pool, [{ ...fact, key }], now);
  const successor = known.find(
    (one) =>
      one.key === key &&
      one.origin === origin &&
      one.source_refs.join() === fact.source_refs.join() &&
      isSameValue(one.value ?? '', fact.value ?? ''),
  );
  if (successor === undefined) return pool;
  return known.map((one) => (one === fact ? { ...one, superseded_by: successor.fact_id } : one));
}
