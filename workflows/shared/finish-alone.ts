import type { PlannerRunResult, RunStatus } from '../../contracts/planner-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';
import { isDone } from '../../core/criteria/criteria.ts';
import { explainCriteria } from './explain-criteria.ts';
import type { RootHost } from './root-host.ts';

/** Records and ends a wave or a delegation that was started by hand, as a run of one wave. */
export async function finishAlone(host: RootHost, wave: WaveResult): Promise<PlannerRunResult> {
  host.takeWave(wave);
  return host.finish(statusOf(wave), explainCriteria(wave.outcomes));
}

function statusOf(wave: WaveResult): RunStatus {
  if (wave.status === 'stopped' || wave.status === 'abandoned') return wave.status;
  return isDone(wave.criteria) ? 'completed' : 'finished_unmet';
}
