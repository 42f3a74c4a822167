import { delimiter, resolve } from 'node:path';
import { ownToolchain } from '../../activities/adapters/sandbox/bubblewrap.ts';
import { readWorkerSettings } from '../../worker/worker-settings.ts';

it('takes the defaults of the documentation', () => {
  expect(readWorkerSettings({ ANTHROPIC_API_KEY: 'sk-ant-1' })).toEqual({
    home: resolve('.planning'),
    workspaceRoots: [resolve('.'), resolve('.planning')],
    agentRoots: [resolve('.'), resolve('.planning')],
    apiKey: 'sk-ant-1',
    baseUrl: undefined,
    defaultModel: 'claude-sonnet-5-5',
    isRehearsal: false,
    threadsUrl: undefined,
    keys: expect.objectContaining({ ids: [] }),
    taskQueue: 'planwave',
    middlewaresFile: undefined,
    shutdownGraceMs: 100_000,
    blockedSecondsMax: 30,
    deploymentName: undefined,
    buildId: undefined,
    metricsAddress: undefined,
    traced: false,
    commands: {
      toolchains: ownToolchain(),
      sharedFolders: ['node_modules', '.venv'],
      unconfined: false,
    },
    tools: { file: undefined, readable: [], untrustedWorkspaces: false, mcpFiles: [] },
    web: { on: true, model: undefined, hosts: [] },
    log: { format: 'text', level: 'WARN' },
  });
});

const readMemory = (PLANWAVE_WORKER_MEMORY: string) =>
  readWorkerSettings({ ANTHROPIC_API_KEY: 'sk-ant-1', PLANWAVE_WORKER_MEMORY }).memoryTarget;

it('reads the memory up to which a worker takes work', () => {
  expect([readMemory('80'), readMemory('')]).toEqual([0.8, undefined]);
  for (const wrong of ['9', '100', '0.8', '80%'])
    expect(() => readMemory(wrong)).toThrow('10 to 99');
});

const readModels = (env: NodeJS.ProcessEnv) =>
  readWorkerSettings({ ANTHROPIC_API_KEY: 'sk-ant-1', ...env }).models;

it('reads the queue of model calls, named after the account and without its key', () => {
  const { queue = '', rate } = readModels({ PLANWAVE_MODEL_RATE: '0.5' }) ?? {};
  expect([queue, rate]).toEqual([expect.stringMatching(/^planwave-model-[0-9a-f]{12}$/), 0.5]);
  expect(readModels({ PLANWAVE_MODEL_RATE: '5' })?.queue).toBe(queue);
  expect(readModels({ PLANWAVE_MODEL_RATE: '5', ANTHROPIC_API_KEY: 'sk-ant-2' })?.queue).not.toBe(
    queue,
  );
  expect(readModels({ PLANWAVE_MODEL_QUEUE: 'old' })).toEqual({ queue: 'old', rate: undefined });
  for (const PLANWAVE_MODEL_RATE of ['0', '0.0', '-1', 'many', '10000', '1e3']) {
    expect(() => readModels({ PLANWAVE_MODEL_RATE })).toThrow('more than 0');
  }
});

const readCommands = (env: NodeJS.ProcessEnv) =>
  readWorkerSettings({ ANTHROPIC_API_KEY: 'sk-ant-1', ...env }).commands;

it('reads the settings of commands, and refuses folders that are somewhere else', () => {
  const env = {
    PLANWAVE_TOOLCHAINS: '/opt/go:/opt/python',
    PLANWAVE_SHARED_FOLDERS: 'vendor',
    PLANWAVE_UNCONFINED_COMMANDS: '1',
  };
  expect(readCommands(env)).toEqual({
    toolchains: ['/opt/go', '/opt/python'],
    sharedFolders: ['vendor'],
    unconfined: true,
  });
  expect(() => readCommands({ PLANWAVE_TOOLCHAINS: 'opt/go' })).toThrow('absolute paths');
  expect(() => readCommands({ PLANWAVE_SHARED_FOLDERS: '../elsewhere' })).toThrow(
    'names of folders',
  );
  expect(() => readCommands({ PLANWAVE_SHARED_FOLDERS: '..' })).toThrow('names of folders');
  expect(() => readCommands({ PLANWAVE_UNCONFINED_COMMANDS: 'yes' })).toThrow('without a sandbox');
});

