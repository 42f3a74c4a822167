import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CellResult, EvaluationResult } from '../../contracts/evaluation.ts';
import { storeHeader } from '../../contracts/names.ts';
import type { StatusView } from '../../contracts/views.ts';
import { eventually } from '../support/eventually.ts';
import { fetchHistories, listModelQueues } from '../support/histories.ts';
import { playGoal, readPlayedGoals } from '../support/played/played-goal.ts';
import { runCommand } from '../support/run-command.ts';
import { useStage } from '../support/use-stage.ts';

const models = { queue: 'models-of-evaluations', rate: 1_000 };
const { stage } = useStage({ settings: { models } });

const matrix = {
  name: 'two-by-two',
  goals: [
    { name: 'backup', goal: 'Compare three ways to store a backup' },
    {
      name: 'summary',
      goal: 'Summarise what a backup needs',
      criteria: ['It names what is needed.'],
      graders: [
        { kind: 'criteria' },
        { kind: 'schema', schema: { type: 'object' } },
        { kind: 'regex', name: 'endless', pattern: '^([^]+)+\\u0001$' },
      ],
    },
  ],
  settings: [
    { name: 'set-alone', run: 'model' },
    { name: 'set-planned', run: 'direct' },
  ],
  graders: [
    { kind: 'regex', pattern: 'rehears', flags: 'i' },
    { kind: 'rubric', rubric: 'It says what it is.', pass_at: 0.5 },
  ],
};

const outline = ({ goal, setting, status, grades }: CellResult) =>
  `${goal} ${setting} ${status}: ${grades.map(({ grader, result }) => `${grader} ${result}`).join(', ')}`;

async function evaluate(input: object, id: string): Promise<EvaluationResult> {
  const handle = await stage.start('evaluation', input, id);
  const result: EvaluationResult = await handle.result();
  return result;
}

it('a matrix is carried out across a restart of the worker, judged blindly, and never bought again', async () => {
  const handle = await stage.start('evaluation', matrix, 'eval-matrix');
  await stage.rehearsal.waitForCalls(4);
  await stage.stopWorker();
  await stage.startWorker();
  const result: EvaluationResult = await handle.result();
  expect(result.cells.map(outline)).toEqual([
    'backup set-alone completed: regex passed, rubric passed',
    'backup set-planned completed: regex passed, rubric passed',
    'summary set-alone completed: regex passed, criteria passed, schema failed, endless not_run, rubric passed',
    'summary set-planned completed: regex passed, criteria passed, schema failed, endless not_run, rubric passed',
  ]);
  const calls = stage.rehearsal.calls();
  // A call that the restart interrupted is made again, and the ledger says so.
  const { usage } = result;
  expect(calls.length).toBeLessThanOrEqual(usage.calls + usage.unreported_calls);
  const graded = calls.filter(({ shape }) => shape === 'grading');
  expect(new Set(graded.map(({ callKey }) => callKey)).size).toBe(4);
  for (const { body } of graded) expect(JSON.stringify(body)).not.toMatch(/set-/);

  // The graders' calls count against the rate, too.
  const histories = await fetchHistories(stage.client, 'eval-matrix');
  expect(listModelQueues(histories)).toEqual([models.queue]);
  // A worker with another store refuses everything but the opening.
  const unstamped = (histories[0]?.history.events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: at }) =>
      at && !at.header?.fields?.[storeHeader] ? [at.activityType?.name] : [],
  );
  expect(unstamped).toEqual(['openEvaluation']);

  // Cells that could not be judged are open again; nothing else is bought.
  const goals = matrix.goals.map(({ graders: _graders, ...goal }) => ({ ...goal, graders: [] }));
  const first = await evaluate(
    { ...matrix, goals: goals.slice(0, 1), name: 'again' },
    'eval-again',
  );
  expect(first.cells.map(({ cached, passed }) => [cached, passed])).toEqual([
    [true, true],
    [true, true],
  ]);
  expect(first.usage.calls).toBe(0);
  expect(stage.rehearsal.calls()).toHaveLength(calls.length);
  const settings = matrix.settings.slice(0, 1);
  const anew = { ...matrix, goals: goals.slice(0, 1), settings, fresh: true };
  const fresh = await evaluate(anew, 'eval-fresh');
  expect(fresh.cells.map(({ cached }) => cached)).toEqual([false]);
  expect(fresh.usage.calls).toBeGreaterThan(0);
  // The same evaluation again works in folders of its own: those of the first have its files.
  const repeated = await evaluate(anew, 'eval-fresh');
  expect(repeated.cells[0]?.run_id).not.toBe(fresh.cells[0]?.run_id);
});

