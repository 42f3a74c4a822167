import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNotifier, signBody } from '../../../activities/adapters/notifier.ts';
import { NotificationFailed } from '../../../activities/ports/notifier.ts';
import type { NotificationBody } from '../../../core/run/notify.ts';
import { openHookServer } from '../../support/hook-server.ts';

const message: NotificationBody = {
  id: 'msg_0123456789abcdef',
  type: 'run.ended',
  timestamp: '2026-11-25T17:00:00.000Z',
  data: {
    run_id: 'backup',
    kind: 'ended',
    phase: 'completed',
    goal: 'Host the backup; `reboot` "now"',
    text: '',
    open_questions: 0,
    cost_usd: 0,
    command: 'planwave report backup',
    summary: 'backup has ended',
  },
};

const send = (...made: Parameters<typeof createNotifier>): Promise<void> =>
  createNotifier(...made).send(message, new AbortController().signal);

it('signs as the example of the Standard Webhooks specification does', () => {
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const body = '{"test": 2432232314}';
  expect(signBody(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, 1_614_265_330)).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

describe('a webhook', () => {
  it('is taken with any status from 200 to 299, and its signature holds for the exact body', async () => {
    const hook = await openHookServer();
    await send({ kind: 'webhook', url: hook.url, key: hook.key });
    expect(hook.heard.map(({ text }) => JSON.parse(text))).toEqual([message]);
    await hook.close();
  });

  it.each([301, 400, 404, 429, 500])(
    'that answers %d fails without a word of its address',
    async (status) => {
      const hook = await openHookServer();
      hook.answers.push(status);
      const failed = await send({ kind: 'webhook', url: hook.url, key: hook.key }).catch(
        (error: unknown) => error,
      );
      await hook.close();
      expect(failed).toBeInstanceOf(NotificationFailed);
      expect(String(failed)).toContain(`answered ${status}`);
      expect(String(failed)).not.toContain('planted');
    },
  );

  it('with another key is refused by its receiver', async () => {
    const hook = await openHookServer();
    const key = Buffer.from('another key');
    await expect(send({ kind: 'webhook', url: hook.url, key })).rejects.toThrow('answered 401');
    await hook.close();
  });

  it('that nobody serves fails with the cause', async () => {
    const hook = await openHookServer();
    await hook.close();
    await expect(send({ kind: 'webhook', url: hook.url, key: hook.key })).rejects.toThrow(
      'does not answer: ECONNREFUSED',
    );
  });
});

describe('a command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-hook-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'hook.mjs');
  const env = { PATH: process.env['PATH'] ?? '', KEPT: 'kept' };
  const runs = (program: string, timeoutMs?: number): Promise<void> => {
    writeFileSync(file, program);
    return send({ kind: 'command', argv: [process.execPath, file, '$HOME'], env }, timeoutMs);
  };

  it('gets one line of JSON, its arguments as they are, and only the environment that it may have', async () => {
    const run = runs(`import { readFileSync } from 'node:fs';
const [line, rest] = readFileSync(0, 'utf8').split('\\n');
const isRight = JSON.parse(line).data.goal.includes('\`reboot\`') && rest === '' && process.argv[2] === '$HOME';
process.exit(isRight && process.env.KEPT === 'kept' && process.env.HOME === undefined ? 0 : 3);`);
    await expect(run).resolves.toBeUndefined();
  });

  it('that fails is told with its last words', async () => {
    await expect(
      runs("console.log('first'); console.error('no room'); process.exit(4)"),
    ).rejects.toThrow('ended with 4: no room');
  });

  it('that hangs is ended with all that it started', async () => {
    await expect(
      runs(
        `import { spawn } from 'node:child_process';
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
setInterval(() => {}, 1_000);`,
        1_500,
      ),
    ).rejects.toThrow('took longer than 1.5 s');
  });

  it('that does not exist fails with the cause', async () => {
    await expect(send({ kind: 'command', argv: [join(folder, 'missing')], env })).rejects.toThrow(
      "the command missing can't be run: ENOENT",
    );
  });
});
