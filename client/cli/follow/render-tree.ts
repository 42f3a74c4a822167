import type { WaveSummary } from '../../../contracts/planner-run.ts';
import type { DelegationState } from '../../../contracts/views.ts';
import type { ActivityReading } from '../../delegation-reading.ts';
import { cleanLine } from '../terminal-text.ts';
import { formatTurns, formatUsage } from '../../../core/text/format.ts';
import type { Paint, Tone } from '../terminal-text.ts';
import { describeTeam, describeTriadPhase, taskNodes } from './render-team-tree.ts';
import { withBranches } from './tree-node.ts';
import type { TreeNode } from './tree-node.ts';
import { usageOf } from './run-snapshot.ts';
import type { DelegationSnapshot, RunSnapshot, WaveSnapshot } from './run-snapshot.ts';

const goalCharactersMax = 100;
const titleCharactersMax = 60;
const reasonCharactersMax = 160;
const lastWordsCharactersMax = 60;
/** Finished waves shown one by one; older ones are counted in one line, so that the tree fits a screen. */
const doneWavesMax = 5;

/** The run as a tree: waves, their delegations, what each does and has cost, and what waits for the user. */
export function renderTree(snapshot: RunSnapshot, paint: Paint): string[] {
  const { run, status } = snapshot;
  const goal = cleanLine(status?.goal ?? run.goal, goalCharactersMax);
  return [
    `${paint('strong', cleanLine(run.run_id))} · ${goal}`,
    headline(snapshot, paint),
    ...(snapshot.note === null ? [] : [paint('attention', snapshot.note)]),
    ...withBranches([...doneWaves(snapshot, paint), ...currentWave(snapshot, paint)]),
    ...waits(snapshot).map((wait) => paint('attention', wait)),
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
  const position = status.wave > 0 ? ` · wave ${status.wave} of ${status.waves_allowed}` : '';
  const phase = paint(phaseTone(status.phase), status.phase.replaceAll('_', ' '));
  return `${phase}${position} · ${formatUsage(usageOf(status, snapshot.wave))}`;
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

function doneWaves({ done, wave: followed }: RunSnapshot, paint: Paint): TreeNode[] {
  const shown = done.slice(-doneWavesMax);
  const hidden = done.length - shown.length;
  return [
    ...(hidden > 0 ? [{ line: `${hidden} earlier waves`, children: [] }] : []),
    ...shown.map((wave) => ({
      line: `wave ${wave.wave} · ${describeDone(wave)}`,
      children: followed?.wave === wave.wave ? describeDelegations(followed, paint) : [],
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

function currentWave({ wave, done, plan_summary }: RunSnapshot, paint: Paint): TreeNode[] {
  if (wave === null || done.some((other) => other.wave === wave.wave)) return [];
  const summary = plan_summary === null ? '' : ` · ${cleanLine(plan_summary, goalCharactersMax)}`;
  return [
    {
      line: `wave ${wave.wave} · ${describeWavePhase(wave)}${summary}`,
      children: describeDelegations(wave, paint),
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

function describeDelegations({ delegations }: WaveSnapshot, paint: Paint): TreeNode[] {
  return delegations.map((delegation) => ({
    line: describeDelegation(delegation, paint),
    children: taskNodes(delegation.team_view, paint),
  }));
}

const marks: Readonly<Record<DelegationState, readonly [string, Tone]>> = {
  pending: ['○', 'quiet'],
  running: ['●', 'strong'],
  waiting: ['?', 'attention'],
  resuming: ['●', 'attention'],
  completed: ['✓', 'good'],
  failed: ['✗', 'bad'],
  skipped: ['–', 'quiet'],
  stopped: ['■', 'quiet'],
};

export function describeDelegation(delegation: DelegationSnapshot, paint: Paint): string {
  const [mark, tone] = marks[delegation.state];
  const { delegation_id, title, state, usage, reason, activity, triad_phase, team_view } =
    delegation;
  const parts = [
    `${paint(tone, mark)} ${cleanLine(delegation_id)} (${describeExecutor(delegation)}) ${cleanLine(title, titleCharactersMax)}`,
    paint(tone, state),
    ...(triad_phase === null ? [] : [describeTriadPhase(triad_phase)]),
    ...(team_view === null ? [] : [describeTeam(team_view)]),
    ...(usage !== null && usage.calls > 0 ? [formatTurns(usage)] : []),
    ...(reason === '' ? [] : [describeReason(state, reason)]),
    ...(activity === null ? [] : [paint('quiet', describeActivity(activity))]),
  ];
  return parts.join(' · ');
}

function describeExecutor({ agent_id, triad, team }: DelegationSnapshot): string {
  if (team !== undefined) return team === '' ? 'team' : `team ${cleanLine(team)}`;
  return triad === undefined ? cleanLine(agent_id) : `${cleanLine(triad)} triad`;
}

/** Before its end, a delegation's reason is what it lacks. */
function describeReason(state: DelegationState, reason: string): string {
  const text = cleanLine(reason, reasonCharactersMax);
  return state === 'pending' || state === 'waiting' ? `needs ${text}` : text;
}

/** The newest heartbeat in a few words. Its fields are the activity's own; what is missing is left out. */
export function describeActivity({ activity_type, attempt, heartbeat }: ActivityReading): string {
  const tokens = firstOf(heartbeat, ['output_tokens', 'outputTokens', 'tokens'], 'number');
  const words = firstOf(heartbeat, ['last_words', 'lastWords', 'text'], 'string');
  const parts = [
    cleanLine(activity_type),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(tokens === null || tokens === '0' ? [] : [`${tokens} tokens so far`]),
    ...(words === null || words === ''
      ? []
      : [`“…${cleanLine(words.slice(-lastWordsCharactersMax))}”`]),
  ];
  return parts.join(', ');
}

function firstOf(
  record: Readonly<Record<string, unknown>> | null,
  names: readonly string[],
  type: 'number' | 'string',
): string | null {
  for (const name of names) {
    const value = record?.[name];
    if (typeof value === type) return String(value);
  }
  return null;
}
