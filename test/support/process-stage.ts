import type { WorkflowHandle } from '@temporalio/client';
import type { RecordedCall } from '../../rehearsal/script.ts';
import { eventually } from './eventually.ts';
import { openStage } from './stage.ts';
import type { Stage, StageOptions } from './stage.ts';

export const goal = 'Compare three ways to store a backup';

/** Opens a stage whose workers are processes of the test; `startWorker` starts one that is not harmed. */
export function openProcessStage(options: StageOptions = {}): Promise<Stage> {
  return openStage({ ...options, opensWithWorker: false });
}

/** Returns the model calls of one run, in the order of arrival. */
export function callsOfRun({ rehearsal }: Stage, runId: string): readonly RecordedCall[] {
  return rehearsal.calls().filter(({ callKey }) => callKey.startsWith(`${runId}/`));
}

export function inFlight(calls: readonly RecordedCall[]): readonly RecordedCall[] {
  return calls.filter(({ outcome }) => outcome === null);
}

/** Waits until the nth call of the run, from 1, hangs at the model. */
export function untilCall(stage: Stage, runId: string, nth: number): Promise<RecordedCall> {
  return eventually(
    `call ${nth} of ${runId} in flight`,
    async () => {
      const call = callsOfRun(stage, runId)[nth - 1];
      return call?.outcome === null ? call : null;
    },
    // A test may wait for the hundredth.
    10 * 60_000,
  );
}

/** Returns everything that must be the same however a run reached its end. */
export async function outcomeOf(stage: Stage, run: WorkflowHandle) {
  const { status, waves, criteria } = await stage.result(run);
  return { status, waves, criteria };
}
