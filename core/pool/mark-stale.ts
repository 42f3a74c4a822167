/**
 * Which finished work rests on what does not hold any more: a superseded fact, a changed answer, a replaced output.
 *
 * Invariants:
 *   ST1. Exactly those are stale that consumed what changed, and those that consumed the output of a stale one.
 *   ST2. Who brought the change about is not made stale by it, nor is what the replacement of a result was made from.
 *   ST3. What was done again is marked so, and nothing marks it anew.
 *   ST4. Marking twice is marking once, and the order of causes does not change who is stale.
 */
import type { Consumption, ShownToWave, StaleDelegation } from '../../contracts/consumption.ts';
import type { Fact } from '../../contracts/fact.ts';
import { waveSource } from '../ids.ts';
import { engineLimits } from '../limits.ts';

/** Who consumed what. */
export interface Edges {
  /** In the order of waves. */
  readonly consumptions: readonly Consumption[];
  readonly shown: ReadonlyMap<number, ShownToWave>;
}

export type StaleCause =
  | {
      readonly type: 'fact';
      readonly fact: Pick<Fact, 'fact_id' | 'source_refs' | 'superseded_by'>;
      /** Who said what holds instead. */
      readonly by: string;
    }
  | { readonly type: 'answer'; readonly question_id: string }
  | {
      readonly type: 'input';
      readonly name: string;
      /** Whose output the name stood for. */
      readonly source: string;
      /** Whose output it stands for now. */
      readonly by: string;
    }
  | {
      readonly type: 'replaced';
      /** Whose output does not count any more. */
      readonly source: string;
      /** Whose output replaces it. */
      readonly by: string;
      /** Whose outputs the replacement was made from: it has taken them into account. */
      readonly made_from: readonly string[];
    };

export function markStale(
  stale: readonly StaleDelegation[],
  { consumptions, shown }: Edges,
  causes: readonly StaleCause[],
): readonly StaleDelegation[] {
  const marked = new Map(stale.map((one) => [one.delegation_id, one]));
  for (const consumption of consumptions) {
    for (const cause of causes) {
      const reason = findReason(consumption, shown.get(consumption.wave) ?? nothingShown, cause);
      if (reason !== null) mark(marked, consumption, reason);
    }
  }
  spread(marked, consumptions);
  return [...marked.values()].toSorted(compareWaves);
}

/** Marks what was done again. @param redone By the delegation_id that was stale: the one that did it again. */
export function markRedone(
  stale: readonly StaleDelegation[],
  redone: ReadonlyMap<string, string>,
): readonly StaleDelegation[] {
  return stale.map((one) => ({
    ...one,
    redone_by: one.redone_by ?? redone.get(one.delegation_id) ?? null,
  }));
}

/** What a planner may have done again now: the first ones. The rest comes up as these are done. */
export function chooseStale(stale: readonly StaleDelegation[]): readonly StaleDelegation[] {
  return stale.filter((one) => one.redone_by === null).slice(0, engineLimits.staleShownMax);
}

const nothingShown: ShownToWave = { fact_ids: [], question_ids: [], decision: null };

function findReason(
  consumption: Consumption,
  shown: ShownToWave,
  cause: StaleCause,
): string | null {
  const own = waveSource(consumption.wave, consumption.delegation_id);
  switch (cause.type) {
    case 'fact': {
      const { fact_id, superseded_by } = cause.fact;
      const isConsumed = cause.by !== own && isBuiltOn(cause.fact, consumption, shown);
      return isConsumed ? `${fact_id} is superseded by ${superseded_by}` : null;
    }
    case 'answer': {
      const known = [...shown.question_ids, ...consumption.question_ids];
      return known.includes(cause.question_id)
        ? `the answer to ${cause.question_id} was changed`
        : null;
    }
    case 'input':
    case 'replaced':
      return findNewer(consumption, cause);
  }
}

function isBuiltOn(
  { fact_id, source_refs }: Pick<Fact, 'fact_id' | 'source_refs'>,
  { inputs }: Consumption,
  shown: ShownToWave,
): boolean {
  const sources = [shown.decision, ...inputs.map(({ source }) => source)];
  return shown.fact_ids.includes(fact_id) || sources.includes(source_refs[0] ?? fact_id);
}

/** Why an output that was consumed is not the newest any more. */
function findNewer(
  consumption: Consumption,
  cause: Extract<StaleCause, { type: 'input' | 'replaced' }>,
): string | null {
  const { source, by } = cause;
  if (cause.type === 'replaced') {
    return isOutdated(consumption, cause) ? `${source} is replaced by ${by}` : null;
  }
  const own = waveSource(consumption.wave, consumption.delegation_id);
  const isConsumed = consumption.inputs.some(
    (one) => one.name === cause.name && one.source === source,
  );
  return isConsumed && by !== own ? `"${cause.name}" of ${source} is replaced by ${by}` : null;
}

function isOutdated(
  { wave, delegation_id, inputs }: Consumption,
  { source, by, made_from }: Extract<StaleCause, { type: 'replaced' }>,
): boolean {
  const own = waveSource(wave, delegation_id);
  const isTaken = own === by || made_from.includes(own);
  return !isTaken && inputs.some((one) => one.source === source);
}

type Marked = Map<string, StaleDelegation>;

function mark(marked: Marked, { delegation_id, wave }: Consumption, reason: string): void {
  const before = marked.get(delegation_id);
  if (before === undefined) {
    marked.set(delegation_id, { delegation_id, wave, reasons: [reason], redone_by: null });
    return;
  }
  if (before.redone_by !== null || before.reasons.includes(reason)) return;
  const reasons = [...before.reasons, reason].slice(0, engineLimits.staleReasonsMax);
  marked.set(delegation_id, { ...before, reasons });
}

/** What was built on a stale output is stale, until nothing is added any more. */
function spread(marked: Marked, consumptions: readonly Consumption[]): void {
  for (let before = -1; before !== marked.size;) {
    before = marked.size;
    const sources = new Set(
      [...marked.values()].map(({ wave, delegation_id }) => waveSource(wave, delegation_id)),
    );
    for (const consumption of consumptions) {
      const input = consumption.inputs.find(({ source }) => sources.has(source));
      if (input !== undefined && !marked.has(consumption.delegation_id)) {
        mark(marked, consumption, `it builds on ${input.source}, which is stale`);
      }
    }
  }
}

/** By wave, then by id in the order of code units: the same everywhere. */
function compareWaves(a: StaleDelegation, b: StaleDelegation): number {
  if (a.wave !== b.wave) return a.wave - b.wave;
  return a.delegation_id < b.delegation_id ? -1 : 1;
}
