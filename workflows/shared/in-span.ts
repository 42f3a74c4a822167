import type { TaskStatus } from '../../contracts/team-run.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import { metricMeter } from '@temporalio/workflow';
import { createRecorder } from '../../core/metrics/create-recorder.ts';

/** Ids, enums and counts, by the names of OpenTelemetry's conventions or with the prefix `planwave.`. No text of anybody. */
type SpanAttributes = Readonly<Record<string, string | number>>;

export interface SpanStart {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

export interface SpanEnd {
  readonly attributes: SpanAttributes;
  readonly isFailure: boolean;
}

/** Does the work in a span of its own, which is above the spans of all that the work calls. */
type RunInSpan = <T>(
  start: SpanStart,
  work: () => Promise<T>,
  endOf: (result: T) => SpanEnd,
) => Promise<T>;

declare global {
  /** Put there by the interceptors of a traced bundle. Each workflow has globals of its own. */
  var planwaveRunInSpan: RunInSpan | undefined;
}

/**
 * Does the work, in a span where the worker traces. Either way the promise is the work's own: a step between it and who
 * waits for it would be felt by replay.
 */
export function inSpan<T>(
  start: SpanStart,
  work: () => Promise<T>,
  endOf: (result: T) => SpanEnd,
): Promise<T> {
  const { planwaveRunInSpan: run } = globalThis;
  return run === undefined ? work() : run(start, work, endOf);
}

/** Names the span of a working agent by the conventions for generative AI. */
export function agentSpan(agent_id: string, attributes: SpanAttributes): SpanStart {
  return {
    name: `invoke_agent ${agent_id}`,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent_id,
      ...attributes,
    },
  };
}

/** Describes the end of the work. @param why Reason for metrics; null when it is unknown, or the work did not fail. */
export function workEnd(status: TaskStatus, why: FailureReason | null): SpanEnd {
  const isFailure = status === 'failed' || status === 'timed_out';
  return {
    attributes: {
      'planwave.status': status,
      ...(isFailure && { 'error.type': why ?? status }),
    },
    isFailure,
  };
}

/** Records metrics from workflow code. Silent on replay, so nothing is counted twice; no command, no event in history. */
export const recorder = createRecorder(metricMeter);