it('finding T5: folders for workspaces and agents are lists, as PATH is', () => {
  const set = readWorkerSettings({
    ANTHROPIC_API_KEY: 'rehearsal',
    PLANWAVE_WORKSPACES: ['/srv/projects', '', 'here'].join(delimiter),
    PLANWAVE_AGENTS: '/srv/agents',
  });
  expect(set.workspaceRoots).toEqual(['/srv/projects', resolve('here')]);
  // Agents in code are written there.
  expect(set.agentRoots).toEqual(['/srv/agents', resolve('.planning/temporal/agents')]);
});

it.each([
  ['opus', 'claude-opus-5-5'],
  ['my-model', 'my-model'],
])('the default model %s is %s, by a short name as elsewhere', (PLANWAVE_MODEL, model) => {
  const settings = readWorkerSettings({ ANTHROPIC_API_KEY: 'sk-ant-1', PLANWAVE_MODEL });
  expect(settings.defaultModel).toBe(model);
});

it('an empty variable is one that is not set', () => {
  const empty = { PLANWAVE_HOME: '', PLANWAVE_MODEL: '', PLANWAVE_TASK_QUEUE: '' };
  const set = readWorkerSettings({ ...empty, ANTHROPIC_API_KEY: 'rehearsal' });
  expect(set).toMatchObject({
    taskQueue: 'planwave',
    defaultModel: 'rehearsal',
    isRehearsal: true,
  });
});

it('refuses to work without a key and without a server that may do without one', () => {
  expect(() => readWorkerSettings({ ANTHROPIC_API_KEY: '' })).toThrow(/ANTHROPIC_API_KEY.*empty/);
  expect(readWorkerSettings({ ANTHROPIC_BASE_URL: 'http://model:1' }).apiKey).toBe('none');
});

