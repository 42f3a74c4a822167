import { join } from 'node:path';
import type { RunAnswer } from '../../../contracts/planner-run.ts';
import type { RunEnd } from '../../run-end.ts';
import type { RunListing } from '../../run-listing.ts';
import { exitCodes } from '../cli-error.ts';
import type { ExitCode } from '../cli-error.ts';
import type { RunEndedEvent } from './follow-event.ts';

/** @param artifactHome folder below which a worker on this machine writes, `PLANWAVE_HOME` */
export function toRunEndedEvent(
  { run_id, phase }: RunListing,
  end: RunEnd,
  artifactHome: string,
): RunEndedEvent {
  const ended = { type: 'ended', run_id, reason: '', result: null } as const;
  if (end.ended === 'result') {
    const { result } = end;
    return { ...ended, status: result.status, result, ...placeAnswer(result, artifactHome) };
  }
  if (end.ended === 'part') {
    const { outcome } = end;
    const answer = 'answer' in outcome ? placeAnswer(outcome, artifactHome) : noAnswer;
    const reason = 'reason' in outcome ? outcome.reason : '';
    return { ...ended, status: phase ?? outcome.status, reason, ...answer };
  }
  return { ...ended, status: end.ended, reason: end.reason, ...noAnswer };
}

type PlacedAnswer = Pick<RunEndedEvent, 'answer' | 'result_path' | 'report_path'>;

const noAnswer: PlacedAnswer = { answer: '', result_path: null, report_path: null };

function placeAnswer(
  { answer, result_path, report_path }: RunAnswer,
  artifactHome: string,
): PlacedAnswer {
  return {
    answer,
    result_path: join(artifactHome, result_path),
    report_path: join(artifactHome, report_path),
  };
}

/** Input that the run refused is the caller's mistake, whenever it is found. */
export function exitCodeOfEnd(end: RunEnd, event: RunEndedEvent): ExitCode {
  if (end.ended === 'result' || end.ended === 'part') {
    return event.status === 'completed' ? exitCodes.ok : exitCodes.unmet;
  }
  return end.type === 'InvalidInput' ? exitCodes.badInput : exitCodes.unmet;
}
