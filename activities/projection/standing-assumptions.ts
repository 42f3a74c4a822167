import type { Fact } from '../../contracts/fact.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { normaliseText } from '../../core/text/cut-text.ts';

/** Assumptions that nothing superseded, each statement once: the newest, because it knows most. */
export function standingAssumptions(record: RunRecord): readonly Fact[] {
  const standing = record.facts.filter((fact) => fact.is_assumption && fact.superseded_by === null);
  const newest = new Map(standing.map((fact) => [normaliseText(fact.statement), fact]));
  return standing.filter((fact) => newest.get(normaliseText(fact.statement)) === fact);
}