it('a budget leaves cells out, and a command without a sandbox is refused before anything is bought', async () => {
  const goals = [{ name: 'backup', goal: 'Say what a backup is' }];
  const settings = [{ name: 'set-alone', run: 'model' }];
  const limited = { name: 'limited', goals, settings, repeat: 3, budget: { calls: 1 } };
  const { cells, usage } = await evaluate(limited, 'eval-limited');
  expect(cells.filter(({ status }) => status === 'no_budget').length).toBeGreaterThan(0);
  expect(usage.calls + usage.unreported_calls).toBeLessThanOrEqual(1);
  const made = stage.rehearsal.calls().length;
  const commanded = { ...limited, graders: [{ kind: 'command', argv: ['true'] }] };
  await expect(evaluate(commanded, 'eval-commanded')).rejects.toMatchObject({
    cause: {
      type: 'InvalidInput',
      message: expect.stringMatching(/"command" runs a command, and .+ Try: /),
    },
  });
  expect(stage.rehearsal.calls()).toHaveLength(made);
});

it('a pause and its end reach the open runs; a stop ends them, starts no other, and the result says which', async () => {
  stage.rehearsal.script([
    { match: { schema: 'delegation' }, reply: { pass: true, delayMs: 600_000 } },
  ]);
  const goals = [{ name: 'backup', goal: 'Say what a restore is' }];
  const settings = [{ name: 'set-alone', run: 'model' }];
  const input = { name: 'stopped', goals, settings, repeat: 3, parallel: 1 };
  const handle = await stage.start('evaluation', input, 'eval-stopped');
  await stage.rehearsal.waitForCalls(1);
  const { raw } = await handle.describe();
  const cell = stage.client.workflow.getHandle(raw.pendingChildren?.[0]?.workflowId ?? '');
  const untilPhase = (phase: string) =>
    eventually(phase, async () => (await cell.query<StatusView>('status')).phase === phase);
  await handle.signal('pause', { reason: 'lunch' });
  await untilPhase('paused');
  expect(await handle.query<StatusView>('status')).toMatchObject({
    phase: 'paused',
    waiting_for: ['paused: lunch'],
    evaluation: { waiting: 2, at_work: [{ run_id: cell.workflowId }], passed: 0, not_passed: 0 },
  });
  await handle.signal('resume', {});
  await untilPhase('working');
  await handle.signal('stop', { reason: 'enough' });
  const { cells }: EvaluationResult = await handle.result();
  expect(cells.map(({ status, reason, passed }) => [status, reason, passed])).toEqual([
    ['stopped', expect.stringContaining('enough'), false],
    ['not_started', 'The evaluation was stopped: enough', false],
    ['not_started', 'The evaluation was stopped: enough', false],
  ]);
  expect(await handle.query<StatusView>('status')).toMatchObject({
    phase: 'stopped',
    evaluation: { waiting: 0, at_work: [], not_passed: 3 },
  });
  expect(stage.rehearsal.calls()).toHaveLength(1);
});

it('a result is not kept under agents that were changed meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-evaluated-'));
  const file = join(folder, 'writer.md');
  const text = readFileSync(join('agents', 'writer.md'), 'utf8');
  writeFileSync(file, text);
  const goals = [{ name: 'backup', goal: 'Say what a changed agent is' }];
  const settings = [{ name: 'set-alone', run: 'model', agents_dir: folder }];
  const input = { name: 'changed', goals, settings };
  stage.rehearsal.script([{ reply: { pass: true, delayMs: 2_000 } }]);
  const handle = await stage.start('evaluation', input, 'eval-changed');
  await stage.rehearsal.waitForCalls(1);
  writeFileSync(file, `${text}\nAlways write in verse.\n`);
  await handle.result();
  writeFileSync(file, text);
  const cachedIn = async (id: string): Promise<boolean[]> =>
    (await evaluate(input, id)).cells.map(({ cached }) => cached);
  expect(await cachedIn('eval-unchanged')).toEqual([false]);
  expect(await cachedIn('eval-kept')).toEqual([true]);
  rmSync(folder, { recursive: true, force: true });
});

