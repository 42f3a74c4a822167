import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { untilEnded } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { callsOfRun, inFlight } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { keysText } from '../../support/test-keys.ts';
import { useProcessStages, useStage } from '../../support/use-stage.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';

const goal = 'Compare three ways to store a backup';

describe('of one designed run', () => {
  const { stage } = useStage();
  beforeAll(async () => {
    const original = await stage.start('plannerRun', { goal, mode: 'designed' }, 'designed');
    await untilEnded(stage, original);
  }, 600_000);

  const fork = async (id: string): Promise<WorkflowHandle> => {
    const argv = ['fork', 'designed', '--wave', '2', '--id', id, '--yes'];
    const { code, err } = await runCommand(stage, argv);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return stage.client.workflow.getHandle(id);
  };

  it('GO1, GO2: a fork carries out the approved plan from there, and designs nothing again', async () => {
    const original = stage.client.workflow.getHandle('designed');
    expect(await stage.result(original)).toMatchObject({ status: 'completed' });
    const before = await storedRecord(stage.home, 'designed');
    expect(before.waves.length).toBeGreaterThan(1);
    const forked = await fork('designed-again');
    await untilEnded(stage, forked);
    expect(await stage.result(forked)).toMatchObject({
      status: 'completed',
      waves: before.waves.length,
    });
    const calls = callsOfRun(stage, 'designed-again');
    expect(calls.filter(({ callKey }) => /\/(?:design|wave-001)\//.test(callKey))).toEqual([]);
    expect(calls.length).toBeGreaterThan(0);
    const record = await storedRecord(stage.home, 'designed-again');
    expect(record.design).toMatchObject({ status: 'approved', usage: { calls: 0 } });
    expect(record.waves.map(({ wave }) => wave)).toEqual(before.waves.map(({ wave }) => wave));
    const plan = readFileSync(
      join(stage.home, 'designed-again', 'workflow_coordination_plan.md'),
      'utf8',
    );
    expect(plan).toContain('```mermaid');
    await expectPromisesKept(stage, 'designed-again');
  });

  it('part of fault 2: a fork whose worker is killed in its first call takes the earlier waves over once', async () => {
    await stage.stopWorker();
    stage.rehearsal.script([{ times: 1, reply: { pass: true, delayMs: 600_000 } }]);
    const forked = await fork('killed');
    const worker = await startWorkerProcess(stage);
    await eventually('a call in flight', async () => inFlight(callsOfRun(stage, 'killed'))[0]);
    worker.signal('SIGKILL');
    expect(await worker.ended).toBe('SIGKILL');
    await stage.startWorker();
    await untilEnded(stage, forked);
    expect(await stage.result(forked)).toMatchObject({ status: 'completed' });
    const [first, second] = callsOfRun(stage, 'killed');
    expect(first?.outcome).toBe('client-closed');
    expect(second?.callKey).toBe(first?.callKey);
    await expectPromisesKept(stage, 'killed', { orphans: true, refusedTasks: true });
  });
});

describe('of an encrypted run', () => {
  const { stage } = useProcessStages();

  it('GO4: an encrypted run is forked with its key; without it nothing is started, and the key is named', async () => {
    const env = { PLANWAVE_KEYS: keysText('k1') };
    const planwave = (keys: object, ...args: readonly string[]) =>
      runScript(args, { ...stageEnvironment(stage), ...keys });
    await startWorkerProcess(stage, env);
    const started = planwave(env, 'start', goal, '--id', 'sealed', '--defaults', '--watch');
    expect(await started.ended).toBe('exit code 0');
    const argv = ['fork', 'sealed', '--wave', '2', '--amend', 'Name a price.', '--yes'];
    const blind = planwave({}, ...argv, '--id', 'blind');
    expect([await blind.ended, blind.output()]).toEqual([
      'exit code 1',
      expect.stringContaining('key "k1"'),
    ]);
    const forked = planwave(env, ...argv, '--id', 'sealed-again');
    expect([await forked.ended, forked.output()]).toEqual(['exit code 0', expect.any(String)]);
    const watched = planwave(env, 'watch', 'sealed-again', '--defaults');
    expect(await watched.ended).toBe('exit code 0');
    expect(callsOfRun(stage, 'sealed-again').map(({ callKey }) => callKey)).not.toEqual(
      expect.arrayContaining([expect.stringContaining('/wave-001/')]),
    );
  });
});
