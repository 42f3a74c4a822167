import type { CellResult, EvaluationResult } from '../../../contracts/evaluation.ts';
import { eventually } from '../../support/eventually.ts';
import { eventTypes, fetchHistories } from '../../support/histories.ts';
import { inFlight } from '../../support/process-stage.ts';
import type { Stage } from '../../support/stage.ts';
import { useProcessStages, useStage } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const matrix = {
  goals: [{ name: 'backup', goal: 'Say what a backup is' }],
  settings: [{ name: 'alone', run: 'model' }],
  graders: [{ kind: 'rubric', rubric: 'It says what it is.', pass_at: 0.5 }],
};

const outline = ({ status, passed, cached }: CellResult) => ({ status, passed, cached });
const passed = { status: 'completed', passed: true, cached: false };

describe('an evaluation', () => {
  const { stage } = useProcessStages();

  it('part of fault 2: goes on after kill -9 in a cell’s call and in a grader’s; only those calls are made again', async () => {
    const hangs = { pass: true, delayMs: 600_000 } as const;
    stage.rehearsal.script([
      { match: { schema: 'delegation', nth: 1 }, reply: hangs },
      { match: { schema: 'grading', nth: 1 }, reply: hangs },
    ]);
    const handle = await stage.start('evaluation', { ...matrix, name: 'killed' }, 'eval-killed');
    for (const shape of ['delegation', 'grading']) {
      const worker = await startWorkerProcess(stage);
      await eventually(`a call of shape ${shape} in flight`, async () =>
        inFlight(stage.rehearsal.calls()).find((call) => call.shape === shape),
      );
      worker.signal('SIGKILL');
      expect(await worker.ended).toBe('SIGKILL');
    }
    await stage.startWorker();
    const result: EvaluationResult = await handle.result();
    expect(result.cells.map(outline)).toEqual([passed]);
    expect(stage.rehearsal.calls().map(({ shape, outcome }) => [shape, outcome])).toEqual([
      ['delegation', 'client-closed'],
      ['delegation', 'answered'],
      ['grading', 'client-closed'],
      ['grading', 'answered'],
    ]);
    expect(result.usage.calls + result.usage.unreported_calls).toBe(4);
  });

  it('that is cancelled cancels its runs, and leaves none open', async () => {
    await stage.startWorker();
    stage.rehearsal.script([
      { match: { schema: 'delegation' }, reply: { pass: true, delayMs: 600_000 } },
    ]);
    const input = { ...matrix, name: 'cancelled', repeat: 3, parallel: 2 };
    const handle = await stage.start('evaluation', input, 'eval-cancelled');
    await stage.rehearsal.waitForCalls(2);
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    const [, ...below] = await fetchHistories(stage.client, 'eval-cancelled');
    const cells = [...new Set(below.map(({ workflowId }) => workflowId))];
    // The third was never begun.
    expect(cells).toHaveLength(2);
    const statuses = await Promise.all(cells.map((cell) => statusOf(stage, cell)));
    expect(statuses).not.toContain('RUNNING');
    expect(stage.rehearsal.calls()).toHaveLength(2);
  });
});

async function statusOf({ client }: Stage, runId: string): Promise<string> {
  const { status } = await client.workflow.getHandle(runId).describe();
  return status.name;
}

describe('with a short history', () => {
  const { stage } = useStage({
    serverArguments: ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=30'],
  });

  it('part of fault 15: an evaluation continues as new between cells, and its result has each of them once', async () => {
    const input = { ...matrix, name: 'long', repeat: 6, parallel: 2 };
    const handle = await stage.start('evaluation', input, 'eval-long');
    const result: EvaluationResult = await handle.result();
    expect(result.cells.map(outline)).toEqual(Array.from({ length: 6 }, () => passed));
    expect(result.cells.map(({ cell }) => cell)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(result.usage.calls).toBe(12);
    expect(stage.rehearsal.calls()).toHaveLength(12);
    const histories = await fetchHistories(stage.client, 'eval-long');
    const continued = histories
      .flatMap(eventTypes)
      .filter((type) => type === 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW');
    expect(continued.length).toBeGreaterThan(0);
  });
});
