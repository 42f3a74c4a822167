import type { RunWavesView, StatusView } from '../../../contracts/views.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import type { Reading } from '../../read-view.ts';
import type { RunListing } from '../../run-listing.ts';
import { describeStuck } from '../../stuck-workflows.ts';
import { createDelegationMemory } from './delegation-memory.ts';
import { ifFound } from './if-found.ts';
import type { RunSnapshot, WaveSnapshot } from './run-snapshot.ts';

/** Reads a run again and again, and asks a worker only for what can have changed. */
export interface SnapshotReader {
  read(): Promise<RunSnapshot>;
}

export function createSnapshotReader(client: PlanwaveClient, runId: string): SnapshotReader {
  let last: RunSnapshot | null = null;
  let wavesKey = '';
  let lastWaveId: string | null = null;
  const delegations = createDelegationMemory(client);

  /** The list of waves changes only with the run's position, and with the plan of the wave at work. */
  const readWaves = async (status: StatusView): Promise<Waves> => {
    const key = `${status.wave} ${status.wave_workflow_id ?? ''} ${status.phase}`;
    if (key === wavesKey && last !== null && last.plan_summary !== null) return last;
    const view = live<RunWavesView>(await client.waves(runId));
    if (view === null) return last ?? { done: [], plan_summary: null };
    wavesKey = key;
    return { done: view.done, plan_summary: view.current?.summary ?? null };
  };

  const readWave = async (waveWorkflowId: string | null): Promise<WaveSnapshot | null> => {
    if (waveWorkflowId === null) return null;
    lastWaveId = waveWorkflowId;
    const reading = await ifFound(client.waveView(waveWorkflowId));
    const view = reading === null ? null : live(reading);
    if (view === null) return last?.wave ?? null;
    return {
      ...view,
      delegations: await Promise.all(
        view.delegations.map((delegation) => delegations.complete(delegation)),
      ),
    };
  };

  /** The last states of what was followed. A worker that was not there before is not waited for. */
  const readClosed = async (run: RunListing): Promise<RunSnapshot> => {
    const known: RunSnapshot = { ...(last ?? nothingYet), run, questions: [], note: null };
    if (known.status === null) return known;
    const reading = await client.status(runId);
    if (!reading.live) return known;
    const status = reading.view;
    const [waves, wave] = await Promise.all([readWaves(status), readWave(lastWaveId)]);
    return { ...known, ...waves, status, wave };
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
        last = { ...(last ?? nothingYet), run, status: null, note: reading.note };
        return last;
      }
      const status = reading.view;
      const [waves, wave, questions, [stuck]] = await Promise.all([
        readWaves(status),
        readWave(status.wave_workflow_id),
        status.open_questions > 0 ? client.questions(runId) : null,
        client.stuck(runId),
      ]);
      const open = questions === null ? [] : (live(questions)?.open ?? last?.questions ?? []);
      const { done, plan_summary } = waves;
      const note = stuck === undefined ? null : describeStuck(stuck);
      last = { run, status, note, done, plan_summary, wave, questions: open };
      return last;
    },
  };
}

type Waves = Pick<RunSnapshot, 'done' | 'plan_summary'>;

const nothingYet: Omit<RunSnapshot, 'run'> = {
  status: null,
  note: null,
  done: [],
  plan_summary: null,
  wave: null,
  questions: [],
};

function live<T>(reading: Reading<T>): T | null {
  return reading.live ? reading.view : null;
}
