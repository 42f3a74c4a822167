import type { LogEntry } from '@temporalio/worker';
import { CannotDecrypt } from '../../encryption/key-ring.ts';
import { formatJson, formatLogEntry, formatText } from '../../worker/create-logger.ts';

function entry(meta: LogEntry['meta'] = {}): LogEntry {
  return { level: 'WARN', message: 'Activity failed', timestampNanos: 1_500_000_000_000n, meta };
}

const activity = {
  workflowId: 'my-run/wave-002/market',
  workflowType: 'delegation',
  workflowRunId: 'r',
  activityType: 'modelTurn',
  attempt: 3,
  turn: 4,
  taskToken: 'dG9rZW4=',
  isLocal: false,
  namespace: 'default',
  taskQueue: 'planwave',
  sdkComponent: 'worker',
};

it('a line of JSON says where in which run, and nothing that every line would say', () => {
  expect(JSON.parse(formatJson(entry(activity)))).toEqual({
    time: '1970-01-01T00:25:00.000Z',
    level: 'warn',
    message: 'Activity failed',
    run: 'my-run',
    wave: 2,
    delegation: 'market',
    turn: 4,
    workflowType: 'delegation',
    workflowRunId: 'r',
    activityType: 'modelTurn',
    attempt: 3,
  });
});

it('what a line says itself comes before what its workflow id says', () => {
  const wave = { workflowId: 'r/wave-001', workflowType: 'plannerWave', delegation: 'd1' };
  expect(JSON.parse(formatJson(entry(wave)))).toMatchObject({
    run: 'r',
    wave: 1,
    delegation: 'd1',
  });
});

it('a line of the native part names its workflow in another spelling', () => {
  const line: unknown = JSON.parse(formatJson(entry({ workflow_id: 'r/wave-001/d1' })));
  expect(line).toMatchObject({ run: 'r', wave: 1, delegation: 'd1' });
});

it('a line about no workflow has no place', () => {
  expect(JSON.parse(formatJson(entry()))).toEqual({
    time: expect.any(String),
    level: 'warn',
    message: 'Activity failed',
  });
});

it('of an error it has type, message and stack, not its details', () => {
  const error = Object.assign(new Error('no\nway'), { type: 'ModelAuth', details: ['a prompt'] });
  for (const line of [formatJson(entry({ error })), formatText(entry({ error }))]) {
    expect(line).toContain('ModelAuth');
    expect(line).not.toContain('a prompt');
  }
  expect(formatJson(entry({ error })).split('\n')).toHaveLength(1);
});

it('takes what JSON has no form for, and cuts what is long', () => {
  const line = formatJson(entry({ big: 1n, text: 'x'.repeat(50_000) }));
  expect(JSON.parse(line)).toMatchObject({ big: '1' });
  expect(line.length).toBeLessThan(5_000);
});

it('as text it is a line for people', () => {
  expect(formatText(entry())).toBe('1970-01-01T00:25:00.000Z [WARN] Activity failed');
  expect(formatText(entry(activity))).toContain("run: 'my-run'");
});

it('with keys a line has the type of an error and its places, and the message only of one about keys and paths', () => {
  const log = (error: Error, format: 'json' | 'text' = 'json') =>
    formatLogEntry({ format, hidesErrors: true }, entry({ ...activity, error }));
  const secret = Object.assign(new Error('about the tower\n    of the town'), {
    type: 'ModelOverloaded',
  });
  const line: { readonly error: Readonly<Record<string, string>> } = JSON.parse(log(secret));
  expect(line.error).toMatchObject({
    type: 'ModelOverloaded',
    message: '(encrypted: the history has it)',
  });
  expect(line.error['stack']).toMatch(/^ +at /);
  for (const format of ['json', 'text'] as const) {
    expect(log(secret, format)).not.toMatch(/tower|town/);
    expect(log(new CannotDecrypt('needs the key "k1"'), format)).toContain('needs the key');
  }
  expect(formatLogEntry({ format: 'json' }, entry({ error: secret }))).toContain('tower');
});
