import { join } from 'node:path';
import type { RunEnd } from '../../run-end.ts';
import { exitCodes } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { RunEndedEvent } from './follow-event.ts';
import type { RunSnapshot } from './run-snapshot.ts';

/**
 * @param last How the run was seen last: where its result is, when it was started as a part of one.
 * @param artifactHome folder below which a worker on this machine writes, `PLANWAVE_HOME`
 */
export function toRunEndedEvent(
  { run, status }: Pick<RunSnapshot, 'run' | 'status'>,
  end: RunEnd,
  artifactHome: string,
): RunEndedEvent {
  const { run_id } = run;
  if (end.ended === 'result') {
    const { result } = end;
    return {
      type: 'ended',
      run_id,
      status: result.status,
      reason: '',
      result,
      result_path: join(artifactHome, result.result_path),
    };
  }
  if (end.ended === 'part') {
    const { outcome } = end;
    const path = status?.result_path ?? null;
    return {
      type: 'ended',
      run_id,
      status: run.phase ?? outcome.status,
      reason: 'reason' in outcome ? outcome.reason : '',
      result: null,
      result_path: path === null ? null : join(artifactHome, path),
    };
  }
  return {
    type: 'ended',
    run_id,
    status: end.ended,
    reason: end.reason,
    result: null,
    result_path: null,
  };
}

/** Input that the run refused is the caller's mistake, whenever it is found. */
export function exitCodeOfEnd(end: RunEnd, event: RunEndedEvent): ExitCode {
  if (end.ended === 'result' || end.ended === 'part') {
    return event.status === 'completed' ? exitCodes.ok : exitCodes.unmet;
  }
  return end.type === 'InvalidInput' ? exitCodes.badInput : exitCodes.unmet;
}
