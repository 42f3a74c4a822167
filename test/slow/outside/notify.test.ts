import type { WorkflowHandle } from '@temporalio/client';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { NotificationBody } from '../../../core/run/notify.ts';
import { openQuestions, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { resetRun } from '../../support/histories.ts';
import { openHookServer, type HookServer } from '../../support/hook-server.ts';
import {
  blocked,
  completed,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { openStage, type Stage, type StageOptions } from '../../support/stage.ts';

const secret = 'tea-at-four-o-clock-9431';
const goal = `Host the backup\u202e with ${secret}\u0007 and <b>all</b> $(reboot) of it`;

let stage: Stage;
afterEach(() => stage.close());

const open = async (settings: StageOptions['settings'], times = {}): Promise<Stage> => {
  stage = await openStage({ settings: settings ?? {}, secrets: [secret], times });
  return stage;
};

const kinds = (heard: readonly NotificationBody[]): string[] => heard.map(({ data }) => data.kind);

/** Ids of the notifications of a run. */
async function sentBy(runId: string, status: string): Promise<readonly string[]> {
  const found: string[] = [];
  const query = `PlanwaveRun = "${runId}" AND WorkflowType = "notification" AND ExecutionStatus = "${status}"`;
  for await (const { workflowId } of stage.client.workflow.list({ query })) found.push(workflowId);
  return found;
}

async function answerAll(run: WorkflowHandle): Promise<void> {
  for (const { question_id } of await openQuestions(stage, run, 3)) {
    // One after the other, as a person does.
    // oxlint-disable-next-line no-await-in-loop
    await submit(run, { question_id, answer: 'eu-west' });
  }
}

const asking = blocked(
  ['Which region?', 'Which size?', 'Which `day`?'].map((text) => question(text)),
  'host-done',
);
const script = [
  plans(1, plan([work('host')])),
  works('host', { json: asking }, 1),
  works('host', { json: completed('host-done') }),
];

describe('a webhook', () => {
  let hook: HookServer;
  beforeEach(async () => {
    hook = await openHookServer();
  });
  afterEach(() => hook.close());

  const webhook = () => ({ notify: { kind: 'webhook', url: hook.url, key: hook.key } as const });

  it('is told once that a run needs its user, however many questions it has, and once that it has ended', async () => {
    await open(webhook());
    stage.rehearsal.script(script);
    const run = await stage.start('plannerRun', { goal });
    const id = run.workflowId;
    await openQuestions(stage, run, 3);
    await eventually('the first message', async () => hook.heard.length === 1);
    await answerAll(run);
    await stage.result(run);
    await eventually('the last message', async () => hook.heard.length === 2);

    const [first, last] = hook.heard;
    expect(first).toMatchObject({
      type: 'run.needs_user',
      data: { run_id: id, kind: 'needs_user', phase: 'waiting_for_user', open_questions: 3 },
    });
    expect(first?.data).toMatchObject({
      text: expect.stringContaining('q1: Which region?'),
      command: expect.stringContaining(`answer ${id}`),
    });
    expect(last).toMatchObject({ type: 'run.ended', data: { phase: 'completed' } });
    expect(first?.headers['webhook-id']).toBe(first?.id);
    for (const { text, data } of hook.heard) {
      expect(text).not.toContain(secret);
      expect(data.goal).toContain('[redacted:');
      expect(data.summary).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    await eventually('both to be over', async () => (await sentBy(id, 'Completed')).length === 2);
  });

  it('that fails twice is told again with the same id, and holds nothing up', async () => {
    await open(webhook());
    hook.answers.push(500, 302);
    const run = await stage.start('plannerRun', { goal, use_defaults: true });
    await stage.result(run);
    await eventually('three attempts', async () => hook.heard.length === 3);
    expect(new Set(hook.heard.map(({ id }) => id)).size).toBe(1);
    expect(new Set(hook.heard.map(({ text }) => text)).size).toBe(1);
    expect(kinds(hook.heard)).toEqual(['ended', 'ended', 'ended']);
  });

  it('is not told again after a reset to before the question', async () => {
    await open(webhook());
    // The wave that is begun anew plans and asks anew.
    stage.rehearsal.script([
      { match: { schema: 'plan' }, reply: { json: plan([work('host')]) } },
      works('host', { json: asking }, 1),
      works('host', { json: asking }, 2),
      works('host', { json: completed('host-done') }),
    ]);
    const run = await stage.start('plannerRun', { goal });
    await openQuestions(stage, run, 3);
    await eventually('the first message', async () => hook.heard.length === 1);
    const again = await resetRun(stage.client, run);
    await answerAll(again);
    await stage.result(again);
    await eventually('the end', async () => kinds(hook.heard).includes('ended'));
    expect(kinds(hook.heard)).toEqual(['needs_user', 'ended']);
  });

  it('is told of a cell that parks, which a resume lets go on, and not of its end', async () => {
    await open(webhook());
    stage.rehearsal.script([{ match: { schema: 'delegation' }, times: 1, reply: { status: 401 } }]);
    const goals = [{ name: 'backup', goal }];
    const settings = [{ name: 'alone', run: 'model' }];
    const evaluation = await stage.start('evaluation', { name: 'parks', goals, settings });
    await eventually('the first message', async () => hook.heard.length === 1);
    const { kind, phase, run_id = '' } = hook.heard[0]?.data ?? {};
    expect([kind, phase]).toEqual(['needs_user', 'parked']);
    expect(run_id).toContain(`${evaluation.workflowId}-`);
    const { connection } = stage.client;
    const server = { connection, address: '', namespace: 'default' };
    const client = createPlanwaveClient({ ...server, taskQueue: stage.taskQueue });
    await eventually('the cell among those that wait', async () =>
      (await client.list({ waiting: true })).some((one) => one.run_id === run_id),
    );
    await client.resume(run_id);
    expect(await evaluation.result()).toMatchObject({ cells: [{ run_id, status: 'completed' }] });
    expect(kinds(hook.heard)).toEqual(['needs_user']);
  });

  it('is told of a run that parks, and again of its end', async () => {
    await open(webhook());
    stage.rehearsal.script([{ match: { schema: 'plan' }, times: 1, reply: { status: 401 } }]);
    const run = await stage.start('plannerRun', { goal, use_defaults: true });
    await eventually('the first message', async () => hook.heard.length === 1);
    expect(hook.heard[0]?.data).toMatchObject({
      kind: 'needs_user',
      phase: 'parked',
      text: expect.stringContaining('parked: '),
      command: expect.stringContaining(`resume ${run.workflowId}`),
    });
    await run.signal('resume');
    await stage.result(run);
    await eventually('the last message', async () => hook.heard.length === 2);
  });
});

it('without the setting, a run has no event more', async () => {
  await open({});
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  await stage.result(run);
  expect(await sentBy(run.workflowId, 'Completed')).toEqual([]);
  expect(JSON.stringify(await run.fetchHistory())).not.toContain('notification');
});

describe('a command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-hook-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'hook.mjs');
  const out = join(folder, 'heard.jsonl');
  const env = { PATH: process.env['PATH'] ?? '' };

  it('gets the message on its standard input, and no shell reads anything of it', async () => {
    writeFileSync(
      file,
      `import { appendFileSync, readFileSync } from 'node:fs';
appendFileSync(process.argv[2], readFileSync(0, 'utf8'));`,
    );
    await open({ notify: { kind: 'command', argv: [process.execPath, file, out], env } });
    const run = await stage.start('plannerRun', { goal, use_defaults: true });
    await stage.result(run);
    await eventually(
      'its end',
      async () => (await sentBy(run.workflowId, 'Completed')).length === 1,
    );
    const heard: NotificationBody = JSON.parse(readFileSync(out, 'utf8'));
    expect(heard).toMatchObject({ type: 'run.ended', data: { run_id: run.workflowId } });
    expect(heard.data.goal).toContain('$(reboot)');
  });

  it('that hangs is ended, and the run does not wait for it', async () => {
    writeFileSync(file, 'setInterval(() => {}, 1_000);');
    await open(
      { notify: { kind: 'command', argv: [process.execPath, file], env } },
      { notifyTimeoutMs: 300 },
    );
    const run = await stage.start('plannerRun', { goal, use_defaults: true });
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
    const [id = ''] = await eventually('the message', async () => {
      const ids = await sentBy(run.workflowId, 'Running');
      return ids.length > 0 && ids;
    });
    const child = stage.client.workflow.getHandle(id);
    await eventually('a second attempt', async () => {
      const { raw } = await child.describe();
      const [pending] = raw.pendingActivities ?? [];
      const reason = pending?.lastFailure?.message ?? '';
      return reason.includes('took longer than 0.3 s');
    });
    await child.terminate();
  });
});