it.each([
  ['ANTHROPIC_API_KEY', 'sk-ant-hidden with blank'],
  ['ANTHROPIC_API_KEY', 'sk-ant-hidden\r'],
  ['ANTHROPIC_BASE_URL', 'model:8787/hidden'],
  ['ANTHROPIC_BASE_URL', 'ftp://hidden@model'],
  ['PLANWAVE_MODEL', 'two words'],
  ['PLANWAVE_MODEL', 'inherit'],
  ['PLANWAVE_TASK_QUEUE', 'two words'],
  ['PLANWAVE_THREADS_URL', 'mysql://user:hidden@host/threads'],
  ['PLANWAVE_THREADS_URL', 'hidden@host:5432'],
  ['PLANWAVE_ARTIFACTS_URL', 'https://hidden.example.com/bucket'],
  ['PLANWAVE_ARTIFACTS_URL', 's3://ab'],
  ['PLANWAVE_ARTIFACTS_URL', 's3://key:hidden@bucket/prefix'],
  ['PLANWAVE_ARTIFACTS_URL', 's3://bucket?endpoint=hidden:9000'],
  ['PLANWAVE_WORKER_GRACE_SECONDS', '0'],
  ['PLANWAVE_WORKER_GRACE_SECONDS', '121'],
  ['PLANWAVE_WORKER_GRACE_SECONDS', 'soon'],
  ['PLANWAVE_BLOCKED_SECONDS', '1'],
  ['PLANWAVE_BLOCKED_SECONDS', '601'],
  ['PLANWAVE_BLOCKED_SECONDS', '-5'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hidden:4318'],
  ['PLANWAVE_LOG', 'xml'],
  ['PLANWAVE_LOG_LEVEL', 'WARN'],
  ['PLANWAVE_LOG_LEVEL', 'constructor'],
  ['PLANWAVE_MIDDLEWARES', './hidden'],
  ['PLANWAVE_MIDDLEWARES', './hidden.json'],
  ['PLANWAVE_WEB_HOSTS', 'nodejs.org,10.0.0.1'],
  ['PLANWAVE_METRICS_ADDRESS', '9464'],
  ['PLANWAVE_METRICS_ADDRESS', 'localhost:9464'],
  ['PLANWAVE_METRICS_ADDRESS', '127.0.0.1:0'],
  ['PLANWAVE_METRICS_ADDRESS', '127.0.0.1:70000'],
  ['PLANWAVE_METRICS_ADDRESS', '::1:9464'],
  ['TEMPORAL_DEPLOYMENT_NAME', 'plan.wave'],
  ['TEMPORAL_DEPLOYMENT_NAME', 'plan:wave'],
  ['TEMPORAL_DEPLOYMENT_NAME', '__planwave'],
  ['TEMPORAL_WORKER_BUILD_ID', 'two words'],
  ['TEMPORAL_WORKER_BUILD_ID', 'b'.repeat(300)],
])('refuses %s=%j by name and without the value', (name, value) => {
  const read = () => readWorkerSettings({ ANTHROPIC_API_KEY: 'x', [name]: value });
  expect(read).toThrow(new RegExp(`^${name} can't be used: expected .*Try: `));
  expect(read).not.toThrow(/hidden/);
});

it.each(['127.0.0.1:9464', '0.0.0.0:1', '[::1]:9464'])(
  'takes the address %s for metrics',
  (address) => {
    const env = { ANTHROPIC_API_KEY: 'x', PLANWAVE_METRICS_ADDRESS: address };
    expect(readWorkerSettings(env).metricsAddress).toBe(address);
  },
);

it('takes the address of a database for threads, with a password or by a socket', () => {
  for (const url of [
    'postgresql://planwave:word@host:5432/threads?sslmode=verify-full',
    'postgres:///planwave?host=/var/run/postgresql',
  ]) {
    const env = { ANTHROPIC_API_KEY: 'x', PLANWAVE_THREADS_URL: url };
    expect(readWorkerSettings(env).threadsUrl).toBe(url);
  }
});

it('a bucket needs a database and keys, and is read with them', () => {
  const url = 's3://planwave/artifacts?endpoint=http://127.0.0.1:9000&region=eu-central-1';
  const bucket = { ANTHROPIC_API_KEY: 'x', PLANWAVE_ARTIFACTS_URL: url };
  expect(() => readWorkerSettings(bucket)).toThrow(/needs PLANWAVE_STORE_URL.*\nTry: name/);
  const stored = { ...bucket, PLANWAVE_STORE_URL: 'postgresql://planwave@db/planwave' };
  expect(() => readWorkerSettings(stored)).toThrow(/AWS_SECRET_ACCESS_KEY\.\nTry: set both/);
  const keys = {
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'hidden',
    AWS_REGION: 'eu-west-1',
  };
  expect(readWorkerSettings({ ...stored, ...keys }).artifacts).toEqual({
    url,
    accessKeyId: 'id',
    secretAccessKey: 'hidden',
    sessionToken: undefined,
    region: 'eu-west-1',
  });
});

it('reads how the log is written', () => {
  const env = { ANTHROPIC_API_KEY: 'x', PLANWAVE_LOG: 'json', PLANWAVE_LOG_LEVEL: 'info' };
  expect(readWorkerSettings(env).log).toEqual({ format: 'json', level: 'INFO' });
});

it('traces when a collector is named', () => {
  const env = { ANTHROPIC_API_KEY: 'x', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  expect(readWorkerSettings(env).traced).toBe(true);
});
