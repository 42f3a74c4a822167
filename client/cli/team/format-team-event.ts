import type { Usage } from '../../../contracts/usage.ts';
import type { DelegationEvent, EndEvent, LeaderEvent, TeamEvent } from '../../team/team-event.ts';
import { describeQuestion } from '../ask/describe-question.ts';
import { cleanLine, cleanLines, cleanText, renderTable } from '../terminal-text.ts';
import { formatCost } from '../../../core/text/format.ts';
import { formatTokens, formatTurns } from '../../../core/text/format.ts';
import type { Paint } from '../terminal-text.ts';
import { taskMarks } from '../text/task-marks.ts';

const reasonCharactersMax = 300;
const titleCharactersMax = 60;

/** The lines that word an event of a team for people. What is written is put together before: see `createTeamPrinter`. */
export function formatTeamEvent(
  event: Exclude<TeamEvent, { type: 'text' }>,
  paint: Paint,
): string[] {
  switch (event.type) {
    case 'leader':
      return formatLeader(event, paint);
    case 'delegation':
      return [formatDelegation(event, paint)];
    case 'question':
      return [...describeQuestion(event.question, paint), `  answer with: ${event.command}`];
    case 'answer':
      return ['', ...cleanText(event.text).trimEnd().split('\n'), ''];
    case 'notice':
      return [paint('attention', cleanLine(event.text))];
    case 'error':
      return formatError(event.message, paint);
    case 'end':
      return formatEnd(event, paint);
  }
  return [];
}

function formatError(message: string, paint: Paint): string[] {
  const [why = '', ...more] = cleanLines(message);
  return [paint('bad', `error: ${why}`), ...more.map((line) => `  ${line}`)];
}

/** A task without the team that everything is below: `d1`, and `d2.d1` in a nested team. Empty for the outermost team. */
export function shortName(delegationId: string): string {
  return cleanLine(delegationId.split('.').slice(1).join('.'));
}

const leaderStates: Readonly<Record<LeaderEvent['state'], string>> = {
  opening: 'the team comes together',
  thinking: 'thinks',
  waiting_for_members: 'waits for its members',
  waiting_for_user: 'waits for the user',
  done: 'is done',
};

function formatLeader(event: LeaderEvent, paint: Paint): string[] {
  const { delegation_id, state, turn, given, refused } = event;
  const name = ['leader', shortName(delegation_id)].filter(Boolean).join(' ');
  const tasks = `gave out ${given} ${given === 1 ? 'task' : 'tasks'}`;
  const parts = [
    paint('strong', name),
    ...(given > 0 ? [tasks] : []),
    leaderStates[state],
    ...(turn > 0 ? [`turn ${turn}`] : []),
  ];
  return [
    parts.join(' · '),
    ...refused.map(({ member_id, reason }) =>
      paint(
        'attention',
        `  refused: ${cleanLine(member_id)} · ${cleanLine(reason, reasonCharactersMax)}`,
      ),
    ),
  ];
}

function formatDelegation(event: DelegationEvent, paint: Paint): string {
  const { delegation_id, member_id, title, state, reason, attempts, phase, usage } = event;
  const [mark, tone] = taskMarks[state];
  const parts = [
    `${paint(tone, mark)} ${shortName(delegation_id)} (${cleanLine(member_id)}) ${cleanLine(title, titleCharactersMax)}`,
    paint(tone, state.replaceAll('_', ' ')),
    ...(phase === null ? [] : [phase]),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    ...(usage.calls > 0 ? [formatTurns(usage)] : []),
    ...(reason === '' ? [] : [cleanLine(reason, reasonCharactersMax)]),
  ];
  return parts.join(' · ');
}

function formatEnd(event: EndEvent, paint: Paint): string[] {
  const { status, reason, partial, notes } = event;
  const state = paint(status === 'completed' ? 'good' : 'bad', status.replaceAll('_', ' '));
  // Faults of the input, line by line, stand in the error before.
  const [first = '', ...more] = cleanLines(reason);
  const why = first === '' || more.length > 0 ? '' : ` · ${cleanLine(first, reasonCharactersMax)}`;
  return [
    `team: ${state}${partial ? ' · partial: it holds less than was asked for' : ''}${why}`,
    ...notes.map((note) => paint('quiet', `  ${cleanLine(note, reasonCharactersMax)}`)),
    ...formatCosts(event).map((line) => `  ${line}`),
  ];
}

/** What leader and members cost, and all together. Nothing where the end does not tell. */
export function formatCosts({ usage, leader, members }: EndEvent): string[] {
  if (usage === null || leader === null) return [];
  return renderTable(
    ['who', 'tasks', 'calls', 'tokens', 'cost'],
    [
      costRow('leader', '', leader.usage),
      ...members.map((member) =>
        costRow(cleanLine(member.member_id), String(member.delegations), member.usage),
      ),
      costRow('together', '', usage),
    ],
  );
}

function costRow(who: string, tasks: string, usage: Usage): string[] {
  return [who, tasks, String(usage.calls), formatTokens(usage), formatCost(usage)];
}
