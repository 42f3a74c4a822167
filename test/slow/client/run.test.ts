import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowClient } from '@temporalio/client';
import type { PlannerRunResult } from '../../../contracts/planner-run.ts';
import { connectToServer } from '../../../client/connect.ts';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import { openSession as openRealSession } from '../../../client/cli/cli-session.ts';
import { eventually } from '../../support/eventually.ts';
import {
  completed,
  decision,
  held,
  newestText,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { createFakeIo } from '../../unit/client/support/fake-io.ts';
import type { FakeIo } from '../../unit/client/support/fake-io.ts';
import { runAt } from '../../support/run-at.ts';
import type { CliOutcome } from '../../support/run-at.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

const { stage } = useStage();
let client: PlanwaveClient;
let close: () => Promise<void>;

const newId = (): string => `cli-${randomUUID().slice(0, 8)}`;

/** Sessions on the stage's own task queue, so that only its worker takes the runs. */
const openSession: CliDeps['openSession'] = async (options) => {
  const server = await connectToServer(options);
  return {
    ...server,
    client: createPlanwaveClient({ ...server, taskQueue: stage.taskQueue }),
    close: () => server.connection.close(),
  };
};

const cli = (...argv: string[]): Promise<CliOutcome> => cliAt(createFakeIo(), ...argv);

const cliAt = (io: FakeIo, ...argv: string[]): Promise<CliOutcome> =>
  runAt(stage.address, argv, {
    io,
    deps: {
      openSession,
      readResult: async (runId) => {
        const read = (name: string) => readFile(join(stage.home, runId, name), 'utf8');
        const [result_md, report_md] = [await read('result.md'), await read('report.md')];
        const [result_path, report_path] = [`${runId}/result.md`, `${runId}/report.md`];
        return { result_md, report_md, result_path, report_path };
      },
    },
  });

const openQuestion = (runId: string): Promise<string> =>
  eventually(`an open question of ${runId}`, async () => {
    const reading = await client.questions(runId);
    return reading.live ? reading.view.open[0]?.question_id : null;
  });

beforeAll(async () => {
  const server = await connectToServer({ address: stage.address });
  client = createPlanwaveClient({ ...server, taskQueue: stage.taskQueue });
  close = () => server.connection.close();
});
afterAll(() => close());

it('starts a run, asks, is refused with a reason, is answered, and reports', async () => {
  const runId = newId();
  expect((await cli('start', 'Compare three databases', '--id', runId)).code).toBe(0);
  const questionId = await openQuestion(runId);

  const shown = await cli('questions', runId);
  expect(shown.out).toContain(`answer with: npm run planwave -- answer ${runId} ${questionId} '`);

  const refused = await cli('answer', runId, questionId, '99');
  expect(refused.code).toBe(5);
  expect(refused.err).toMatch(
    /^q1 was not answered: expected one of .*For example: npm run planwave/,
  );

  const answered = await cli('answer', runId, '2');
  expect(answered).toMatchObject({ code: 0, err: '' });
  expect(answered.out).toMatch(/^q1 answered: \S/);

  const again = await cli('answer', runId, questionId, '1');
  expect(again.code).toBe(5);
  expect(again.err).toContain('q1 was not answered: ');

  const watched = await cli('watch', runId, '--json');
  const events = watched.out.trim().split('\n');
  expect(watched.code).toBe(0);
  expect(events.at(-1)).toMatch(/^\{"type":"ended",.*"status":"completed"/);

  expect((await cli('report', runId)).out).toMatch(/^# Result/);
  expect((await cli('status', runId)).out).toContain('completed');
  const ended = await cli('stop', runId);
  expect(ended.code).toBe(5);
  expect(ended.err).toContain(`Run ${runId} has ended`);
});

it('finding R2: --watch --defaults follows a run to its end and prints the answer, as the Web UI shows it', async () => {
  const runId = newId();
  // The last delegation waits until whoever watches has seen what the others did.
  const last = held({ pass: true });
  const match = { callKeyIncludes: `${runId}/wave-001/review-result` };
  stage.rehearsal.script([{ match, reply: last.reply }]);
  const io = createFakeIo();
  const watching = cliAt(io, 'start', 'Write a plan', '--id', runId, '--watch', '--defaults');
  // Whoever of them comes second may find the answer to the common question in its task, and needs one turn less.
  await eventually('what the others did', async () =>
    /wave 1: . gather-facts .* completed · [12] turns?/.test(io.out()),
  );
  last.release();
  const { code, out } = await watching;
  expect(code).toBe(0);
  expect(out).toContain(`Started ${runId}.`);
  expect(out).toContain(`run ${runId}: completed`);
  const handle = stage.client.workflow.getHandle<() => Promise<PlannerRunResult>>(runId);
  const { answer, report_path } = await handle.result();
  expect(answer).toContain('# Rehearsal: Write the result for “Write a plan”');
  expect(out).toContain(`\n\n${answer}\n\nresult: `);
  expect(out).toContain(report_path);
  const page = JSON.stringify(await handle.query('__temporal_workflow_metadata'));
  expect(page).toContain('## Answer\\n\\n```text\\n# Rehearsal: Write the result');
});

it('finding R4: the list shows what was started alone, and the wave that a question is asked in', async () => {
  const asks = { match: { schema: 'plan', callKeyIncludes: 'asks' } } as const;
  stage.rehearsal.script([{ ...asks, reply: { json: plan([], [question('Which region?')]) } }]);
  const parts = [
    ['triad', { type: 'dialectic', task: 'Choose where a backup goes' }],
    ['delegation', { agent_id: 'writer', task_description: 'A haiku on backups' }],
    ['plannerWave', { goal: 'Compare two ways' }],
  ] as const;
  const ids = parts.map(([type]) => `${type}-${newId()}`);
  for (const [at, [type, input]] of parts.entries()) await stage.start(type, input, ids[at]);
  const asking = `asks-${newId()}`;
  await cli('start', 'Host the backup', '--id', asking);
  await openQuestion(asking);
  const rows = await eventually('all of them in the list', async () => {
    const { out } = await cli('list', '--limit', '200');
    const found = [...ids, asking].map((id) => out.split('\n').find((row) => row.startsWith(id)));
    return found.every((row) => row !== undefined) && /asks-.* 1 open/.test(out) ? found : null;
  });
  expect(rows.at(-1)).toMatch(/waiting for user +1 +1 open/);
  expect((await cli('questions', asking)).out).toContain('from the planner, wave 1');
  const { out } = await cli('list', '--limit', '200');
  // Runs alone have rows; below them, a stuck part of another test's run may be named.
  const listed = out.split('\n').filter((row) => !row.startsWith('Stuck: '));
  expect(listed.join('\n')).not.toContain('/wave-001');
  // Some have ended by themselves.
  await Promise.allSettled([...ids, asking].map((id) => client.stop(id)));
});

it('fault 46: one id started twice is one run, and the second start says how to watch it', async () => {
  const runId = newId();
  const starts = await Promise.all([1, 2, 3].map(() => cli('start', 'goal', '--id', runId)));
  expect(starts.filter((start) => start.code === 0)).toHaveLength(1);
  expect(starts.filter((start) => start.code === 2)).toHaveLength(2);
  const refused = starts.find((start) => start.code === 2);
  expect(refused?.err).toContain(`npm run planwave -- watch ${runId}`);
  await client.stop(runId);
  await client.waitForEnd(runId);
  expect((await cli('start', 'goal', '--id', runId)).code).toBe(2);
});

it('a run is readable in lists by its goal', async () => {
  const goal = `Find   out\n${'why '.repeat(100)}`;
  const { run_id } = await client.startRun({ goal });
  const { raw } = await stage.client.workflow.getHandle(run_id).describe();
  expect(raw.executionConfig?.userMetadata?.summary?.data?.toString()).toMatch(
    /^"Find out why why/,
  );
  const listed = await eventually('the run in the list', async () => {
    const runs = await client.list({ limit: 200 });
    return runs.find((run) => run.run_id === run_id);
  });
  expect(listed.goal).toMatch(/^Find out why/);
  await client.stop(run_id);
});

it('an input that the worker refuses ends the watch with exit code 2 and the reason', async () => {
  const folder = join(stage.home, 'no-such-folder');
  const { code, out } = await cli('start', 'goal', '--agents', folder, '--watch');
  expect(code).toBe(2);
  expect(out).toMatch(/: failed · .*no-such-folder/s);
});

it('works with every worker off, and an answer sent then is taken when one is back', async () => {
  const { run_id: runId } = await client.startRun({ goal: 'Compare three databases' });
  await openQuestion(runId);
  // Lists come from another place than the run itself, and a moment later.
  await eventually('the mirrored state', async () => {
    const listed = (await client.list({ limit: 200 })).find(({ run_id }) => run_id === runId);
    return (await client.describe(runId)).open_questions === 1 && listed?.open_questions === 1;
  });
  await stage.stopWorker();

  const shown = await cli('status', runId);
  expect(shown.code).toBe(0);
  expect(shown.tookMs).toBeLessThan(10_000);
  expect(shown.out).toContain('waiting for user · wave 1');
  expect(shown.out).toContain('No worker answered. One asked for work in the last 90 seconds');
  expect(shown.out).toContain('this is the last known state.');
  expect((await cli('questions', runId)).out).toContain('1 open question');
  expect((await cli('list', '--limit', '200')).out).toMatch(
    new RegExp(`${runId} +waiting for user +1 +1 open`),
  );

  const sent = await cli('answer', runId, 'q1', 'everybody');
  expect(sent.code).toBe(0);
  expect(sent.tookMs).toBeLessThan(10_000);
  expect(sent.out).toContain('the answer was sent and will be checked when a worker is there');
  expect(await client.answer(runId, { question_id: 'q1', answer: 'everybody' })).toMatchObject({
    status: 'sent',
  });

  await stage.startWorker();
  expect(await client.waitForEnd(runId)).toMatchObject({
    ended: 'result',
    result: { status: 'completed' },
  });
  const reading = await client.questions(runId);
  expect(reading.live && reading.view.answered.map(({ answer }) => answer)).toEqual(['everybody']);
  expect(reading.live && reading.view.rejected).toEqual([]);
});

it('a session that is closed waits for no worker any more', async () => {
  const workflowId = newId();
  const taskQueue = `nobody-${workflowId}`;
  const args = [{ goal: 'Nobody takes it' }];
  const run = await stage.client.workflow.start('plannerRun', { taskQueue, workflowId, args });
  const session = await openRealSession({ address: stage.address }, {}, () => {});
  const { connection } = session;
  // Without the end, the server would say after half a minute that it has waited in vain.
  const asked = connection.withDeadline(Date.now() + 3_600_000, () =>
    new WorkflowClient({ connection }).getHandle(workflowId).query('status'),
  );
  const refused = asked.catch((error: unknown) => error);
  await session.close();
  expect(await refused).toMatchObject({ cause: { details: 'Cancelled on client' } });
  await run.terminate();
});

it('refuses an answer that is too long for the server at once', async () => {
  const answer = { question_id: 'q1', answer: 'x'.repeat(3_000_000) };
  expect(await client.answer('any-run', answer)).toMatchObject({
    status: 'refused',
    reason: expect.stringContaining('at most 2000000'),
  });
});

it('doctor names what is missing and how to cure it', async () => {
  const { code, out } = await cli('doctor');
  expect(out).toMatch(/✓ Temporal server: version \d/);
  expect(out).toContain('✓ search attributes: PlanwavePhase');
  // The stage polls a queue of its own.
  expect(out).toContain('✗ worker: no worker polls the task queue planwave');
  expect(out).toContain('cure: npm run worker');
  expect(code).toBe(1);
  const elsewhere = await cli('doctor', '--namespace', 'nowhere');
  expect(elsewhere.out).toContain('✗ namespace: nowhere does not exist');
  expect(elsewhere.out).toContain('cure: temporal operator namespace create --namespace nowhere');
});

it('an unknown run is exit code 4, whatever is asked', async () => {
  for (const argv of [['status'], ['questions'], ['watch'], ['pause']]) {
    const { code, err } = await cli(...argv, 'no-such-run');
    expect({ argv, code }).toEqual({ argv, code: 4 });
    expect(err).toContain('There is no run "no-such-run"');
  }
});

it('a whole run: a question while it is planned, a change of mind in the last wave, a waiver, and the answer printed', async () => {
  const runId = newId();
  const asking = {
    ...decision('translated'),
    needs_user_input: true,
    user_questions: [question('May the translation be left out?')],
  };
  const deciding = held({ json: asking });
  const final: WaveDecision = {
    ...decision(),
    criteria_waived: [{ criterion_id: 'translated', question_id: 'q2' }],
    answer: { kind: 'delegation', value: 'write' },
  };
  const written = unmet('completed', 'Nobody here speaks Finnish.', 'translated');
  const output = {
    ...written,
    detailed_md: '# Where the backup goes\n\nTo eu-west, every night.\n',
    coverage: { ...written.coverage, criteria_met: completed('write-done').coverage.criteria_met },
  };
  const rules = [
    plans(1, plan([], [question('Which region?')])),
    plans(2, plan([work('write', { criteria: ['write-done', 'translated'] })])),
    works('write', { json: output }),
    { match: { schema: 'decision' as const, nth: 1 }, reply: deciding.reply },
    { match: { schema: 'decision' as const }, reply: { json: final } },
  ];
  stage.rehearsal.script(
    rules.map((rule) => ({
      ...rule,
      match: { ...rule.match, bodyIncludes: 'Back the photos up' },
    })),
  );
  const decisions = () => stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');

  await cli('start', 'Back the photos up', '--id', runId);
  expect(await openQuestion(runId)).toBe('q1');
  expect((await cli('answer', runId, 'q1', 'eu-west')).code).toBe(0);
  await eventually('the decision is under way', async () => decisions().length === 1);
  const amended = await cli('amend', runId, 'Say how often.', '--answer', 'q1=eu-north');
  expect(amended).toMatchObject({ code: 0, err: '' });
  await eventually('the wave was told', async () => {
    const wave = stage.client.workflow.getHandle(`${runId}/wave-001`);
    return JSON.stringify((await wave.fetchHistory()).events).split('"inform"').length > 2;
  });
  deciding.release();
  const second = await eventually('a question', async () => {
    const id = await openQuestion(runId);
    return id === 'q2' && id;
  });
  expect(await cli('answer', runId, second, 'Yes, leave it out.')).toMatchObject({
    code: 0,
    err: '',
  });
  const watched = await cli('watch', runId);

  const [, last] = decisions().map((call) => newestText(call));
  expect(last).toContain('Say how often.');
  expect(last).toContain('eu-north');
  expect(last).toContain('Yes, leave it out.');
  expect(watched.out).toContain('completed');
  expect(watched.out).toContain('# Where the backup goes\n\nTo eu-west, every night.');
  const report = await cli('report', runId, '--full');
  expect(report.out).toContain('### Waived by you');
  expect(report.out).toContain('Your answer: Yes, leave it out.');
});
