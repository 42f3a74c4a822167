import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord } from '../../contracts/team-run.ts';
import type { TriadOutcome } from '../../contracts/triad-run.ts';
import { findPlanned } from './find-planned.ts';
import { treePaths } from './paths.ts';
import type { ProjectedFile } from './projected-file.ts';
import { textOf } from './record-texts.ts';
import { renderPhase } from './render-phase.ts';
import { renderTeam } from './render-team.ts';

/** A delegation, or a task of a team, that is over. */
type Done = Pick<TaskRecord, 'delegation_id' | 'plan_ref' | 'triad' | 'team'>;

/**
 * How a triad or a team came to its output, and how those among its members did. Written when each of them ends
 * (`recordPhase`, `recordTeam`), so no change of the record makes them differ.
 */
export function listReportFiles(done: Done): readonly ProjectedFile[] {
  const { delegation_id, team } = done;
  return [
    ...listPhaseFiles(done),
    ...(team === undefined ? [] : [teamFile(delegation_id, team.report_ref)]),
  ];
}

function listPhaseFiles({ delegation_id, plan_ref, triad }: Done): readonly ProjectedFile[] {
  return newestPhases(triad).map(({ phase, report_ref }) => ({
    path: treePaths.triadPhase(delegation_id, phase),
    needs: { plans: [plan_ref], phases: [report_ref] },
    changesWith: () => false,
    render: ({ phases, plans }) =>
      renderPhase(textOf(phases, report_ref), findPlanned(delegation_id, textOf(plans, plan_ref))),
  }));
}

/** Of each phase the last attempt. */
function newestPhases(triad: TriadOutcome | undefined): TriadOutcome['phases'] {
  return [...new Map(triad?.phases.map((one) => [one.phase, one])).values()];
}

function teamFile(delegationId: string, reportRef: Ref): ProjectedFile {
  return {
    path: treePaths.team(delegationId),
    needs: { teams: [reportRef] },
    changesWith: () => false,
    render: ({ teams }) => renderTeam(textOf(teams, reportRef), delegationId),
    below: ({ teams }) => textOf(teams, reportRef).tasks.flatMap(listReportFiles),
  };
}
