import type { WaveSummary } from '../../../contracts/planner-run.ts';
import type {
  DelegationState,
  ExecutorView,
  TaskView,
  TeamView,
  TriadPhaseView,
} from '../../../contracts/views.ts';
import { cleanLine, cutToColumns, wrapToColumns, type Paint, type Tone } from '../terminal-text.ts';
import { describePosition, describeVerification } from '../../../core/render/labels.ts';
import {
  countOf,
  formatCost,
  formatTokens,
  formatTurns,
  formatUsage,
} from '../../../core/text/format.ts';
import {
  usageOf,
  type DelegationSnapshot,
  type RunSnapshot,
  type WaveSnapshot,
} from './read-snapshot.ts';
import { describeActivity, describeStageCall } from './describe-activity.ts';
import { teamViewOf, triadViewOf } from '../../../core/executor.ts';

const goalCharactersMax = 100;
const titleCharactersMax = 60;
const reasonCharactersMax = 160;
/** Finished waves shown one by one; older ones are counted in one line, so that the tree fits a screen. */
const doneWavesMax = 5;

/**
 * The run as a tree: waves, their delegations, what each does and has cost, and what waits for the user.
 *
 * @param columns Width of the terminal, to which branches are cut. What a person has to read is never cut. Default: none.
 */
export function renderTree(
  snapshot: RunSnapshot,
  paint: Paint,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const { run, status } = snapshot;
  const look = { paint, columns };
  const cut = (line: string): string => cutToColumns(line, columns);
  const goal = cleanLine(status?.goal ?? run.goal, goalCharactersMax);
  return [
    cut(`${paint('strong', cleanLine(run.run_id))} · ${goal}`),
    ...wrapToColumns(headline(snapshot, paint), columns),
    ...(snapshot.note === null ? [] : [paint('attention', snapshot.note)]),
    ...withBranches([
      ...doneWaves(snapshot, look),
      ...currentWave(snapshot, look),
      ...snapshot.stage_calls.map((call) => ({ line: describeStageCall(call), children: [] })),
    ]).map(cut),
    ...waits(snapshot).flatMap((wait) => wrapToColumns(paint('attention', wait), columns)),
  ];
}

function headline(snapshot: RunSnapshot, paint: Paint): string {
  const { run, status } = snapshot;
  if (status === null) {
    const parts = [
      (run.phase ?? run.execution).replaceAll('_', ' '),
      ...(run.wave === null ? [] : [`wave ${run.wave}`]),
    ];
    return paint('quiet', parts.join(' · '));
  }
  const phase = paint(phaseTone(status.phase), status.phase.replaceAll('_', ' '));
  const used = formatUsage(usageOf(status, snapshot.wave));
  return [phase, describePosition(status), used].filter((part) => part !== '').join(' · ');
}

export function phaseTone(phase: string): Tone {
  if (phase === 'completed') return 'good';
  if (phase === 'failed' || phase === 'parked') return 'bad';
  return phase === 'waiting_for_user' || phase === 'paused' ? 'attention' : 'strong';
}

function waits({ status, run }: RunSnapshot): string[] {
  return (status?.waiting_for ?? run.waiting_for).map((wait) =>
    cleanLine(wait, reasonCharactersMax),
  );
}

interface Look {
  readonly paint: Paint;
  readonly columns: number;
}

function doneWaves({ done, wave: followed }: RunSnapshot, look: Look): TreeNode[] {
  const shown = done.slice(-doneWavesMax);
  const hidden = done.length - shown.length;
  return [
    ...(hidden > 0 ? [{ line: `${hidden} earlier waves`, children: [] }] : []),
    ...shown.map((wave) => ({
      line: `wave ${wave.wave} · ${describeDone(wave)}`,
      children: followed?.wave === wave.wave ? describeDelegations(followed, look) : [],
    })),
  ];
}

export function describeDone(wave: WaveSummary): string {
  const counts = [
    `${wave.completed} completed`,
    ...(wave.failed > 0 ? [`${wave.failed} failed`] : []),
    ...(wave.skipped > 0 ? [`${wave.skipped} skipped`] : []),
  ];
  const criteria = `${wave.criteria_met} criteria met, ${wave.criteria_open} open`;
  return `done · ${counts.join(', ')} · ${criteria} · ${formatUsage(wave.usage)}`;
}

