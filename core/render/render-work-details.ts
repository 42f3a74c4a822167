import type {
  DelegationStatusView,
  DelegationView,
  ExecutorView,
  TaskView,
  TeamLeaderView,
  TeamView,
  TriadPhaseView,
  WaveView,
} from '../../contracts/views.ts';
import { engineLimits } from '../limits.ts';
import { countOf, formatCost, formatTokens } from '../text/format.ts';
import { bullet, codeSpan, joinBlocks, joinLines, plainText } from '../text/markdown.ts';
import { describeExecutor, describeVerification } from './labels.ts';
import { describeSize } from '../workspace/run-changes.ts';
import type { ChangeSize } from '../../contracts/effect.ts';

/**
 * The page of a delegation in Temporal's Web UI.
 *
 * Invariants:
 *   DD1. The page begins with what the delegation waits for, if it waits.
 */

/** Content of a delegation's page. */
type DelegationDetails = Omit<DelegationStatusView, 'delegation_id'>;

/** Returns Markdown for Temporal's current details. */
export function renderDelegationDetails(view: DelegationDetails): string {
  const waits = plainText(view.waiting_for, 1_000);
  return joinBlocks(
    [
      waits === '' ? '' : `## Waiting\n\n${waits}`,
      `## ${plainText(view.title, 120)}`,
      [
        bullet(`**State:** ${view.state}`),
        describeDoer(view),
        ...(view.verification === undefined
          ? []
          : [bullet(`**Verification:** ${describeVerification(view.verification)}`)]),
        bullet(
          `**Used:** ${formatCost(view.usage)} · ${formatTokens(view.usage)}${withoutPhases(view)}`,
        ),
      ].join('\n'),
      ...executorBlocks(view.executor),
    ],
    engineLimits.detailsBytesMax,
  );
}

function withoutPhases({ phases_at_work = [] }: DelegationDetails): string {
  if (phases_at_work.length === 0) return '';
  return `, without the ${phases_at_work.length === 1 ? 'phase' : 'phases'} at work`;
}

function describeDoer({ agent_id, turn, executor }: DelegationDetails): string {
  if (executor.kind === 'agent') {
    return bullet(`**Agent:** ${plainText(agent_id, 60)} · turn ${turn}`);
  }
  return bullet(`**Done by:** ${describeExecutor({ agent_id, executor })} · ${turn} model calls`);
}

/** Shows what a triad or a team does; nothing for one agent, or before it begins. */
export function executorBlocks(executor: ExecutorView): string[] {
  if (executor.kind === 'agent' || executor.view === null) return [];
  return executor.kind === 'triad' ? phaseBlocks(executor.view) : teamBlocks(executor.view);
}

/**
 * The page of a triad's phase in Temporal's Web UI.
 *
 * Invariants:
 *   PD1. It says which phase and round it is and who is at work; what it waits for comes first.
 *   PD2. Every section is listed with owner and state, and every claim that there is room for.
 *
 * Markdown for Temporal's current details. @param waitingFor The question it waits for; empty for none.
 */
export function renderPhaseDetails(view: TriadPhaseView, waitingFor: string): string {
  const waits = plainText(waitingFor, 1_000);
  return joinBlocks(
    [waits === '' ? '' : `## Waiting\n\n${waits}`, ...phaseBlocks(view)],
    engineLimits.detailsBytesMax,
  );
}

/** A phase as blocks of Markdown, for its own page and its delegation's. */
function phaseBlocks(view: TriadPhaseView): string[] {
  const { type, phase, state, round, rounds_max, at_work } = view;
  const names = at_work.map((name) => plainText(name, 60)).join(', ');
  const claims = view.claims.map(renderClaim);
  const blocks = joinLines(claims);
  const isAtWork = state === 'running';
  return [
    round === 0 ? `## ${phase}` : `## ${phase} · round ${round} of ${rounds_max}`,
    [
      bullet(`**State:** ${state}`),
      bullet(`**Triad:** ${type}`),
      ...(isAtWork && round > 0 ? [bullet(`**At work:** ${names === '' ? 'nobody' : names}`)] : []),
      ...(isAtWork && round === 0 ? [bullet('Round and members: on the page of the phase')] : []),
    ].join('\n'),
    '### Sections',
    view.sections.map(renderSection).join('\n'),
    ...(blocks.length === 0 ? [] : ['### Claims', ...blocks]),
  ];
}

function renderSection(section: TriadPhaseView['sections'][number]): string {
  const { section_id, owner, status, version } = section;
  const whose = owner === null ? 'nobody owns it' : `owned by ${plainText(owner, 60)}`;
  return bullet(`${codeSpan(section_id, 60)} · ${status} · ${whose} · version ${version}`);
}

function renderClaim(claim: TriadPhaseView['claims'][number]): string {
  const { claim_id, section_id, member, revision, state } = claim;
  return bullet(
    `${codeSpan(claim_id, 30)} on ${codeSpan(section_id, 60)} · by ${plainText(member, 60)} · revision ${revision} · ${state}`,
  );
}

/**
 * Renders a team as part of its delegation's page in Temporal's Web UI.
 *
 * Invariants:
 *   TJ1. The page begins with what waits for whom.
 *   TJ2. Each task that there is room for is listed with state, member, attempts and cost; tasks of a nested team stand
 *        below their task.
 */

/** Most tasks that are named as awaited or waiting. The list of tasks has all of them. */
const waitsMax = 10;

