import type { Fact } from '../../contracts/fact.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { normaliseValue } from '../../core/pool/normalise-fact.ts';
import { normaliseText } from '../../core/text/cut-text.ts';

/** Assumptions that nothing superseded, each key or statement once: the newest, because it knows most. */
export function standingAssumptions(record: RunRecord): readonly Fact[] {
  const standing = record.facts.filter((fact) => fact.is_assumption && fact.superseded_by === null);
  const newest = new Map(standing.map((fact) => [identify(fact), fact]));
  return standing.filter((fact) => newest.get(identify(fact)) === fact);
}

function identify({ key, value, statement }: Fact): string {
  return key === null || value === null
    ? normaliseText(statement)
    : JSON.stringify([key, normaliseValue(value)]);
}
