import type { PartOutcome, RunEnd } from '../run-end.ts';
import type { EndEvent, TeamEvent } from './team-event.ts';

/** The code of the ErrorEvent of a team that did not bring what it was to bring. */
const teamFailed = 'team_failed';

/** Endings that somebody wanted, so that they are no error. */
const wanted: readonly string[] = ['completed', 'stopped', 'cancelled'];

/** The last events of a stream, in their order: the error, the answer as far as there is one, the end. */
export function tellEnd(end: RunEnd): TeamEvent[] {
  if (end.ended === 'part') return tellOutcome(end.outcome);
  if (end.ended === 'result')
    return [{ ...noEnd, type: 'end', status: end.result.status, reason: '' }];
  const { ended: status, reason } = end;
  return [...errorOf(status, reason), { ...noEnd, type: 'end', status, reason }];
}

const noEnd: Omit<EndEvent, 'type' | 'status' | 'reason'> = {
  usage: null,
  leader: null,
  members: [],
  tasks: {},
  partial: false,
  notes: [],
};

function tellOutcome(outcome: PartOutcome): TeamEvent[] {
  if (!('delegation_id' in outcome))
    return [{ ...noEnd, type: 'end', status: outcome.status, reason: '' }];
  const { status, reason, usage, executor } = outcome;
  const team = executor.kind === 'team' ? executor.work : null;
  const answer = 'answer' in outcome ? outcome.answer : '';
  return [
    ...errorOf(status, reason),
    ...(answer === '' ? [] : [{ type: 'answer', text: answer } as const]),
    {
      ...noEnd,
      type: 'end',
      status,
      reason,
      usage,
      ...(team !== null && {
        leader: team.leader,
        members: team.members,
        tasks: team.tasks,
        partial: team.partial,
        notes: team.notes,
      }),
    },
  ];
}

function errorOf(status: string, reason: string): TeamEvent[] {
  if (wanted.includes(status)) return [];
  return [{ type: 'error', code: teamFailed, message: reason || `The team ended ${status}.` }];
}
