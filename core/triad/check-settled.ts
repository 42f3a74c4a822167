/**
 * Checks that a triad's output calls no criterion met that depends on a section without agreement.
 *
 * Invariants:
 *   CS1. A criterion is unmet while a section that carries it has no owner or is disputed.
 *   CS2. A section carries the criteria that it names; without any, the criterion with its id; otherwise all criteria
 *        of the delegation.
 */
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { SpecSection } from '../../contracts/triad.ts';
import { findUnsettled } from '../spec/read-spec.ts';
import { listNames } from '../text/list-names.ts';
import { listCarried } from './list-sections.ts';

/** Sections and criteria of a delegation. */
export interface PlannedSections {
  readonly sections: readonly Omit<SpecSection, 'text'>[];
  readonly criterion_ids: readonly string[];
}

export function checkSettled(
  { coverage }: Pick<AgentOutputOutline, 'coverage'>,
  spec: SpecState,
  { sections, criterion_ids }: PlannedSections,
): OutputFault[] {
  const unsettled = findUnsettled(spec).map((id) => ({
    id,
    carried: listCarried(
      sections.find(({ section_id }) => section_id === id) ?? { section_id: id },
      criterion_ids,
    ),
  }));
  return coverage.criteria_met.flatMap(({ criterion_id }, i) => {
    const disputed = unsettled.filter(({ carried }) => carried.includes(criterion_id));
    if (disputed.length === 0) return [];
    const names = listNames(disputed.map(({ id }) => id));
    return [
      {
        path: `coverage.criteria_met[${i}].criterion_id`,
        reason: `the triad did not agree on ${disputed.length === 1 ? 'section' : 'sections'} ${names}, and the criterion rests on ${disputed.length === 1 ? 'it' : 'them'}`,
        hint: 'Try: move it to criteria_unmet and say there what is disputed',
      },
    ];
  });
}
