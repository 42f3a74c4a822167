import type {
  DelegationStatusView,
  RunWavesView,
  StatusView,
  WaveView,
  DelegationView,
  TeamView,
  TriadPhaseView,
  DelegationState,
  OpenQuestion,
} from '../../../contracts/views.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import type { Reading } from '../../read-view.ts';
import type { RunListing } from '../../run-listing.ts';
import { describeStuck } from '../../stuck-workflows.ts';
import type { WaveSummary } from '../../../contracts/planner-run.ts';
import type { AnsweredQuestion, RejectedAnswer } from '../../../contracts/question.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { ActivityReading, DelegationReading } from '../../read-work.ts';
import { addUsage } from '../../../core/usage/add-usage.ts';
import { isWholeUsage } from '../../usage-now.ts';
import { withoutView } from '../../../core/executor.ts';
import { ifFound } from '../../client-error.ts';

/** Reads a run again and again, and asks a worker only for what can have changed. */
export interface SnapshotReader {
  read(): Promise<RunSnapshot>;
}

/** @param readsAnswers True to read the newest answers too, with a query at each read. */
export function createSnapshotReader(
  client: PlanwaveClient,
  runId: string,
  readsAnswers = false,
): SnapshotReader {
  let last: RunSnapshot | null = null;
  let wavesKey = '';
  let lastWaveId: string | null = null;
  const delegations = createDelegationMemory(client);

  /** The list of waves changes only with the run's position, and with the plan of the wave at work. */
  const readWaves = async (status: StatusView): Promise<Waves> => {
    // A delegation has no waves, and neither has a run before its first plan.
    if (status.wave === 0 || status.delegation !== undefined) return noWaves;
    const key = `${status.wave} ${status.wave_workflow_id ?? ''} ${status.phase}`;
    if (key === wavesKey && last !== null && last.plan_summary !== null) return last;
    const waves = await readRunWaves(client, runId);
    if (waves === 'itself') lastWaveId = runId;
    else if (waves !== null) wavesKey = key;
    return waves === null || waves === 'itself' ? (last ?? noWaves) : waves;
  };

  const readWave = async (waveWorkflowId: string | null): Promise<WaveSnapshot | null> => {
    if (waveWorkflowId === null) return null;
    // The wave before is counted by the run already.
    const known = waveWorkflowId === lastWaveId ? (last?.wave ?? null) : null;
    lastWaveId = waveWorkflowId;
    const reading = await ifFound(client.waveView(waveWorkflowId));
    const view = reading === null ? null : live(reading);
    if (view === null) return known;
    const complete = await Promise.all(view.delegations.map((one) => delegations.complete(one)));
    return { ...view, delegations: complete };
  };

  const readWork = (status: StatusView, id: string | null): Promise<WaveSnapshot | null> => {
    if (status.delegation !== undefined) return readPart(status.delegation, status, delegations);
    return readWave(id ?? (lastWaveId === runId ? runId : null));
  };

  /** The last states of what was followed. A worker that was not there before is not waited for. */
  const readClosed = async (run: RunListing): Promise<RunSnapshot> => {
    const known: RunSnapshot = { ...(last ?? nothingYet), ...nothingAtWork, run };
    const reading = known.status === null ? null : await client.status(runId);
    if (reading?.live !== true) return known;
    const status = reading.view;
    const [{ done, plan_summary }, wave, { answered }] = await Promise.all([
      readWaves(status),
      readWork(status, lastWaveId),
      readQuestions(client, last, runId, readsAnswers),
    ]);
    return { ...known, done, plan_summary, status, wave, answered };
  };

  return {
    async read() {
      const run = await client.describe(runId);
      if (run.execution !== 'running') {
        last = await readClosed(run);
        return last;
      }
      const reading = await client.status(runId);
      if (!reading.live) {
        last = { ...(last ?? nothingYet), run, status: null, note: reading.note, stage_calls: [] };
        return last;
      }
      const status = reading.view;
      const [{ done, plan_summary }, wave, asked, [stuck], stage_calls] = await Promise.all([
        readWaves(status),
        readWork(status, status.wave_workflow_id),
        readQuestions(client, last, runId, readsAnswers || status.open_questions > 0),
        client.stuck(runId),
        client.stageCalls(status),
      ]);
      const note = stuck === undefined ? null : describeStuck(stuck);
      last = { run, status, note, done, plan_summary, wave, stage_calls, ...asked };
      return last;
    },
  };
}

/** @returns null when no worker answers; `itself` when it is a wave that was started by hand. */
async function readRunWaves(
  client: PlanwaveClient,
  runId: string,
): Promise<Waves | 'itself' | null> {
  const view = live<RunWavesView | WaveView>(await client.waves(runId));
  if (view === null) return null;
  if ('delegations' in view) return 'itself';
  return { done: view.done, plan_summary: view.current?.summary ?? null };
}

/** Reads a part of a run that was started by hand, as a wave of one delegation. */
async function readPart(
  part: DelegationStatusView,
  { run_id, wave }: StatusView,
  delegations: DelegationMemory,
): Promise<WaveSnapshot> {
  const { delegation_id, agent_id, title, state, waiting_for: reason, usage, executor } = part;
  const who = { delegation_id, agent_id, title, depends_on: [] };
  const view = {
    ...who,
    executor: withoutView(executor),
    state,
    reason,
    workflow_id: run_id,
  };
  const complete = await delegations.complete(view);
  return {
    wave,
    phase: state === 'running' || state === 'waiting' ? 'dispatching' : 'done',
    delegations: [complete],
    usage: complete.usage ?? usage,
    at_work: [],
  };
}

