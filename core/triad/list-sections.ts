import type { AgentOutputOutline, Passable } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { SpecState } from '../../contracts/spec.ts';
import { findUnsettled } from '../spec/read-spec.ts';
import { listNames } from '../text/list-names.ts';
import type { SpecSection } from '../../contracts/triad.ts';

type PlannedSpec = Pick<Delegation, 'executor' | 'acceptance_criteria'>;

/** The spec that a plan gives a triad: one section for each criterion where it names none of its own. */
export function listSections({
  executor,
  acceptance_criteria,
}: PlannedSpec): readonly SpecSection[] {
  return (
    (executor.kind === 'triad' ? executor.sections : undefined) ??
    acceptance_criteria.map(({ criterion_id, description }) => ({
      section_id: criterion_id,
      text: description,
    }))
  );
}

/**
 * Lists the criteria that can't be met while a section is disputed: those that it names, otherwise the one with its id,
 * otherwise all of the delegation.
 *
 * @param criterionIds Criteria of the delegation.
 */
export function listCarried(
  { section_id, criterion_ids }: Omit<SpecSection, 'text'>,
  criterionIds: readonly string[],
): readonly string[] {
  if (criterion_ids !== undefined) return criterion_ids;
  return criterionIds.includes(section_id) ? [section_id] : criterionIds;
}

/**
 * Lists the parts that a triad's output may pass on: the agreed sections under one name, or nothing when none is
 * agreed.
 */
export function listPassable(spec: SpecState): Passable[] {
  const unsettled = findUnsettled(spec);
  const sections = spec.sections.flatMap(({ section_id, text_ref, language }) =>
    text_ref === null || unsettled.includes(section_id) ? [] : [{ section_id, text_ref, language }],
  );
  return sections.length === 0 ? [] : [{ type: 'sections', names: ['sections'], sections }];
}

/** Finds the planned text of a section; empty if there is no such section. */
export function findPlannedText(delegation: PlannedSpec, sectionId: string): string {
  return listSections(delegation).find(({ section_id }) => section_id === sectionId)?.text ?? '';
}

/**
 * Checks that a triad's output calls no criterion met that depends on a section without agreement.
 *
 * Invariants:
 *   CS1. A criterion is unmet while a section that carries it has no owner or is disputed.
 *   CS2. A section carries the criteria that it names; without any, the criterion with its id; otherwise all criteria
 *        of the delegation.
 */

/** Sections and criteria of a delegation. */
interface PlannedSections {
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
