import { readdir, readFile, readlink } from 'node:fs/promises';
import { metrics } from '../../../core/metrics/metrics.ts';
import { createRecorder } from '../../../core/metrics/create-recorder.ts';
import { findFreePort } from '../../../scripts/dev-server/temporal-probe.ts';
import { watchQuestions } from '../../../worker/watch-questions.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { createMemoryMeter } from '../../support/memory-meter.ts';
import { goal } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { scrape } from '../../support/scrape.ts';
import {
  blocked,
  completed,
  decision,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

/** Own server, because the metric counts the open questions of all runs of a server. */
const { stage } = useOwnServer();

const usage = {
  input_tokens: 1_000,
  output_tokens: 200,
  cache_creation_input_tokens: 300,
  cache_read_input_tokens: 4_000,
};
const priced = { model: 'claude-sonnet-5-5', usage };

/** The worker has it in its environment, under a name that says what it is. */
const secret = 'planted-value-0123456789';

const story = [
  plans(1, plan([work('good'), work('bad'), work('late', { depends_on: ['bad'] }), work('asks')])),
  works('good', { text: `All done: ${secret}`, ...priced }, 1),
  works('good', { json: completed('good-done'), ...priced }),
  works('bad', { json: unmet('failed', 'The source is gone.', 'bad-done') }),
  works(
    'asks',
    { json: blocked([question('For whom?', { priority: 'critical' })], 'asks-done') },
    1,
  ),
  works('asks', { json: completed('asks-done'), usage: null }),
  { match: { schema: 'decision' as const }, reply: { json: decision('bad-done', 'late-done') } },
];

it('what Prometheus reads is what the run itself reports, and only where an address is set', async () => {
  stage.rehearsal.script(story);
  const port = await findFreePort();
  const address = `127.0.0.1:${port}`;
  const worker = await startWorkerProcess(stage, {
    PLANWAVE_METRICS_ADDRESS: address,
    TRIAL_TOKEN: secret,
  });
  const run = await stage.start('plannerRun', { goal, limits: { max_waves: 1 } });

  const meter = createMemoryMeter();
  const stopWatching = watchQuestions(stage.client, createRecorder(meter), 100);
  const asked = await openQuestion(stage, run, 'q1');
  const newest = (name: string): number | undefined =>
    meter.values().findLast((recorded) => recorded.name === name)?.value;
  await eventually('the open question', async () => newest(metrics.openQuestions.name) === 1);
  expect(newest(metrics.oldestQuestionAge.name)).toBeLessThan(
    Date.now() / 1_000 - asked.asked_at + 1,
  );
  expect((await run.describe()).searchAttributes['PlanwaveOldestQuestion']).toEqual([
    new Date(asked.asked_at * 1_000),
  ]);
  await submit(run, { question_id: 'q1', answer: 'For all.' });
  await openQuestion(stage, run, 'q2');
  await submit(run, { question_id: 'q2', answer: 'finish' });
  const result = await stage.result(run);
  await eventually('no open question', async () => newest(metrics.openQuestions.name) === 0);
  stopWatching();

  const page = await scrape(`http://${address}/metrics`);
  const tokens = (kind: string): number => page.sum(metrics.tokens.name, { kind });
  expect(result.usage).toMatchObject({
    calls: page.sum('planwave_model_call_duration_seconds_count', {}),
    input_tokens: tokens('input'),
    cache_creation_input_tokens: tokens('cache_creation'),
    cache_read_input_tokens: tokens('cache_read'),
    output_tokens: tokens('output'),
    cost_micro_usd: Math.round(page.sum('planwave_model_call_cost_usd_sum') * 1_000_000),
    unpriced_calls: page.sum(metrics.unpricedCalls.name),
  });
  expect(result.usage.cost_micro_usd).toBeGreaterThan(0);
  expect(result.usage.unpriced_calls).toBe(1);
  expect(page.labels(metrics.delegations.name, ['agent', 'status'])).toEqual({
    'researcher completed': 2,
    'researcher failed': 1,
    'researcher skipped': 1,
  });
  expect(page.labels(metrics.failures.name, ['agent', 'reason'])).toEqual({
    'researcher agent_failed': 1,
  });
  expect(page.labels(metrics.repairs.name, ['agent', 'stage'])).toEqual({
    'researcher delegation': 1,
  });
  expect(page.labels('planwave_question_wait_seconds_count', ['result'])).toEqual({ answered: 2 });
  expect(page.labels('planwave_wave_duration_seconds_count', ['status'])).toEqual({ decided: 1 });
  expect(page.labels('planwave_run_duration_seconds_count', ['status'])).toEqual({
    finished_unmet: 1,
  });
  expect(page.sum('planwave_gate_wait_seconds_count')).toBe(3);
  expect(page.sum(metrics.redactions.name)).toBeGreaterThan(0);
  expect(page.text).not.toContain(secret);
  expect(page.text).not.toContain(run.workflowId);
  await expectPromisesKept(stage, run.workflowId);

  const second = await startWorkerProcess(stage, { PLANWAVE_METRICS_ADDRESS: address }).catch(
    String,
  );
  expect(second).toContain("PLANWAVE_METRICS_ADDRESS can't be used");
  expect(second).toContain('exit code 2');
  const silent = await startWorkerProcess(stage);
  const ports = [await listeningPorts(worker.pid), await listeningPorts(silent.pid)];
  expect(ports).toEqual(process.platform === 'linux' ? [[port], []] : [null, null]);
});

/** The TCP ports that a process listens on, by /proc; null where there is none. */
async function listeningPorts(pid: number): Promise<number[] | null> {
  if (process.platform !== 'linux') return null;
  const files = await readdir(`/proc/${pid}/fd`);
  const links = new Set(
    await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => ''))),
  );
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[3] === '0A' && links.has(`socket:[${columns[9]}]`))
    .map(([, local = '']) => Number.parseInt(local.split(':').at(-1) ?? '', 16));
}
