/** Folds what a design, or a judgement of the work on its plan, has come to. */
import type { Adaptation } from '../../contracts/adaptation.ts';
import type { RecordedDesign } from '../../contracts/design-run.ts';
import type { EventOf } from '../../contracts/run-log.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { addUsage, noUsage } from '../usage/add-usage.ts';
import { sumUsage } from './fold-wave.ts';
import { addPlannedCriteria } from './record-criteria.ts';

export function foldDesign(record: RunRecord, event: EventOf<'designed'>): RunRecord {
  const { progress, adaptation, tasks, plan_agents } = event;
  const before: RecordedDesign = record.design ?? undesigned;
  const { status, approved_by, usage, findings } = progress;
  const isDuringWork = adaptation !== undefined;
  const design: RecordedDesign = {
    ...before,
    status,
    materials: [...before.materials, ...progress.materials],
    plan_refs: [...before.plan_refs, ...progress.plan_refs],
    plan_agents: plan_agents ?? before.plan_agents,
    findings,
    approved_by: isDuringWork ? (approved_by ?? before.approved_by) : approved_by,
    usage: isDuringWork ? addUsage(before.usage, usage) : usage,
    ...listAdaptations(before, adaptation ?? null),
  };
  const criteria = addPlannedCriteria(record.criteria, tasks);
  return { ...record, design, criteria, usage: sumUsage({ ...record, design }) };
}

const undesigned: RecordedDesign = {
  status: 'designing',
  materials: [],
  plan_refs: [],
  plan_agents: [],
  findings: [],
  approved_by: null,
  usage: noUsage,
};

function listAdaptations(
  { adaptations = [] }: RecordedDesign,
  added: Adaptation | null,
): Pick<RecordedDesign, 'adaptations'> {
  return added === null ? {} : { adaptations: [...adaptations, added] };
}
