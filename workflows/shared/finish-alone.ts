import type { RunAnswer, RunStatus } from '../../contracts/planner-run.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';
import { isDone } from '../../core/criteria/criteria.ts';
import { explainCriteria } from './explain-criteria.ts';
import { settleChanges } from './settle-changes.ts';
import type { RootHost } from './root-host.ts';

/**
 * Records and ends a wave or a delegation that was started by hand, as a run of one wave.
 *
 * @returns what it returns beside its own outcome.
 */
export async function finishAlone(host: RootHost, wave: WaveResult): Promise<RunAnswer> {
  host.takeWave(wave);
  await settleChanges(host, statusOf(wave));
  const ended = await host.finish(statusOf(wave), explainCriteria(wave.outcomes));
  const { answer, result_path, report_path } = ended;
  return { answer, result_path, report_path };
}

function statusOf(wave: WaveResult): RunStatus {
  if (wave.status === 'stopped' || wave.status === 'abandoned') return wave.status;
  const isOver = isDone(wave.criteria) || wave.outcomes.some(isHandedOver);
  return isOver ? 'completed' : 'finished_unmet';
}

/** A phase of a triad that was started alone is done with a summary; the criteria are for the phases after it. */
export function isHandedOver({ status, output_ref }: DelegationOutcome): boolean {
  return status === 'completed' && output_ref === null;
}
