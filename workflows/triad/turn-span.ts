import type { TurnBrief } from '../../contracts/member-turn.ts';
import { agentSpan, workEnd } from '../shared/agent-span.ts';
import type { SpanEnd, SpanStart } from '../shared/in-span.ts';
import type { TurnEnd } from './take-turn.ts';

/** One turn of a member of a triad. */
export function turnSpan({ member, round }: TurnBrief): SpanStart {
  return agentSpan(member.agent_id, {
    'planwave.member': member.name,
    'planwave.role': member.role,
    'planwave.round': round,
  });
}

export function turnSpanEnd(end: TurnEnd): SpanEnd {
  switch (end.type) {
    case 'finished':
      return workEnd('completed', null);
    case 'failed':
      return workEnd('failed', end.why);
    case 'denied':
      return workEnd('failed', 'budget_spent');
    case 'stopped':
    case 'halted':
      return workEnd('stopped', null);
  }
}