it('what its runs refuse changes nothing of an evaluation, and the end of a park leaves its pause', async () => {
  stage.rehearsal.script([
    { match: { schema: 'delegation' }, reply: { pass: true, delayMs: 600_000 } },
  ]);
  const goals = [{ name: 'backup', goal: 'Say what a restore is' }];
  const settings = [{ name: 'set-alone', run: 'model' }];
  const input = { name: 'refused', goals, settings, repeat: 2, parallel: 1 };
  const handle = await stage.start('evaluation', input, 'eval-refused');
  await stage.rehearsal.waitForCalls(1);
  const openRun = async (): Promise<string | undefined> =>
    (await handle.describe()).raw.pendingChildren?.[0]?.workflowId ?? undefined;
  const first = stage.client.workflow.getHandle((await openRun()) ?? '');
  await handle.signal('stop', { why: 'a typing error' });
  await handle.signal('pause', { reason: 'lunch' });
  await handle.signal('resume', { parked_only: true });
  await first.signal('stop', {});
  await eventually('its end', async () => (await openRun()) === undefined);
  // No other run starts while it is paused.
  await eventually('the kept result', async () => {
    const { events = [] } = await handle.fetchHistory();
    return (events ?? []).at(-1)?.workflowTaskCompletedEventAttributes;
  });
  expect(await openRun()).toBeUndefined();
  await handle.signal('resume', {});
  await stage.rehearsal.waitForCalls(2);
  await handle.signal('stop', { reason: 'enough' });
  const { cells }: EvaluationResult = await handle.result();
  expect(cells.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
});

it('says how far it is, and obeys a stop that arrives in a flood of signals', async () => {
  stage.rehearsal.script([
    { match: { schema: 'delegation' }, reply: { pass: true, delayMs: 600_000 } },
  ]);
  const goals = [{ name: 'backup', goal: 'Say what a flood is' }];
  const settings = [{ name: 'set-alone', run: 'model' }];
  const input = { name: 'flooded', goals, settings, repeat: 2, parallel: 1 };
  const handle = await stage.start('evaluation', input, 'eval-flooded');
  await stage.rehearsal.waitForCalls(1);
  const asked = await runCommand(stage, ['status', 'eval-flooded']);
  expect(asked.out).toMatch(/working · 0 of 2 cells done .*, 1 at work, 1 to start/);
  expect(asked.out).toMatch(/^eval-flooded-\S+ +backup +set-alone +1 +at work/m);
  expect((await handle.describe()).memo).toEqual({ goal: 'flooded' });
  await stage.stopWorker();
  const flood = Array.from({ length: 120 }, (_, nth) => (nth === 60 ? 'stop' : 'noise'));
  await Promise.all(flood.map((name) => handle.signal(name, { reason: 'enough' })));
  await stage.startWorker();
  const { cells }: EvaluationResult = await handle.result();
  expect(cells.map(({ status }) => status)).toEqual(['stopped', 'not_started']);
});

describe('the six goals', () => {
  const file = fileURLToPath(new URL('../../examples/evaluation/six-goals.yaml', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'planwave-evaluation-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('as a strong model played them, are judged from the command line; the one that asks is marked', async () => {
    const played = readPlayedGoals();
    let id = '';
    const replies = played.map((goal, at) => {
      let reply: ReturnType<typeof playGoal> | null = null;
      return (request: Parameters<ReturnType<typeof playGoal>>[0]) => {
        const runId = `${id}-c00${at + 1}`;
        if (!request.callKey.startsWith(`${runId}/`)) return null;
        reply ??= playGoal(goal, runId);
        return reply(request);
      };
    });
    stage.rehearsal.script([
      {
        reply(request) {
          id ||= /^(.*?)-c\d{3}\//.exec(request.callKey)?.[1] ?? '';
          for (const reply of replies) {
            const found = reply(request);
            if (found !== null) return found;
          }
          return { pass: true };
        },
      },
    ]);
    const junit = join(folder, 'six.xml');
    const argv = ['eval', file, '--parallel', '3', '--junit', junit];
    const { code, out, err } = await runCommand(stage, argv);
    expect(err).toMatch(/^eval-six-goals-[0-9a-f]{8}: 6 cells\./);
    expect(code).toBe(1);
    expect(out).toMatch(/^backup-tool +direct +1 +100%/m);
    expect(out).toMatch(/^all goals +direct +4 +75% \(30–95\)/m);
    expect(out).toMatch(/\(welcome-mail, direct\) waits for user: .*What is the product/);
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain(
      '<testsuites name="six-goals" tests="6" failures="1" errors="0" skipped="0"',
    );

    const again = await runCommand(stage, [...argv, '--json']);
    const repeated: EvaluationResult = JSON.parse(again.out);
    expect(repeated.cells.every(({ cached }) => cached)).toBe(false);
    expect(repeated.cells.filter(({ cached }) => cached)).toHaveLength(5);
  });

  it('a file with faults names line and column, and starts nothing', async () => {
    const path = join(folder, 'faulty.yaml');
    writeFileSync(
      path,
      'name: x\ngoals:\n  - name: a\n    gaol: b\nsettings:\n  - name: s\n    run: fast\n',
    );
    const { code, out } = await runCommand(stage, ['eval', path]);
    expect(code).toBe(2);
    expect(out.split('\n').map((line) => line.slice(path.length))).toEqual([
      expect.stringMatching(/^:3:5: goals\.0\.goal: missing/),
      expect.stringMatching(/^:4:5: unknown field "gaol"/),
      expect.stringMatching(/^:7:5: settings\.0\.run: /),
      '',
    ]);
    expect(await eventually('no evaluation', async () => stage.rehearsal.calls())).toEqual([]);
  });
});