function currentWave({ wave, done, plan_summary }: RunSnapshot, look: Look): TreeNode[] {
  if (wave === null || done.some((other) => other.wave === wave.wave)) return [];
  const summary = plan_summary === null ? '' : ` · ${cleanLine(plan_summary, goalCharactersMax)}`;
  return [
    {
      line: `wave ${wave.wave} · ${describeWavePhase(wave)}${summary}`,
      children: describeDelegations(wave, look),
    },
  ];
}

const wavePhases: Readonly<Record<WaveSnapshot['phase'], string>> = {
  planning: 'the planner plans',
  dispatching: 'agents work',
  deciding: 'the planner decides',
  done: 'done',
};

export function describeWavePhase(wave: Pick<WaveSnapshot, 'phase'>): string {
  return wavePhases[wave.phase];
}

function describeDelegations({ delegations }: WaveSnapshot, look: Look): TreeNode[] {
  return delegations.map((delegation) => ({
    line: describeDelegation(delegation, look.paint, look.columns - branchesBefore),
    children: taskNodes(delegation.team_view, look.paint),
  }));
}

/** Mark and tone of a delegation or a team's task in each state. */
export const stateMarks: Readonly<Record<DelegationState, readonly [string, Tone]>> = {
  pending: ['○', 'quiet'],
  running: ['●', 'strong'],
  waiting: ['?', 'attention'],
  resuming: ['●', 'attention'],
  completed: ['✓', 'good'],
  failed: ['✗', 'bad'],
  timed_out: ['✗', 'bad'],
  skipped: ['–', 'quiet'],
  stopped: ['■', 'quiet'],
};

/** Columns that the branches of a tree take before a delegation. */
const branchesBefore = 6;

/**
 * Shows cost and current action first, because a narrow terminal cuts the end.
 *
 * @param columns Room of the line: the title is shortened until the state has room too. If undefined: no limit.
 */
export function describeDelegation(
  delegation: DelegationSnapshot,
  paint: Paint,
  columns = Number.POSITIVE_INFINITY,
): string {
  const { delegation_id, title, state, reason, activity, triad_phase, team_view } = delegation;
  const { rule_of_two, verification } = delegation;
  const [mark, tone] = stateMarks[state];
  const who = `${cleanLine(delegation_id)} (${describeExecutor(delegation)})`;
  const room = columns - `${mark} ${who}  · ${state} …`.length;
  const name = cleanLine(title, Math.min(titleCharactersMax, Math.max(12, room)));
  const head = `${paint(tone, mark)} ${who}`;
  const { turns, cost } = listUse(delegation);
  const [first, use, last] =
    activity === null
      ? [[`${head} ${name}`, paint(tone, state)], [...turns, ...cost], []]
      : [
          [head, paint(tone, state), ...cost, paint('quiet', describeActivity(activity))],
          turns,
          [name],
        ];
  return [
    ...first,
    ...(triad_phase === null ? [] : [describeTriadPhase(triad_phase)]),
    ...(team_view === null ? [] : [describeTeam(team_view)]),
    ...(verification === undefined ? [] : [cleanLine(describeVerification(verification))]),
    ...use,
    ...(reason === '' ? [] : [describeReason(state, reason)]),
    ...(rule_of_two === undefined ? [] : ['each change needs your approval']),
    ...last,
  ].join(' · ');
}

function listUse({ usage }: DelegationSnapshot): Readonly<Record<'turns' | 'cost', string[]>> {
  if (usage === null || usage.calls === 0) return { turns: [], cost: [] };
  return { turns: [countOf(usage.calls, 'turn'), formatTokens(usage)], cost: [formatCost(usage)] };
}

function describeExecutor({ agent_id, executor }: DelegationSnapshot): string {
  switch (executor.kind) {
    case 'agent':
      return cleanLine(agent_id);
    case 'triad':
      return `${cleanLine(executor.type)} triad`;
    case 'team':
      return executor.team_id === null ? 'team' : `team ${cleanLine(executor.team_id)}`;
  }
}

