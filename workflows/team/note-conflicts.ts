import { isEffectOf } from '../../core/ids.ts';
import type { TeamTask } from '../../core/team/team-state.ts';
import { describeTaskConflicts } from '../../core/workspace/merge-conflicts.ts';
import { stepSummary } from '../../core/render/labels.ts';
import { findMergeConflicts } from '../shared/activities.ts';
import { untilDone } from '../shared/until-done.ts';
import { knownEffects } from './team-at-work.ts';
import type { TeamAtWork } from './team-at-work.ts';

/** Notes in the records of ended tasks that they and other tasks of the team changed the same lines. */
export async function noteConflicts(t: TeamAtWork, ended: readonly TeamTask[]): Promise<void> {
  const { entries } = t.state.tasks;
  const effects = knownEffects(t);
  const acted = entries.filter(({ delegation_id: id }) =>
    effects.some((one) => isEffectOf(id, one.effect_id) || one.effect_id.startsWith(`${id}.`)),
  );
  const { run_id, record_ref, delegation } = t.context.order;
  const { delegation_id: team } = delegation;
  const sides = acted.length + (effects.some((one) => isEffectOf(team, one.effect_id)) ? 1 : 0);
  // One side alone has nothing to contradict.
  if (sides < 2 || !acted.some((one) => ended.some((task) => isSame(task, one)))) return;
  const { conflicts } = await untilDone(
    () =>
      findMergeConflicts.executeWithOptions({ summary: stepSummary(team, 'merge the changes') }, [
        { run_id, record_ref, completed: [], team },
      ]),
    (reason) => t.own.superior.park(reason),
  );
  for (const [id, text] of describeTaskConflicts(conflicts, ended, entries)) {
    const record = t.records.get(id);
    if (record === undefined) continue;
    const reason = record.reason === '' ? text : `${record.reason}\n${text}`;
    t.records.set(id, { ...record, reason });
  }
}

function isSame(one: TeamTask, other: Pick<TeamTask, 'delegation_id'>): boolean {
  return one.delegation_id === other.delegation_id;
}
