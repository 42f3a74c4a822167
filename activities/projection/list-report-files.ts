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
type Done = Pick<TaskRecord, 'delegation_id' | 'plan_ref' | 'executor'>;

/**
 * How a triad or a team came to its output, and how those among its members did. Written when each of them ends
 * (`recordPhase`, `recordTeam`), so no change of the record makes them differ.
 */
export function listReportFiles(done: Done): readonly ProjectedFile[] {
  const { delegation_id, executor } = done;
  if (executor.kind === 'agent' || executor.work === null) return [];
  return executor.kind === 'triad'
    ? listPhaseFiles(done, executor.work)
    : [teamFile(delegation_id, executor.work.report_ref)];
}

function listPhaseFiles(
  { delegation_id, plan_ref }: Done,
  triad: TriadOutcome,
): readonly ProjectedFile[] {
  return newestPhases(triad).map(({ phase, report_ref }) => ({
    path: treePaths.triadPhase(delegation_id, phase),
    needs: { plans: [plan_ref], phases: [report_ref] },
    changesWith: () => false,
    render: ({ phases, plans }) =>
      renderPhase(textOf(phases, report_ref), findPlanned(delegation_id, textOf(plans, plan_ref))),
  }));
}

/** Of each phase the last attempt. */
function newestPhases({ phases }: TriadOutcome): TriadOutcome['phases'] {
  return [...new Map(phases.map((one) => [one.phase, one])).values()];
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
