import type { DelegationState, DelegationView } from '../../../contracts/views.ts';
import type { DelegationReading } from '../../delegation-reading.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import { ifFound } from './if-found.ts';
import type { DelegationSnapshot } from './run-snapshot.ts';

/** Adds what a delegation spends and does to its view. One that has ended is read once more and never again. */
export interface DelegationMemory {
  complete(view: DelegationView): Promise<DelegationSnapshot>;
}

export function createDelegationMemory(client: PlanwaveClient): DelegationMemory {
  const readings = new Map<string, DelegationReading>();
  const settled = new Set<string>();

  const refresh = async ({ workflow_id, state }: DelegationView): Promise<void> => {
    if (unstarted.has(state) || settled.has(workflow_id)) return;
    const reading = await ifFound(client.delegation(workflow_id));
    if (reading === null) return;
    const before = readings.get(workflow_id);
    readings.set(workflow_id, before === undefined ? reading : keepTold(before, reading));
    if (ended.has(state)) settled.add(workflow_id);
  };

  return {
    async complete(view) {
      await refresh(view);
      const known = readings.get(view.workflow_id);
      const [activity = null] = ended.has(view.state) ? [] : (known?.activities ?? []);
      const triad_phase = ended.has(view.state) ? null : (known?.triad ?? null);
      const team_view = known?.team ?? null;
      return { ...view, usage: known?.usage ?? null, triad_phase, team_view, activity };
    },
  };
}

/** What no worker told this time is as it was told before. */
function keepTold(before: DelegationReading, now: DelegationReading): DelegationReading {
  return {
    ...now,
    usage: now.usage ?? before.usage,
    triad: now.triad ?? before.triad,
    team: now.team ?? before.team,
  };
}

const unstarted: ReadonlySet<DelegationState> = new Set(['pending', 'skipped']);
const ended: ReadonlySet<DelegationState> = new Set(['completed', 'failed', 'stopped']);
