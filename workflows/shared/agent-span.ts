import type { TaskStatus } from '../../contracts/team-run.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import type { SpanAttributes, SpanEnd, SpanStart } from './in-span.ts';

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
