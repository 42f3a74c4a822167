import { randomUUID } from 'node:crypto';
import type { ListedSchedule } from '../../../client/schedules.ts';
import { openQuestion } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  blocked,
  completed,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Check the backups of the night';

/** Runs a command that must succeed, and returns its document. */
async function ask<T>(...argv: readonly string[]): Promise<T> {
  const { code, out, err } = await runCommand(stage, [...argv, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const document: T = JSON.parse(out);
  return document;
}

async function find(id: string): Promise<ListedSchedule | undefined> {
  const { schedules } = await ask<{ schedules: readonly ListedSchedule[] }>('schedule', 'list');
  return schedules.find(({ schedule_id }) => schedule_id === id);
}

/** Waits until the list, which follows the server's other answers, shows a schedule so. */
const untilListed = (
  id: string,
  holds: (schedule: ListedSchedule) => boolean,
): Promise<ListedSchedule> =>
  eventually('the schedule in the list', async () => {
    const found = await find(id);
    return found !== undefined && holds(found) && found;
  });

const lastRun = (id: string): Promise<string> =>
  eventually('a run of the schedule', async () => (await find(id))?.last_run_id);

async function withSchedule(work_: (id: string) => Promise<void>): Promise<void> {
  const id = `nightly-${randomUUID().slice(0, 8)}`;
  try {
    await work_(id);
  } finally {
    await runCommand(stage, ['schedule', 'delete', id]);
  }
}

it('a scheduled run is started with its options, found, answered and read by every command', async () => {
  await withSchedule(async (id) => {
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
      works('host', { json: completed('host-done') }),
    ]);
    const cron = ['--cron', '0 2 29 2 *', '--time-zone', 'Europe/Berlin', '--note', 'for Ana'];
    await ask('schedule', 'create', id, goal, ...cron, '--budget-calls', '60', '--max-waves', '7');
    expect(await untilListed(id, ({ next_at }) => next_at !== null)).toMatchObject({
      goal,
      when: 'cron 0 2 29 2 * (Europe/Berlin)',
      paused: false,
      note: 'for Ana',
      next_at: expect.any(Number),
      last_run_id: null,
    });
    await ask('schedule', 'trigger', id);
    const runId = await lastRun(id);
    expect(runId).toMatch(new RegExp(`^${id}-\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$`));

    await openQuestion(stage, stage.client.workflow.getHandle(runId));
    expect(await ask('status', runId)).toMatchObject({ run_id: runId, waves_allowed: 7 });
    const { runs } = await eventually('the run in the list', async () => {
      const listed = await ask<{ runs: readonly { run_id: string; open_questions: number }[] }>(
        'list',
        '--open',
      );
      return listed.runs.some(({ run_id }) => run_id === runId) && listed;
    });
    expect(runs).toContainEqual(expect.objectContaining({ run_id: runId, goal }));
    await eventually('its question in the inbox', async () =>
      (await runCommand(stage, ['questions'])).out.includes(`answer ${runId} q1`),
    );
    await ask('answer', runId, 'q1', 'eu-west');
    await stage.client.workflow.getHandle(runId).result();
    expect(await ask('status', runId)).toMatchObject({ phase: 'completed' });
    const report = await runCommand(stage, ['report', runId]);
    expect(report).toMatchObject({ code: 0, out: expect.stringContaining(goal) });
    expect(await ask('export', runId)).toMatchObject({ path: expect.any(String) });
    const compared = await runCommand(stage, ['compare', runId, runId]);
    expect(compared.code).toBe(0);
    const { run_id: forked } = await ask<{ run_id: string }>(
      'fork',
      runId,
      '--wave',
      '2',
      '--yes',
      '--unattended',
    );
    const handle = stage.client.workflow.getHandle(forked);
    expect(await handle.result()).toMatchObject({ status: 'completed' });
  });
});

it('a schedule is paused, resumed and deleted', async () => {
  await withSchedule(async (id) => {
    await ask('schedule', 'create', id, goal, '--every', '2h', '--paused');
    const paused = await untilListed(id, (one) => one.paused);
    expect(paused).toMatchObject({ when: 'every 7200 s', next_at: null, note: '' });
    await ask('schedule', 'pause', id);
    await untilListed(id, (one) => one.note === 'paused');
    await ask('schedule', 'resume', id);
    await untilListed(id, (one) => !one.paused && one.note === 'resumed');
    await ask('schedule', 'resume', id, 'the move', 'is over');
    const resumed = await untilListed(id, (one) => one.note === 'the move is over');
    expect(resumed).toMatchObject({ paused: false, next_at: expect.any(Number) });
    // Without words, the note stays.
    await ask('schedule', 'pause', id);
    expect(await untilListed(id, (one) => one.paused)).toMatchObject({ note: 'the move is over' });
    await ask('schedule', 'resume', id);
    expect(await untilListed(id, (one) => !one.paused)).toMatchObject({ note: 'the move is over' });
    await ask('schedule', 'delete', id);
    await eventually('no schedule', async () => (await find(id)) === undefined);
  });
});

it('a wrong schedule is refused with what was expected, and one that exists is not changed', async () => {
  await withSchedule(async (id) => {
    const create = (...argv: readonly string[]) =>
      runCommand(stage, ['schedule', 'create', ...argv]);
    const refused = async (words: string, ...argv: readonly string[]): Promise<void> => {
      const { code, err } = await create(...argv);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(words) });
    };
    await refused('Expected --cron or --every', id, goal);
    await refused('Expected --cron or --every', id, goal, '--every', '2h', '--cron', '0 2 * * *');
    await refused('--time-zone needs --cron', id, goal, '--every', '2h', '--time-zone', 'UTC');
    await refused('as 30m, 2h or 1d', id, goal, '--every', '30');
    await refused(
      'Expected one of "skip", "buffer-one"',
      id,
      goal,
      '--every',
      '2h',
      '--overlap',
      'never',
    );
    await refused('A goal is missing', id, '--every', '2h');
    await refused('lower-case letters', 'Nightly Backup', goal, '--every', '2h');
    await refused('Hour is not in range', id, goal, '--cron', '0 25 * * *');
    await refused(
      'Try: a cron expression',
      id,
      goal,
      '--cron',
      '0 2 * * *',
      '--time-zone',
      'Mars/Base',
    );
    expect((await create(id, goal, '--every', '2h')).code).toBe(0);
    const again = await create(id, goal, '--every', '3h');
    expect(again.err).toContain('exists already; nothing was changed');
    const gone = await runCommand(stage, ['schedule', 'pause', 'no-such-schedule']);
    expect(gone.err).toContain('There is no schedule "no-such-schedule"');
  });
});
