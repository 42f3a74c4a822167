import type { TeamSeat } from '../../contracts/team-run.ts';
import { namePath } from '../../core/ids.ts';
import { agentSpan } from '../shared/agent-span.ts';
import type { SpanStart } from '../shared/in-span.ts';

/** One attempt at a task of a team. @param attempt From 1. */
export function taskSpan(delegationId: string, seat: TeamSeat, attempt: number): SpanStart {
  const { member_id, agent_id } = seat;
  const { kind } = seat.executor;
  const attributes = {
    'planwave.task': namePath(delegationId),
    'planwave.member': member_id,
    'planwave.kind': kind,
    'planwave.attempt': attempt,
  };
  if (kind === 'agent') return agentSpan(agent_id, attributes);
  return {
    name: `invoke_workflow ${member_id}`,
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': member_id,
      ...attributes,
    },
  };
}
