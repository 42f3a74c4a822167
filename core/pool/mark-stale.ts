/**
 * Marks finished work whose basis has changed: a superseded fact, a changed answer or a replaced output.
 *
 * Invariants:
 *   ST1. Exactly those delegations are stale that consumed what changed, and those that consumed the output of a stale
 *        one.
 *   ST2. The delegation that caused the change is not made stale by it, nor is one whose own question the change answered,
 *        nor are those from which a replacement was made.
 *   ST3. A redone delegation is marked as such, and is not marked stale again.
 *   ST4. Marking twice equals marking once, and the order of causes does not change which delegations are stale.
 *   ST5. A redo may read what it redoes, and is not made stale by it.
 */
import type { Consumption, ShownToWave, StaleDelegation } from '../../contracts/run-record.ts';
import type { StaleCause } from '../../contracts/run-log.ts';
import { waveSource } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import type { Fact } from '../../contracts/agent-output.ts';

/** Consumption edges between delegations. */
export interface Edges {
  /** Listed in the order of waves. */
  readonly consumptions: readonly Consumption[];
  readonly shown: ReadonlyMap<number, ShownToWave>;
}

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

/** Marks redone delegations. @param redone Maps a stale delegation_id to the one that redid it. */
export function markRedone(
  stale: readonly StaleDelegation[],
  redone: ReadonlyMap<string, string>,
): readonly StaleDelegation[] {
  return stale.map((one) => ({
    ...one,
    redone_by: one.redone_by ?? redone.get(one.delegation_id) ?? null,
  }));
}

/**
 * Returns the first stale delegations, up to the limit that a planner may choose from. The others follow when these are
 * done.
 */
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
      const isKnown = cause.by === own || consumption.question_ids.includes(cause.by);
      const isConsumed = !isKnown && isBuiltOn(cause.fact, consumption, shown);
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

/** Explains why a consumed output is no longer the newest; null when it still is. */
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

/** Marks delegations that were built on a stale output, until none is added. */
function spread(marked: Marked, consumptions: readonly Consumption[]): void {
  for (let before = -1; before !== marked.size;) {
    before = marked.size;
    const sources = new Map(
      [...marked.values()].map((one) => [waveSource(one.wave, one.delegation_id), one]),
    );
    for (const consumption of consumptions) {
      const input = consumption.inputs.find(({ source }) => {
        const stale = sources.get(source);
        return stale !== undefined && !isRedoneBy(stale, consumption.delegation_id, marked);
      });
      if (input !== undefined && !marked.has(consumption.delegation_id)) {
        mark(marked, consumption, `it builds on ${input.source}, which is stale`);
      }
    }
  }
}

/** Returns true if a delegation redid this one, or what redid it. */
function isRedoneBy({ redone_by }: StaleDelegation, id: string, marked: Marked): boolean {
  if (redone_by === null || redone_by === id) return redone_by === id;
  const next = marked.get(redone_by);
  return next !== undefined && isRedoneBy(next, id, marked);
}

/** Compares by wave, then by id in code units, which is the same on every machine. */
function compareWaves(a: StaleDelegation, b: StaleDelegation): number {
  if (a.wave !== b.wave) return a.wave - b.wave;
  return a.delegation_id < b.delegation_id ? -1 : 1;
}
