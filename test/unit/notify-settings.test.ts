import { checkNotify, testNotification } from '../../scripts/check-notify.ts';
import { readNotifyTarget } from '../../worker/worker-settings.ts';
import { openHookServer } from '../support/hook-server.ts';

const PLANWAVE_NOTIFY_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const readTarget = (PLANWAVE_NOTIFY: string, more = {}) =>
  readNotifyTarget({ PLANWAVE_NOTIFY, ...more });

it('reads a webhook with its secret', () => {
  expect(readTarget('https://hooks.example.com/a?b=c', { PLANWAVE_NOTIFY_SECRET })).toEqual({
    kind: 'webhook',
    url: 'https://hooks.example.com/a?b=c',
    key: Buffer.alloc(32, 7),
  });
  expect(readTarget('')).toBeUndefined();
});

it('reads a command as words or as a JSON list, and gives it no secret of the worker', () => {
  const env = {
    ANTHROPIC_API_KEY: 'sk-ant-api03-9431-planted',
    PATH: '/bin',
    HOLDS: 'x sk-ant-api03-9431-planted',
  };
  expect(readTarget(' notify-send  planwave ', env)).toEqual({
    kind: 'command',
    argv: ['notify-send', 'planwave'],
    env: { PLANWAVE_NOTIFY: ' notify-send  planwave ', PATH: '/bin' },
  });
  expect(readTarget('["/opt/tell me","--to","a; b"]')).toMatchObject({
    argv: ['/opt/tell me', '--to', 'a; b'],
  });
});

it.each([
  'http://hooks.example.com/planted',
  'ftp://hooks.example.com/planted',
  'https://planted:planted@hooks.example.com/',
  'https://',
  '["planted"',
  '[]',
  '[1,"planted"]',
  '["planted\\u0000"]',
  ' ',
])('refuses %j without showing it', (wrong) => {
  const read = () => readTarget(wrong, { PLANWAVE_NOTIFY_SECRET });
  expect(read).toThrow("PLANWAVE_NOTIFY can't be used: expected https://");
  expect(read).not.toThrow('planted');
});

it('refuses a webhook without a secret, and a secret that is none, with a command that makes one', () => {
  expect(() => readTarget('https://hooks.example.com')).toThrow(
    /needs PLANWAVE_NOTIFY_SECRET.*openssl/s,
  );
  for (const wrong of ['planted', 'whsec_planted', `whsec_${'a'.repeat(200)}`]) {
    const read = () => readTarget('https://hooks.example.com', { PLANWAVE_NOTIFY_SECRET: wrong });
    expect(read).toThrow(/PLANWAVE_NOTIFY_SECRET can't be used: expected whsec_/);
    expect(read).not.toThrow('planted');
  }
});

describe('doctor', () => {
  it('shows where people are told, without what may be secret', () => {
    expect(checkNotify({})).toEqual({ ok: true, detail: 'none; no PLANWAVE_NOTIFY' });
    const env = { PLANWAVE_NOTIFY: 'https://hooks.example.com/planted', PLANWAVE_NOTIFY_SECRET };
    expect(checkNotify(env)).toEqual({
      ok: true,
      detail: 'signed webhook at hooks.example.com; doctor --notify sends a test message',
    });
    expect(checkNotify({ PLANWAVE_NOTIFY: '/opt/tell --token planted' }).detail).toMatch(
      /^command tell;/,
    );
    const { PLANWAVE_NOTIFY } = env;
    expect(checkNotify({ PLANWAVE_NOTIFY })).toEqual({
      ok: false,
      detail:
        'PLANWAVE_NOTIFY is a webhook and needs PLANWAVE_NOTIFY_SECRET, which signs its messages.',
      cure: expect.stringContaining('openssl rand'),
    });
  });

  it('--notify sends a test message, and says what is wrong', async () => {
    const hook = await openHookServer();
    const secret = `whsec_${hook.key.toString('base64')}`;
    const env = { PLANWAVE_NOTIFY: hook.url, PLANWAVE_NOTIFY_SECRET: secret };
    hook.answers.push(204, 503);
    expect(await testNotification(env)).toMatchObject({ ok: true });
    expect(await testNotification(env)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('answered 503'),
    });
    await hook.close();
    expect(hook.heard.map(({ type }) => type)).toEqual(['run.test', 'run.test']);
    expect(await testNotification({})).toMatchObject({ ok: false, cure: expect.any(String) });
  });
});
