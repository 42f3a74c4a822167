/**
 * Checks the planner's decision on a wave against the pool and against the disputes of triads: no contradiction passes
 * in silence (seed 004 §8, §9).
 *
 * Invariants:
 *   DR1. Each conflict that was shown is resolved by its id, with a side that stands and one that gives way to another
 *        value, or with a key of its own for each side. An unknown id is a fault.
 *   DR2. One value stands per conflict: all entries for it agree, with the decision's own facts too.
 *   DR3. The user's statement gives way to no other.
 *   DR4. A fact that the decision states against one that stands is a conflict like any other.
 *   DR5. wave_compact has no line `key: value` with a value that lost, now or earlier.
 *   DR6. All faults are reported at once, each with path, reason and "Try: …".
 */
import { plannerAgentId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { capFaults, listNames } from '../text/list-names.ts';
import {
  checkStatedFacts,
  isSameValue,
  normaliseFact,
  normaliseKey,
  normaliseValue,
} from '../pool/admit-facts.ts';
import { chooseConflicts, chooseSides, findConflicts } from '../pool/find-conflicts.ts';
import type { Conflict, ConflictSide } from '../pool/find-conflicts.ts';
import { keyOfConflict } from '../pool/settle-facts.ts';
import { cutText } from '../text/cut-text.ts';
import { checkKeysApart } from './check-keys-apart.ts';
import type { ApartContext, KeyApart, KeyedValue } from './check-keys-apart.ts';
import { findLostLines } from './check-decision.ts';
import type { WaveDecision } from '../../contracts/wave-plan.ts';
import type { Fact, ProposedFact } from '../../contracts/agent-output.ts';

type Judged = Pick<WaveDecision, 'wave_compact' | 'facts' | 'planner_decision'>;

export interface ResolutionContext {
  readonly pool: readonly Fact[];
  /** Facts that the wave's outputs state. */
  readonly stated: readonly ProposedFact[];
  /** Points that the wave's triads could not settle. */
  readonly disputes: readonly Conflict[];
}

/** @returns every fault at once; empty when the decision resolves each contradiction that it was shown. */
export function checkResolutions(decision: Judged, context: ResolutionContext): OutputFault[] {
  const conflicts = conflictsToResolve(decision, context);
  const entries = decision.planner_decision.conflicts_resolved.map((entry, index) => ({
    key: keyOfConflict(entry.conflict),
    origin: entry.origin.trim(),
    superseded: entry.superseded.trim(),
    apart: (entry.keys_apart ?? []).map(({ source, key }) => ({ source: source.trim(), key })),
    path: `planner_decision.conflicts_resolved[${index}]`,
  }));
  const said = listSaid(decision, context);
  const judged = conflicts.map((conflict) => {
    const own = entries.filter((entry) => entry.key === conflict.key);
    const isDispute = context.disputes.includes(conflict);
    if (own.every(({ apart }) => apart.length === 0)) {
      return judgeConflict(conflict, own, isDispute);
    }
    const others = [
      ...said.filter(({ key }) => key !== conflict.key),
      ...listGiven(conflicts, entries, conflict),
    ];
    return { conflict, faults: checkApart(conflict, own, { isDispute, others }), winner: null };
  });
  return capFaults([
    ...checkStatedFacts(decision.facts),
    ...checkIds(entries, conflicts),
    ...judged.flatMap(({ faults }) => faults),
    ...findLostLines(decision.wave_compact, {
      pool: context.pool,
      resolved: judged.flatMap(({ conflict, winner }) =>
        winner === null ? [] : [{ conflict, winner }],
      ),
    }),
  ]);
}

function ownFacts({ facts }: Judged): ProposedFact[] {
  return facts.map((fact) => ({
    ...fact,
    source_refs: [plannerAgentId],
    is_assumption: false,
    origin: 'planner',
  }));
}

/** Collects the values that stand in the pool and those that outputs and decision state, under normalised keys. */
function listSaid(decision: Judged, { pool, stated }: ResolutionContext): KeyedValue[] {
  const standing = pool.filter(({ superseded_by }) => superseded_by === null);
  return [...standing, ...[...stated, ...ownFacts(decision)].map(normaliseFact)].flatMap(
    ({ key, value }) => (key === null || value === null ? [] : [{ key, value }]),
  );
}

/** Collects the keys that the sides of other conflicts get. */
function listGiven(
  conflicts: readonly Conflict[],
  entries: readonly Entry[],
  besides: Conflict,
): KeyedValue[] {
  return conflicts
    .filter((conflict) => conflict !== besides)
    .flatMap(({ key: old, sides }) =>
      entries
        .filter(({ key }) => key === old)
        .flatMap(({ apart }) => apart)
        .flatMap(({ source, key }) => {
          const value = sides.find((side) => side.source === source)?.value;
          const normalised = normaliseKey(key);
          return value === undefined || normalised === null ? [] : [{ key: normalised, value }];
        }),
    );
}

function checkApart(
  conflict: Conflict,
  [entry, second]: readonly Entry[],
  context: Omit<ApartContext, 'path'>,
): OutputFault[] {
  if (entry === undefined) return [];
  if (second !== undefined) {
    return [
      {
        path: second.path,
        reason: `${conflict.conflict_id} has keys_apart and another entry`,
        hint: 'Try: one entry for it, where all sides stand or where one does',
      },
    ];
  }
  return checkKeysApart(conflict, entry.apart, { ...context, path: `${entry.path}.keys_apart` });
}

/** Selects the conflicts that were shown, and those that the decision's own facts cause. */
function conflictsToResolve(
  decision: Judged,
  { pool, stated, disputes }: ResolutionContext,
): readonly Conflict[] {
  const own = ownFacts(decision);
  const chosen = chooseConflicts(findConflicts(pool, stated), disputes);
  const shown = new Set(chosen.map(({ key }) => key));
  return [...disputes, ...findConflicts(pool, [...stated, ...own])].filter(
    ({ key, sides }) => shown.has(key) || sides.some(isOfPlanner),
  );
}

function isOfPlanner({ source }: ConflictSide): boolean {
  return source === plannerAgentId;
}

interface Entry {
  readonly key: string | null;
  readonly origin: string;
  readonly superseded: string;
  readonly apart: readonly KeyApart[];
  readonly path: string;
}

function checkIds(entries: readonly Entry[], conflicts: readonly Conflict[]): OutputFault[] {
  const keys = new Set(conflicts.map(({ key }) => key));
  return entries.flatMap(({ key, path }) =>
    key === null || keys.has(key)
      ? []
      : [
          {
            path: `${path}.conflict`,
            reason: `there is no conflict "conflict:${cutText(key, 80)}"`,
            hint: `Try: one of ${listNames(conflicts.map((one) => one.conflict_id))}, or words of your own for a contradiction that is not listed`,
          },
        ],
  );
}

interface JudgedConflict {
  readonly conflict: Conflict;
  readonly faults: readonly OutputFault[];
  /** Null unless the conflict is resolved without a fault. */
  readonly winner: ConflictSide | null;
}

function judgeConflict(
  conflict: Conflict,
  entries: readonly Entry[],
  isDispute: boolean,
): JudgedConflict {
  const [first] = entries;
  if (first === undefined) {
    return { conflict, faults: [unresolved(conflict, isDispute)], winner: null };
  }
  const winner = conflict.sides.find(({ source }) => source === first.origin) ?? null;
  const faults = entries.flatMap((entry) => checkEntry(conflict, entry, winner));
  return { conflict, faults, winner: faults.length === 0 ? winner : null };
}

function unresolved(conflict: Conflict, isDispute: boolean): OutputFault {
  const { conflict_id, sides } = conflict;
  const own = sides.find(isOfPlanner);
  const winner = sides.find(({ origin }) => origin === 'user') ?? own ?? sides[0];
  const loser = sides.find(
    (side) => winner !== undefined && !isSameValue(side.value, winner.value),
  );
  const apart = isDispute ? '' : ', or give every side a key of its own in keys_apart if all hold';
  const example = {
    conflict: conflict_id,
    resolution: '…',
    origin: winner?.source ?? '',
    superseded: loser?.source ?? '',
  };
  return {
    path: 'planner_decision.conflicts_resolved',
    reason: `${conflict_id} is not resolved: ${describeSides(conflict)}`,
    hint: `Try: say which side stands, such as ${JSON.stringify(example)}${own === undefined ? apart : ', or state in facts what the others say'}`,
  };
}

function checkEntry(
  conflict: Conflict,
  { origin, superseded, path }: Entry,
  winner: ConflictSide | null,
): OutputFault[] {
  const { conflict_id, sides } = conflict;
  const sideOf = (source: string): ConflictSide | undefined =>
    sides.find((side) => side.source === source);
  const stands = sideOf(origin);
  const gives = sideOf(superseded);
  if (stands === undefined || gives === undefined) {
    const [field, source] =
      stands === undefined ? (['origin', origin] as const) : (['superseded', superseded] as const);
    return [
      {
        path: `${path}.${field}`,
        reason: `"${cutText(source, 80)}" is no side of ${conflict_id}: ${describeSides(conflict)}`,
        hint: `Try: one of ${listNames(chooseSides(conflict).map((side) => side.source))}`,
      },
    ];
  }
  const reason = findContradiction(conflict, { stands, gives, winner: winner ?? stands });
  if (reason === null) return [];
  const user = sides.find((side) => side.origin === 'user');
  const which = user === undefined ? 'one value' : `${user.source} as origin`;
  return [{ path, reason, hint: `Try: ${which} for ${conflict_id}, here and in facts` }];
}

function findContradiction(
  { conflict_id, sides }: Conflict,
  { stands, gives, winner }: Readonly<Record<'stands' | 'gives' | 'winner', ConflictSide>>,
): string | null {
  const differs = (side: ConflictSide): boolean => !isSameValue(side.value, stands.value);
  if (!differs(gives)) return `${stands.source} and ${gives.source} say the same of ${conflict_id}`;
  if (differs(winner)) {
    return `another entry lets "${winner.value}" stand for ${conflict_id}, this one "${stands.value}"`;
  }
  const own = sides.find(isOfPlanner);
  if (own !== undefined && differs(own)) {
    return `facts state "${own.value}" for ${conflict_id}, and this entry lets "${stands.value}" stand`;
  }
  const user = sides.find((side) => side.origin === 'user' && differs(side));
  return user === undefined || stands.origin === 'user'
    ? null
    : `${user.source} is what the user said, "${user.value}": only the user can take it back`;
}

/** Returns text such as `"10" (f1, planner) against "12" (wave-002/b)`. */
function describeSides(conflict: Conflict): string {
  const shown = chooseSides(conflict);
  const more = conflict.sides.length - shown.length;
  const values = new Map<string, ConflictSide[]>();
  for (const side of shown) {
    const value = normaliseValue(side.value);
    values.set(value, [...(values.get(value) ?? []), side]);
  }
  const sides = [...values.values()].map(
    (same) => `${JSON.stringify(same[0]?.value)} (${same.map(({ source }) => source).join(', ')})`,
  );
  return sides.join(' against ') + (more === 0 ? '' : ` and ${more} more`);
}
