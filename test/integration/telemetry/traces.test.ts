import { loadWorkflowBundle } from '../../../worker/bundle-workflows.ts';
import { replayHistories } from '../../../worker/replay-histories.ts';
import { fetchHistories, replayAll } from '../../support/histories.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import type { OtlpReceiver } from '../../support/otlp-receiver.ts';
import { goal } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  decision,
  plan,
  plans,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';
import type { ScriptProcess } from '../../support/worker-process.ts';

/** A run here continues as new after its first wave. */
const { stage } = useOwnServer([
  '--dynamic-config-value=limit.historyCount.suggestContinueAsNew=15',
]);

const runId = 'traced';

const twoWaves = [
  plans(1, plan([work('first')])),
  plans(2, plan([work('second', { criteria: ['first-done'] })])),
  works('first', { json: unmet('failed', 'Not yet.', 'first-done') }),
  works('second', { json: completed('first-done') }),
  { match: { schema: 'decision' as const, nth: 1 }, reply: { json: decision('first-done') } },
  { match: { schema: 'decision' as const }, reply: { json: decision() } },
];

let receiver: OtlpReceiver;
let worker: ScriptProcess;
const endings: string[] = [];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
  stage.rehearsal.script(twoWaves);
  worker = await startWorkerProcess(stage, {
    ...traced,
    PLANWAVE_LOG: 'json',
    PLANWAVE_LOG_LEVEL: 'debug',
  });
  const environment = { ...stageEnvironment(stage), ...traced };
  const start = runScript('planwave.mjs', ['start', '--id', runId, goal], environment);
  endings.push(await start.ended);
  const { status, waves } = await stage.result(stage.client.workflow.getHandle(runId));
  endings.push(`${status} after ${waves} waves`);
  worker.signal('SIGTERM');
  endings.push(await worker.ended);
}, 120_000);

afterAll(() => receiver.close());

it('one run is one trace: from the command over workflows and their continuation to activities', () => {
  expect(endings).toEqual(['exit code 0', 'completed after 2 waves', 'exit code 0']);
  const spans = receiver.spans();
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId));
  expect(roots.map(({ name }) => name)).toEqual(['StartWorkflow:plannerRun']);
  const counts = new Map<string, number>();
  for (const { name } of spans) counts.set(name, (counts.get(name) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toMatchObject({
    'StartWorkflow:plannerRun': 1,
    'ContinueAsNew:plannerRun': expect.any(Number),
    'RunWorkflow:plannerRun': 1 + (counts.get('ContinueAsNew:plannerRun') ?? 0),
    'RunWorkflow:plannerWave': 2,
    'RunWorkflow:delegation': 2,
    'StartActivity:modelTurn': 6,
    'RunActivity:modelTurn': 6,
    'RunActivity:openRun': 1,
  });
});

it('a span says where in the run it is, and holds no text of a person or a model', () => {
  const places = receiver
    .spans()
    .filter(({ name }) => name === 'RunActivity:modelTurn')
    .map(({ attributes }) =>
      attributes
        .filter(({ key }) => key.startsWith('planwave.'))
        .map(({ key, value }) => `${key}=${Object.values(value).join('')}`)
        .join(' '),
    );
  expect(places.toSorted()).toEqual([
    'planwave.run=traced planwave.wave=1',
    'planwave.run=traced planwave.wave=1',
    'planwave.run=traced planwave.wave=1 planwave.delegation=first',
    'planwave.run=traced planwave.wave=2',
    'planwave.run=traced planwave.wave=2',
    'planwave.run=traced planwave.wave=2 planwave.delegation=second',
  ]);
  expect(receiver.text()).not.toContain(goal);
  expect(receiver.text()).not.toContain('Not yet.');
});

it('each line of the log is JSON with its run, wave, delegation and turn, and holds no text of theirs', () => {
  const lines = worker
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
  const replies = lines.filter(({ message }) => message === 'the model was called');
  expect(replies).toHaveLength(6);
  expect(replies.find(({ delegation }) => delegation === 'second')).toMatchObject({
    level: 'info',
    run: runId,
    wave: 2,
    turn: 1,
    calls: 1,
    trace_id: receiver.spans()[0]?.traceId,
  });
  expect(lines.filter(({ message }) => message === 'delegation ended')).toEqual([
    expect.objectContaining({ run: runId, wave: 1, delegation: 'first', status: 'failed' }),
    expect.objectContaining({ run: runId, wave: 2, delegation: 'second', status: 'completed' }),
  ]);
  const aboutWorkflows = lines.filter(
    (line) => 'workflowType' in line || 'activityType' in line || 'workflowRunId' in line,
  );
  expect(aboutWorkflows.filter(({ run }) => run !== runId)).toEqual([]);
  expect(worker.output()).not.toContain(goal);
  expect(worker.output()).not.toContain('Not yet.');
});

it('what was made with tracing replays without, and with it', async () => {
  await expectPromisesKept(stage, runId);
  const histories = await fetchHistories(stage.client, runId);
  await replayAll(histories);
  const traced = await loadWorkflowBundle({ traced: true });
  for await (const { fault } of replayHistories(histories, traced)) expect(fault).toBeNull();
}, 60_000);
