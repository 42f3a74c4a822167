import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { createEncryptingCodec } from '../../../encryption/encrypting-codec.ts';
import type { ListedSchedule } from '../../../client/schedules.ts';
import { eventually } from '../../support/eventually.ts';
import { openHookServer } from '../../support/hook-server.ts';
import { fetchHistories, historyJson } from '../../support/histories.ts';
import { textsOf } from '../../support/planted.ts';
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
import { keysText, testKeys } from '../../support/test-keys.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';

const word = 'Zwiebelturm';
const { stage } = useOwnServer();

/** Runs a command of the client as a process with the keys, and returns what it printed. */
async function planwave(...args: readonly string[]): Promise<string> {
  const env = { ...stageEnvironment(stage), PLANWAVE_KEYS: keysText('k1') };
  const command = runScript(args, env);
  expect([await command.ended, command.output()]).toEqual(['exit code 0', expect.anything()]);
  return command.output();
}

async function findSchedule(): Promise<ListedSchedule | undefined> {
  const printed = await planwave('schedule', 'list', '--json');
  const { schedules }: { schedules: readonly ListedSchedule[] } = JSON.parse(printed);
  return schedules.find(({ schedule_id }) => schedule_id === 'nightly');
}

/** Asks the server as it is, without keys: a look by `planwave` costs a process. */
function describeSchedule() {
  return stage.client.workflowService.describeSchedule({
    namespace: 'default',
    scheduleId: 'nightly',
  });
}

const isIn = (text: string): boolean =>
  text.includes(word) || text.includes(Buffer.from(word).toString('base64'));

it('with keys, schedules start runs and people are told, and the server has no word of either', async () => {
  const hook = await openHookServer();
  // The first message is taken, the others never: the reason is shown below.
  hook.answers.push(204, ...Array<number>(200).fill(503));
  const worker = await startWorkerProcess(stage, {
    PLANWAVE_KEYS: keysText('k1'),
    PLANWAVE_NOTIFY: hook.url,
    PLANWAVE_NOTIFY_SECRET: `whsec_${hook.key.toString('base64')}`,
  });
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question(`Where is the ${word}?`)], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
  ]);
  const often = ['--cron', '0 2 29 2 *'];
  await planwave('schedule', 'create', 'nightly', `Look at the ${word}`, ...often);
  expect(await findSchedule()).toMatchObject({ goal: `Look at the ${word}`, last_run_id: null });
  await planwave('schedule', 'trigger', 'nightly');
  await eventually('a start', async () => (await describeSchedule()).info?.recentActions?.[0]);
  const id = await eventually('its run', async () => (await findSchedule())?.last_run_id);

  await eventually('a message', async () => hook.heard.length > 0);
  expect(hook.heard[0]?.data).toMatchObject({
    run_id: id,
    goal: `Look at the ${word}`,
    text: expect.stringContaining(`Where is the ${word}?`),
  });

  const described = await describeSchedule();
  const histories = (await fetchHistories(stage.client, id)).map(({ history }) => history);
  const seen = [
    JSON.stringify(described.toJSON()),
    ...histories.flatMap((one) => [JSON.stringify(historyJson(one)), ...textsOf(one)]),
  ];
  expect(seen.length).toBeGreaterThan(2);
  expect(seen.filter(isIn)).toEqual([]);

  await eventually('the message to be over', async () => {
    const { status } = await stage.client.workflow
      .getHandle(`${id}/${hook.heard[0]?.id}`)
      .describe();
    return status.name === 'COMPLETED';
  });
  await planwave('stop', id);
  await eventually('the last message', async () => hook.heard.length > 1);
  const lateAt = Date.now() + 62_000;

  const without = await runCommand(stage, ['schedule', 'list']);
  expect(without).toMatchObject({ code: 0, err: '' });
  expect(without.out).toMatch(/^nightly .*\(encrypted\)/m);
  expect((await runCommand(stage, ['schedule', 'pause', 'nightly'])).code).toBe(0);
  await eventually('a pause', async () => (await describeSchedule()).schedule?.state?.paused);
  await eventually('a paused schedule', async () => (await findSchedule())?.paused);

  const payloadCodecs = [createEncryptingCodec(testKeys('k1'), 'default')];
  const { connection } = stage.client;
  const { taskQueue } = stage;
  await new Client({ connection, dataConverter: { payloadCodecs } }).workflow
    .execute('notification', { workflowId: 'odd/msg_0', taskQueue, args: [{ [word]: 1 }] })
    .catch(() => {});
  const doctor = async (): Promise<string> => {
    const env = { ...stageEnvironment(stage), PLANWAVE_KEYS: keysText('k1') };
    const command = runScript(['doctor', '--json'], env);
    await command.ended;
    return command.output();
  };
  // The reason of the first that is listed is shown: once the other is late, it is that one's.
  await eventually('the given up one', async () =>
    (await doctor()).includes('This is no notification'),
  );
  // A message is late after a minute.
  await sleep(Math.max(0, lateAt - Date.now()));
  const late = await eventually('the late one', async () => {
    const text = await doctor();
    return text.includes(`about ${id}`) && text;
  });
  expect(late).toContain('answered 503');
  worker.signal('SIGTERM');
  await worker.ended;
  await hook.close();
});