type Waves = Pick<RunSnapshot, 'done' | 'plan_summary'>;

const noWaves: Waves = { done: [], plan_summary: null };

/** @param isDue False when no question waits, and answers are not wanted. What became of those that waited is read once more. */
async function readQuestions(
  client: PlanwaveClient,
  last: RunSnapshot | null,
  runId: string,
  isDue: boolean,
): Promise<Pick<RunSnapshot, 'questions' | 'answered' | 'rejected'>> {
  const { questions, answered, rejected } = last ?? nothingYet;
  if (!isDue && questions.length === 0) return { questions: [], answered, rejected };
  const view = live(await client.questions(runId));
  return view === null
    ? { questions, answered, rejected }
    : { questions: view.open, answered: view.answered, rejected: view.rejected };
}

const nothingAtWork: Pick<RunSnapshot, 'note' | 'questions' | 'stage_calls'> = {
  note: null,
  questions: [],
  stage_calls: [],
};

const nothingYet: Omit<RunSnapshot, 'run'> = {
  ...nothingAtWork,
  status: null,
  done: [],
  plan_summary: null,
  wave: null,
  answered: [],
  rejected: [],
};

function live<T>(reading: Reading<T>): T | null {
  return reading.live ? reading.view : null;
}

/** State of a run at one moment. */
export interface RunSnapshot {
  /** From the server, so it is there with every worker off. */
  readonly run: RunListing;
  /** Null when no worker answers; `note` then says why. */
  readonly status: StatusView | null;
  /** Set also when the run answers and one of its children is stuck. */
  readonly note: string | null;
  readonly done: readonly WaveSummary[];
  /** Summary of the current wave's plan, or null while it is being planned. */
  readonly plan_summary: string | null;
  readonly wave: WaveSnapshot | null;
  /** Model calls of the stages of a design at work. */
  readonly stage_calls: readonly ActivityReading[];
  readonly questions: readonly OpenQuestion[];
  /** The newest answers, as far as they were read. */
  readonly answered: readonly AnsweredQuestion[];
  /** The newest answers that the run refused, as far as they were read. */
  readonly rejected: readonly RejectedAnswer[];
}

export interface WaveSnapshot extends Omit<WaveView, 'delegations'> {
  readonly delegations: readonly DelegationSnapshot[];
}

/** All that the run has used as far as it was told, the wave at work too. */
export function usageOf(status: StatusView, wave: WaveSnapshot | null): Usage {
  if (wave === null || isWholeUsage(status)) return status.usage;
  const atWork = wave.delegations.filter((one) => wave.at_work.includes(one.delegation_id));
  return addUsage(status.usage, wave.usage, ...atWork.flatMap(({ usage }) => usage ?? []));
}

export interface DelegationSnapshot extends DelegationView {
  /** Null until a worker told it. */
  readonly usage: Usage | null;
  readonly triad_phase: TriadPhaseView | null;
  /** State of its team, or the last one, or null. */
  readonly team_view: TeamView | null;
  readonly activity: ActivityReading | null;
}

/** Adds what a delegation spends and does to its view. One that has ended is read once more and never again. */
interface DelegationMemory {
  complete(view: DelegationView): Promise<DelegationSnapshot>;
}

export function createDelegationMemory(client: PlanwaveClient): DelegationMemory {
  const readings = new Map<string, DelegationReading>();
  const settled = new Set<string>();

  const refresh = async (view: DelegationView): Promise<void> => {
    const { delegation_id: id, state } = view;
    if (unstarted.has(state) || settled.has(id)) return;
    const reading = await ifFound(client.delegation(view));
    if (reading === null) return;
    const before = readings.get(id);
    readings.set(id, before === undefined ? reading : keepTold(before, reading));
    if (ended.has(state)) settled.add(id);
  };

  return {
    async complete(view) {
      await refresh(view);
      const known = readings.get(view.delegation_id);
      const [activity = null] = ended.has(view.state) ? [] : (known?.activities ?? []);
      const triad_phase = ended.has(view.state) ? null : (known?.triad ?? null);
      const team_view = known?.team ?? null;
      const now = { usage: known?.usage ?? null, triad_phase, team_view, activity };
      return { ...view, ...now, ...verificationOf(view, known) };
    },
  };
}

/** A delegation with a workflow of its own tells its verification itself. */
function verificationOf(
  view: DelegationView,
  known: DelegationReading | undefined,
): Pick<DelegationView, 'verification'> {
  const verification = known?.verification ?? view.verification;
  return verification === undefined ? {} : { verification };
}

/** Keeps the earlier value of what no worker reported this time. */
function keepTold(before: DelegationReading, now: DelegationReading): DelegationReading {
  return {
    ...now,
    usage: now.usage ?? before.usage,
    triad: now.triad ?? before.triad,
    team: now.team ?? before.team,
    verification: now.verification ?? before.verification,
  };
}

const unstarted: ReadonlySet<DelegationState> = new Set(['pending', 'skipped']);
const ended: ReadonlySet<DelegationState> = new Set(['completed', 'failed', 'stopped']);