/** Before its end, a delegation's reason is what it lacks. */
function describeReason(state: DelegationState, reason: string): string {
  const text = cleanLine(reason, reasonCharactersMax);
  return state === 'pending' || state === 'waiting' ? `needs ${text}` : text;
}

/** Newest tasks of a team that are shown one by one, so that the tree fits a screen. */
const tasksMax = 12;

/** The tasks of a team, those of a team among its members below. */
function taskNodes(team: TeamView | null, paint: Paint): TreeNode[] {
  const tasks = team?.tasks ?? [];
  const shown = tasks.slice(-tasksMax);
  const hidden = tasks.length - shown.length;
  return [
    ...(hidden > 0 ? [{ line: `${hidden} earlier tasks`, children: [] }] : []),
    ...shown.map((task) => ({
      line: describeTask(task, paint),
      children: taskNodes(teamViewOf(task.executor), paint),
    })),
  ];
}

/** `leader thinks, 3 of 10 tasks, 1 call refused, 42 of 300 s`. */
export function describeTeam(team: TeamView): string {
  const { leader, tasks, max_delegations, refused_total, worked_seconds, timeout } = team;
  return [
    `leader ${leaderStates[leader.state]}`,
    `${tasks.length} of ${max_delegations} tasks`,
    ...(refused_total === 0 ? [] : [`${countOf(refused_total, 'call')} refused`]),
    `${Math.round(worked_seconds)} of ${timeout} s`,
  ].join(', ');
}

export const leaderStates: Readonly<Record<TeamView['leader']['state'], string>> = {
  opening: 'starts',
  thinking: 'thinks',
  waiting_for_members: 'waits for its members',
  waiting_for_user: 'waits for the user',
  done: 'is done',
};

/** A task as a view or an event has it. */
type ShownTask = Omit<TaskView, 'executor_id' | 'executor' | 'turns'> & {
  readonly executor?: ExecutorView;
  /** Phase of a triad at work, where the rest of its view is not known. */
  readonly phase?: string | null;
};

/** A task of a team in one line. @param name If undefined: its id. */
export function describeTask(task: ShownTask, paint: Paint, name?: string): string {
  const { delegation_id, member_id, title, state, reason, attempts, usage, executor } = task;
  const triad = triadViewOf(executor);
  const team = teamViewOf(executor);
  const [mark, tone] = stateMarks[state];
  const isAtWork = state === 'running' || state === 'waiting';
  const phase = triad === null ? task.phase : describeTriadPhase(triad);
  return [
    `${paint(tone, mark)} ${name ?? cleanLine(delegation_id)} (${cleanLine(member_id)}) ${cleanLine(title, titleCharactersMax)}`,
    paint(tone, state.replaceAll('_', ' ')),
    ...(isAtWork && phase ? [phase] : []),
    ...(team === null ? [] : [describeTeam(team)]),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    ...(usage.calls > 0 ? [formatTurns(usage)] : []),
    ...(reason === '' ? [] : [cleanLine(reason, reasonCharactersMax)]),
  ].join(' · ');
}

/** `negotiate, round 2 of 3: critic`. */
function describeTriadPhase({ phase, round, rounds_max, at_work }: TriadPhaseView): string {
  const names = at_work.map((name) => cleanLine(name)).join(', ');
  const where = `${cleanLine(phase)}${round === 0 ? '' : `, round ${round} of ${rounds_max}`}`;
  return names === '' ? where : `${where}: ${names}`;
}

/** A line of a tree and what stands below it. */
interface TreeNode {
  readonly line: string;
  readonly children: readonly TreeNode[];
}

/** A tree as lines, with branches drawn before them. */
function withBranches(nodes: readonly TreeNode[]): string[] {
  return nodes.flatMap(({ line, children }, index) => {
    const isLast = index === nodes.length - 1;
    const below = withBranches(children).map((one) => `${isLast ? '   ' : '│  '}${one}`);
    return [`${isLast ? '└─' : '├─'} ${line}`, ...below];
  });
}
