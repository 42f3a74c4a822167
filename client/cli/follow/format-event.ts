import { describeQuestion } from '../ask/ask-in-terminal.ts';
import { cleanLine, cleanLines, cleanText, renderTable, type Paint } from '../terminal-text.ts';
import { countCells, describeStages } from '../../../core/render/labels.ts';
import {
  countOf,
  formatCost,
  formatTokens,
  formatUsage,
  commandText,
} from '../../../core/text/format.ts';
import type { FollowEvent, RunEndedEvent } from './follow-event.ts';
import {
  describeDelegation,
  describeDone,
  describeTask,
  describeWavePhase,
  leaderStates,
  phaseTone,
} from './render-tree.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { EndEvent, LeaderEvent, TeamEvent } from '../../team-event.ts';

type ShownEvent = FollowEvent | Exclude<TeamEvent, { type: 'text' }>;

/**
 * Words an event of a run or a team for people, in lines. What a model writes is put together before: see
 * `createTeamPrinter`.
 */
export function formatEvent(event: ShownEvent, paint: Paint): string[] {
  if (isOnlyOfTeam(event)) return formatTeamEvent(event, paint);
  if (isStep(event)) return [formatStep(event)];
  switch (event.type) {
    case 'phase':
      return formatPhase(event, paint);
    case 'delegation':
      return [formatDelegation(event, paint)];
    case 'task':
      return [`wave ${event.wave}: ${describeTask(event.task, paint)}`];
    case 'question':
      return [...describeQuestion(event.question, paint), `  answer with: ${event.command}`];
    case 'question_urged':
      return describeQuestion(event.question, paint).slice(0, 2);
    case 'question_closed':
      return [
        `${cleanLine(event.question_id)} is ${event.answered ? 'answered' : 'no longer open'}`,
      ];
    case 'notice':
      return [paint('attention', cleanLine(event.text))];
    case 'ended':
      return formatEnd(event, paint);
  }
  return [];
}

type OnlyOfTeam = Extract<TeamEvent, { type: 'leader' | 'answer' | 'error' | 'end' }>;

function isOnlyOfTeam(event: ShownEvent): event is OnlyOfTeam {
  return ['leader', 'answer', 'error', 'end'].includes(event.type);
}

function formatTeamEvent(event: OnlyOfTeam, paint: Paint): string[] {
  switch (event.type) {
    case 'leader':
      return formatLeader(event, paint);
    case 'answer':
      return ['', ...cleanText(event.text).trimEnd().split('\n'), ''];
    case 'error':
      return formatError(event.message, paint);
    case 'end':
      return formatTeamEnd(event, paint);
  }
  return [];
}

type Step = Extract<FollowEvent, { type: 'stages' | 'wave' | 'wave_done' }>;

function isStep(event: ShownEvent): event is Step {
  return ['stages', 'wave', 'wave_done'].includes(event.type);
}

function formatStep(event: Step): string {
  switch (event.type) {
    case 'stages':
      return `design: ${describeStages(event.stages)}`;
    case 'wave':
      return formatWave(event);
    case 'wave_done':
      return `wave ${event.summary.wave}: ${describeDone(event.summary)}`;
  }
}

function formatWave(event: Extract<FollowEvent, { type: 'wave' }>): string {
  const summary = event.summary === null ? '' : ` · ${cleanLine(event.summary, 200)}`;
  return `wave ${event.wave}: ${describeWavePhase(event)}${summary}`;
}

function formatPhase(event: Extract<FollowEvent, { type: 'phase' }>, paint: Paint): string[] {
  const phase = paint(phaseTone(event.phase), event.phase.replaceAll('_', ' '));
  const waits = event.waiting_for.map((wait) => cleanLine(wait, 160)).join('; ');
  const { evaluation } = event;
  const cells = evaluation === undefined ? [] : [countCells(evaluation)];
  return [`run: ${[phase, ...cells, ...(waits === '' ? [] : [waits])].join(' · ')}`];
}

function formatEnd(event: RunEndedEvent, paint: Paint): string[] {
  const { run_id, status, reason, result } = event;
  const isDone = status === 'completed';
  const [why, ...more] = cleanLines(reason);
  const head = `run ${cleanLine(run_id)}: ${paint(isDone ? 'good' : 'bad', status.replaceAll('_', ' '))}`;
  if (result === null) {
    // Whoever typed a bad input reads its faults one a line.
    const told = more.map((line) => `  ${line}`);
    return [why === undefined ? head : `${head} · ${why}`, ...told, ...formatAnswer(event, paint)];
  }
  const unmet = result.criteria.filter((criterion) => criterion.state === 'open');
  const waves = countOf(result.waves, 'wave');
  return [
    `${head} · ${waves} · ${formatUsage(result.usage)}`,
    ...(why === undefined ? [] : [`  ${why}`]),
    ...unmet.map(({ criterion_id, reason: whyNot }) => {
      return `  not met: ${cleanLine(criterion_id)} · ${cleanLine(whyNot, 200)}`;
    }),
    ...formatAnswer(event, paint),
  ];
}

/** The answer itself, then where it is whole and where the rest is. */
function formatAnswer(
  { run_id, answer, result_path, report_path }: RunEndedEvent,
  paint: Paint,
): string[] {
  const text = cleanText(answer).trimEnd();
  return [
    ...(text === '' ? [] : ['', ...text.split('\n'), '']),
    ...(result_path === null ? [] : [`result: ${cleanLine(result_path)}`]),
    ...(report_path === null ? [] : [`report: ${cleanLine(report_path)}`]),
    // Without files, the command is the way to them.
    ...(report_path === null && text === ''
      ? []
      : [paint('quiet', `show both with: ${commandText('report', run_id)} --full`)]),
  ];
}

const reasonCharactersMax = 300;

function formatError(message: string, paint: Paint): string[] {
  const [why = '', ...more] = cleanLines(message);
  return [paint('bad', `error: ${why}`), ...more.map((line) => `  ${line}`)];
}

/** A task without the team that everything is below: `d1`, and `d2.d1` in a nested team. Empty for the outermost team. */
export function shortName(delegationId: string): string {
  return cleanLine(delegationId.split('.').slice(1).join('.'));
}

function formatLeader(event: LeaderEvent, paint: Paint): string[] {
  const { delegation_id, state, turn, given, refused } = event;
  const name = ['leader', shortName(delegation_id)].filter(Boolean).join(' ');
  const tasks = `gave out ${countOf(given, 'task')}`;
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

function formatDelegation(
  event: Extract<FollowEvent | TeamEvent, { type: 'delegation' }>,
  paint: Paint,
): string {
  if (!('delegation' in event)) return describeTask(event, paint, shortName(event.delegation_id));
  return `wave ${event.wave}: ${describeDelegation({ ...event.delegation, activity: null }, paint)}`;
}

function formatTeamEnd(event: EndEvent, paint: Paint): string[] {
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

/** Renders the costs of leader and members, and their sum. Empty where the end does not have them. */
function formatCosts({ usage, leader, members }: EndEvent): string[] {
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