export function teamBlocks(view: TeamView): string[] {
  const lines = view.tasks.flatMap((task) => taskLines(task, 0));
  const blocks = joinLines(lines);
  return [
    ...waitBlocks(view),
    '## Team',
    headLines(view).join('\n'),
    ...(blocks.length === 0 ? [] : ['### Tasks', ...blocks]),
    ...refusedBlocks(view),
    ...(view.notes.length === 0
      ? []
      : [`### Notes\n\n${view.notes.map((note) => bullet(plainText(note, 300))).join('\n')}`]),
  ];
}

function waitBlocks({ leader, tasks }: TeamView): string[] {
  const open = tasks.filter(({ state }) => ['pending', 'running', 'waiting'].includes(state));
  const waiting = open.filter(({ state, reason }) => state !== 'running' && reason !== '');
  const names = open.slice(0, waitsMax).map(nameOf);
  const more = open.length > waitsMax ? ` and ${open.length - waitsMax} more` : '';
  const lines = [
    ...(leader.state === 'waiting_for_members' && open.length > 0
      ? [bullet(`The leader waits for ${names.join(', ')}${more}`)]
      : []),
    ...(leader.state === 'waiting_for_user' ? [bullet('The leader waits for an answer')] : []),
    ...waiting
      .slice(0, waitsMax)
      .map((task) => bullet(`${nameOf(task)} waits: ${plainText(task.reason, 300)}`)),
  ];
  return lines.length === 0 ? [] : [`## Who waits\n\n${lines.join('\n')}`];
}

function nameOf({ delegation_id, member_id }: TaskView): string {
  return `${codeSpan(delegation_id, 130)} of ${plainText(member_id, 60)}`;
}

function headLines(view: TeamView): string[] {
  const { team_id, leader, tasks, max_delegations, worked_seconds, timeout } = view;
  return [
    ...(team_id === null ? [] : [bullet(`**Name:** ${plainText(team_id, 60)}`)]),
    bullet(`**Leader:** ${describeLeader(leader)}`),
    bullet(`**Tasks:** ${tasks.length} of at most ${max_delegations}`),
    bullet(`**Time:** ${Math.round(worked_seconds)} of at most ${timeout} s of work`),
  ];
}

function describeLeader({ agent_id, state, turns, usage }: TeamLeaderView): string {
  const said = countOf(turns, 'turn');
  return `${plainText(agent_id, 60)} · ${state.replaceAll('_', ' ')} · ${said} · ${formatCost(usage)}`;
}

function taskLines(task: TaskView, level: number): string[] {
  const { delegation_id, member_id, title, state, reason, attempts, usage, executor } = task;
  const team = executor.kind === 'team' ? executor.view : null;
  const parts = [
    `**${state.replaceAll('_', ' ')}**`,
    plainText(title, 80),
    codeSpan(delegation_id, 130),
    plainText(member_id, 60),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    formatCost(usage),
    ...describeWork(executor),
    ...(reason === '' ? [] : [plainText(reason, 200)]),
  ];
  return [
    `${'  '.repeat(level)}${bullet(parts.join(' · '))}`,
    ...(team?.tasks.flatMap((one) => taskLines(one, level + 1)) ?? []),
  ];
}

/** Describes the progress of a triad or a team that does the task. */
function describeWork(executor: ExecutorView): string[] {
  if (executor.kind === 'agent' || executor.view === null) return [];
  return executor.kind === 'triad'
    ? [`${executor.type} triad, ${executor.view.phase}`]
    : [`team, its leader: ${executor.view.leader.state.replaceAll('_', ' ')}`];
}

function refusedBlocks({ refused, refused_total }: TeamView): string[] {
  if (refused_total === 0) return [];
  const lines = refused.map(({ member_id, reason }) =>
    bullet(`${codeSpan(member_id, 60)} · ${plainText(reason, 300)}`),
  );
  return [`### Calls that were not carried out: ${refused_total}\n\n${lines.join('\n')}`];
}

/**
 * The page of a wave in Temporal's Web UI.
 *
 * Invariants:
 *   WD1. Every delegation is listed with its state; one that does not work says what it waits for or why it ended.
 *   WD2. It has at most `detailsBytesMax` bytes.
 *
 * Returns Markdown for Temporal's current details.
 */
export function renderWaveDetails(view: WaveView): string {
  const lines = view.delegations.map((one) =>
    renderDelegation(
      one,
      view.changes?.find(({ delegation_id }) => delegation_id === one.delegation_id),
    ),
  );
  const blocks = joinLines(lines);
  return joinBlocks(
    [
      `## Wave ${view.wave}: ${view.phase}`,
      describeCounts(view.delegations),
      ...blocks,
      `${formatCost(view.usage)} · ${formatTokens(view.usage)}${withoutWork(view.at_work.length)}`,
    ],
    engineLimits.detailsBytesMax,
  );
}

function withoutWork(atWork: number): string {
  if (atWork === 0) return '';
  return `, without the ${atWork === 1 ? 'one' : atWork} at work`;
}

function renderDelegation(d: DelegationView, change: ChangeSize | undefined): string {
  const changed = change === undefined ? '' : ` · ${describeSize(change)}`;
  const turn = d.turn === undefined ? '' : ` · turn ${d.turn}`;
  const guard = d.rule_of_two === undefined ? '' : ' · each change needs your approval';
  const verified = d.verification === undefined ? '' : ` · ${describeVerification(d.verification)}`;
  const reason = d.reason === '' ? '' : ` · ${plainText(d.reason, 300)}`;
  return bullet(
    `**${d.state}** · ${plainText(d.title, 80)} · ${codeSpan(d.delegation_id, 60)} · ${describeExecutor(d)}${turn}${verified}${changed}${guard}${reason}`,
  );
}

/** `2 running, 1 waiting, 3 completed`, in the order of first appearance. */
function describeCounts(delegations: readonly DelegationView[]): string {
  const counts = new Map<string, number>();
  for (const { state } of delegations) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}
