import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import { dropReplaced, listReplaced } from '../schedule/dependencies.ts';

/** Completed delegation with its output. */
export interface Deliverable extends DelegationOutcome {
  readonly wave: number;
  readonly output_ref: Ref;
}

/** Lists completed delegations that have an output, in the order of waves and outcomes. */
export function listCompleted(record: RunRecord): readonly Deliverable[] {
  return record.waves.flatMap((wave) =>
    wave.outcomes.flatMap((outcome) =>
      outcome.status === 'completed' && outcome.output_ref !== null
        ? [{ ...outcome, output_ref: outcome.output_ref, wave: wave.wave }]
        : [],
    ),
  );
}

/** Lists completed delegations whose result a later one explicitly replaces, each with the newest of those. */
export function listSuperseded(
  record: RunRecord,
): readonly { readonly older: Deliverable; readonly newest: Deliverable }[] {
  const completed = listCompleted(record);
  const counting = dropReplaced(completed);
  return completed.flatMap((older) => {
    const newest = counting.find((one) =>
      listReplaced(one, completed).includes(older.delegation_id),
    );
    return newest === undefined ? [] : [{ older, newest }];
  });
}

/**
 * Lists what the run delivers: the completed delegations that nothing replaced. One is replaced when a completed delegation says
 * so, or when those of later waves speak on all of its criteria again, or produce everything again that it produces.
 */
export function listDeliverables(record: RunRecord): readonly Deliverable[] {
  const completed = dropReplaced(listCompleted(record));
  return completed.filter((one) => {
    const later = completed.filter((other) => other.wave > one.wave);
    return (
      !isCovered(criteriaOf(one), later.flatMap(criteriaOf)) &&
      !isCovered(
        one.produces,
        later.flatMap((other) => other.produces),
      )
    );
  });
}

function criteriaOf(outcome: DelegationOutcome): readonly string[] {
  return [...outcome.criteria_met, ...outcome.criteria_unmet];
}

/**
 * Returns true when all names are covered. An empty list is never covered: a delegation without criteria or products
 * can't be replaced by them.
 */
function isCovered(names: readonly string[], by: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => by.includes(name));
}

/** Phase of a triad that was started alone and is not its last: it hands over a summary and no output. */
export interface HandedOver {
  readonly delegation_id: string;
  readonly phase: TriadPhase;
  readonly report_ref: Ref;
}

export function findHandedOver(record: RunRecord): HandedOver | null {
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  const one = outcomes.find(
    ({ status, output_ref }) => status === 'completed' && output_ref === null,
  );
  const { executor } = one ?? {};
  const last = executor?.kind === 'triad' ? executor.work?.phases.at(-1) : undefined;
  if (one === undefined || last === undefined) return null;
  const { phase, report_ref } = last;
  return { delegation_id: one.delegation_id, phase, report_ref };
}
