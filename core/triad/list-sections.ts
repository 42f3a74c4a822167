import type { Delegation } from '../../contracts/delegation.ts';
import type { Passable } from '../../contracts/agent-output.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { SpecSection } from '../../contracts/triad.ts';
import { findUnsettled } from '../spec/read-spec.ts';

/** Lists the sections that a plan gives a triad: its own, or one for each criterion. */
export function listSections({
  triad,
  acceptance_criteria,
}: Pick<Delegation, 'triad' | 'acceptance_criteria'>): readonly SpecSection[] {
  return (
    triad?.sections ??
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

/** Returns the plan's text for a section; empty when there is no such section. */
export function findPlannedText(
  delegation: Pick<Delegation, 'triad' | 'acceptance_criteria'>,
  sectionId: string,
): string {
  return listSections(delegation).find(({ section_id }) => section_id === sectionId)?.text ?? '';
}
