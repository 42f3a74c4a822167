import { join } from 'node:path';
import type { RunEnd } from '../../run-end.ts';
import { exitCodes } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { RunEndedEvent } from './follow-event.ts';

/** @param artifactHome folder below which a worker on this machine writes, `PLANWAVE_HOME` */
export function toRunEndedEvent(runId: string, end: RunEnd, artifactHome: string): RunEndedEvent {
  if (end.ended === 'result') {
    const { result } = end;
    return {
      type: 'ended',
      run_id: runId,
      status: result.status,
      reason: '',
      result,
      result_path: join(artifactHome, result.result_path),
    };
  }
  return {
    type: 'ended',
    run_id: runId,
    status: end.ended,
    reason: end.reason,
    result: null,
    result_path: null,
  };
}

/** Input that the run refused is the caller's mistake, whenever it is found. */
export function exitCodeOfEnd(end: RunEnd): ExitCode {
  if (end.ended === 'result') {
    return end.result.status === 'completed' ? exitCodes.ok : exitCodes.unmet;
  }
  return end.type === 'InvalidInput' ? exitCodes.badInput : exitCodes.unmet;
}
