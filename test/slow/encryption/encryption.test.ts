import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { createEncryptingCodec, keyIdOf } from '../../../encryption/encrypting-codec.ts';
import type { KeyRing } from '../../../encryption/key-ring.ts';
import { findFreePort } from '../../../scripts/dev-server/temporal-probe.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories, historyJson } from '../../support/histories.ts';
import { textsOf } from '../../support/planted.ts';
import {
  blocked,
  completed,
  decision,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { runCommand } from '../../support/run-command.ts';
import { startOtlpReceiver } from '../../support/traces.ts';
import { keysText, testKeys } from '../../support/test-keys.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { openWebPage } from '../../support/web-page.ts';
import type { WebPage } from '../../support/web-page.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';
import type { ScriptProcess } from '../../support/worker-process.ts';

/** Port of the codec server, which the Web UI is told at its start. */
const codecPort = await findFreePort();

/** Tests build on one another: the first two leave runs that the others read. */
const { server, stage } = useOwnServer(['--ui-codec-endpoint', `http://localhost:${codecPort}`]);
const collector = await startOtlpReceiver();
afterAll(() => collector.close());
let web: WebPage | undefined;
// Before the server is stopped: the page keeps connections to it open.
afterAll(() => web?.close());

function clientOf(keys: KeyRing): PlanwaveClient {
  const { connection } = stage.client;
  const { address, taskQueue } = stage;
  return createPlanwaveClient({ connection, address, namespace: 'default', taskQueue, keys });
}

function workerWith(...ids: readonly string[]): Promise<ScriptProcess> {
  const env: Record<string, string> = {
    PLANWAVE_LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  return startWorkerProcess(
    stage,
    ids.length === 0 ? env : { ...env, PLANWAVE_KEYS: keysText(...ids) },
  );
}

async function stop(worker: ScriptProcess): Promise<string> {
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('exit code 0');
  return worker.output();
}

/** Runs a command of the client as a process, as a person does. */
function planwave(
  args: readonly string[],
  ...ids: readonly string[]
): ReturnType<typeof runScript> {
  const keys = ids.length === 0 ? {} : { PLANWAVE_KEYS: keysText(...ids) };
  return runScript(args, { ...stageEnvironment(stage), ...keys });
}

async function openQuestion(client: PlanwaveClient, runId: string): Promise<void> {
  await eventually('the open question', async () => {
    const reading = await client.questions(runId);
    return reading.live && reading.view.open.length === 1;
  });
}

/** Lets the word go through everything that keeps content. */
function scriptWith(word: string): void {
  stage.rehearsal.reset();
  stage.rehearsal.script([
    plans(1, plan([work('host', { task_description: `Host the ${word}.` })])),
    works('host', { status: 529, message: `Overloaded by the ${word}` }, 1),
    works('host', { json: blocked([question(`Where is the ${word}?`)], 'host-done') }, 2),
    works('host', {
      json: { ...completed('host-done'), detailed_md: `# ${word}\n\n## host-done\n\nIt stands.\n` },
    }),
    { match: { schema: 'decision' }, reply: { json: { ...decision(), wave_compact: word } } },
  ]);
}

async function play(client: PlanwaveClient, runId: string, word: string): Promise<void> {
  scriptWith(word);
  await client.startRun({ goal: `Build the ${word}` }, { run_id: runId });
  await openQuestion(client, runId);
  await client.amend(runId, { instruction: `Paint the ${word}` });
  const sent = await client.answer(runId, { question_id: 'q1', answer: `Beside the ${word}` });
  expect(sent.status).toBe('accepted');
  expect(await client.waitForEnd(runId)).toMatchObject({ ended: 'result' });
}

/** Starts what the worker refuses, with the word in the failure. */
async function playFailure(keys: KeyRing, workflowId: string, word: string): Promise<void> {
  const { connection } = stage.client;
  const payloadCodecs = [createEncryptingCodec(keys, 'default')];
  const raw = new Client({ connection, dataConverter: { payloadCodecs } });
  const { taskQueue } = stage;
  const args = [{ goal: 'Fail', [word]: 1 }];
  await raw.workflow.start('plannerRun', { workflowId, taskQueue, args });
  const end = await clientOf(keys).waitForEnd(workflowId);
  expect(end).toMatchObject({ ended: 'failed', type: 'InvalidInput' });
  expect('reason' in end ? end.reason : '').toContain(word);
}

/** Reads all files below a folder as one text. One that a server has just removed is left out. */
function readAll(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ name, parentPath }) => {
      const path = join(parentPath, name);
      try {
        return `${name}\n${readFileSync(path, 'latin1')}`;
      } catch (error) {
        if (existsSync(path)) throw error;
        return [];
      }
    })
    .join('\n');
}

/** Names the places in which a word stands, plainly or in Base64. */
async function findWord(
  word: string,
  log: string,
  ...ids: readonly string[]
): Promise<readonly string[]> {
  const histories = await Promise.all(ids.map((id) => fetchHistories(stage.client, id)));
  const places: Readonly<Record<string, string>> = {
    database: readAll(server.home),
    history: histories
      .flat()
      .flatMap(({ history }) => [JSON.stringify(historyJson(history)), ...textsOf(history)])
      .join('\n'),
    store: readAll(stage.home),
    log,
    traces: collector.text(),
  };
  return Object.entries(places).flatMap(([place, text]) => (hasWord(word, text) ? [place] : []));
}

/** Finds a word, plainly or in Base64. */
function hasWord(word: string, text: string): boolean {
  const spellings = [word, ...[0, 1, 2].map((shift) => base64Part(word, shift))];
  return spellings.some((spelling) => text.includes(spelling));
}

/** Returns the part of Base64 that depends on the word alone, where it begins `shift` bytes after a group. */
function base64Part(word: string, shift: number): string {
  const encoded = Buffer.from('-'.repeat(shift) + word).toString('base64');
  return encoded.slice(shift === 0 ? 0 : 4, -4);
}

/** Names the keys of all encrypted payloads of a run. */
async function keyIdsOf(runId: string): Promise<readonly string[]> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    const id = keyIdOf(value);
    if (id !== null) found.add(id);
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const { history } of await fetchHistories(stage.client, runId)) visit(history.events);
  return [...found].toSorted();
}

it('finding T11: no word of a run is in database, history, store, log or traces; without keys it is in each', async () => {
  const keys = testKeys('k1');
  const worker = await workerWith('k1');
  await play(clientOf(keys), 'tower', 'Zwiebelturm');
  await playFailure(keys, 'tower-fails', 'Zwiebelturm');
  const log = await stop(worker);
  // What is read with the key has the word: it went through everything.
  const report = planwave(['report', 'tower', '--full'], 'k1');
  expect(await report.ended).toBe('exit code 0');
  expect(report.output()).toContain('Zwiebelturm');

  const plainWorker = await workerWith();
  await play(clientOf(testKeys()), 'arch', 'Klinkerbogen');
  await playFailure(testKeys(), 'arch-fails', 'Klinkerbogen');
  const plainLog = await stop(plainWorker);

  expect(await findWord('Klinkerbogen', plainLog, 'arch', 'arch-fails')).toEqual([
    'database',
    'history',
    'store',
    'log',
    'traces',
  ]);
  expect(await findWord('Zwiebelturm', log, 'tower', 'tower-fails')).toEqual([]);
  expect(existsSync(join(stage.home, 'arch', 'result.md'))).toBe(true);
  expect(existsSync(join(stage.home, 'tower'))).toBe(false);
});

it('open runs go on after a rotation, and a worker without their key does not start', async () => {
  scriptWith('Zwiebelturm');
  const first = await workerWith('k1');
  await clientOf(testKeys('k1')).startRun({ goal: 'Build the Zwiebelturm' }, { run_id: 'rotated' });
  await openQuestion(clientOf(testKeys('k1')), 'rotated');
  await stop(first);

  const refused = runScript(['worker'], {
    ...stageEnvironment(stage),
    PLANWAVE_KEYS: keysText('k2'),
  });
  expect(await refused.ended).not.toBe('exit code 0');
  expect(refused.output()).toContain(
    'Open runs are encrypted with the key "k1", which PLANWAVE_KEYS does not have. Try:',
  );

  const second = await workerWith('k2', 'k1');
  const client = clientOf(testKeys('k2', 'k1'));
  await client.answer('rotated', { question_id: 'q1', answer: 'Beside the Zwiebelturm' });
  expect(await client.waitForEnd('rotated')).toMatchObject({ ended: 'result' });
  expect(await keyIdsOf('rotated')).toEqual(['k1', 'k2']);
  scriptWith('Zwiebelturm');
  await client.startRun({ goal: 'Build another' }, { run_id: 'fresh' });
  await openQuestion(client, 'fresh');
  expect(await keyIdsOf('fresh')).toEqual(['k2']);
  await stop(second);
});

it('a replay of open runs decrypts, and a client without the key lists what it can read', async () => {
  const replay = planwave(['doctor', '--replay'], 'k2', 'k1');
  expect(await replay.ended).toBe('exit code 0');
  expect(replay.output()).toContain(' replayed, 0 would break');

  const doctor = await runCommand(stage, ['doctor']);
  expect(doctor.out).toContain('keys: Open runs are encrypted with the key "k2"');
  const list = await runCommand(stage, ['list']);
  expect(list).toMatchObject({ code: 0, err: '' });
  const [, row = ''] = /^(fresh .*)$/m.exec(list.out) ?? [];
  expect(row).toContain('waiting for user');
  expect(row).toContain('1 open');
  expect(row).toContain('(encrypted)');
  expect(list.out).toContain('Build the Klinkerbogen');

  const status = await runCommand(stage, ['status', 'tower']);
  expect(status).toMatchObject({ code: 0, err: '' });
  expect(status.out).toContain('completed');
  const report = await runCommand(stage, ['report', 'tower']);
  const amend = await runCommand(stage, ['amend', 'fresh', 'Paint the Zwiebelturm']);
  expect([report.code, amend.code]).toEqual([1, 2]);
  expect(amend.err).toContain('Run fresh is encrypted with the key "k2"');
  for (const { out, err } of [status, report, amend]) {
    expect(out + err).toContain('PLANWAVE_KEYS');
    expect(out + err).not.toMatch(/^\s+at /m);
  }
});

/** Shows the history of a run by the Temporal CLI. */
async function show(...more: readonly string[]): Promise<string> {
  const words = ['temporal', 'workflow', 'show', '--workflow-id', 'tower', '--output', 'json'];
  const command = planwave([...words, ...more]);
  await command.ended;
  return command.output();
}

it('the Temporal CLI and the Web UI read a run through the codec server', async () => {
  const { origin } = new URL(server.uiUrl);
  const words = ['codec-server', '--port', String(codecPort), '--ui', origin];
  const codec = planwave(words, 'k2', 'k1');
  await codec.printed('Ctrl-C stops it');
  const encrypted = await show();
  expect(encrypted).toContain('"workflowExecutionStartedEventAttributes"');
  expect(hasWord('Zwiebelturm', encrypted)).toBe(false);
  const decrypted = await show('--codec-endpoint', `http://127.0.0.1:${codecPort}`);
  expect(hasWord('Zwiebelturm', decrypted)).toBe(true);

  web = await openWebPage({ width: 1400, height: 900 });
  const { page } = web;
  await page.goto(`${server.uiUrl}/namespaces/default/workflows/tower`);
  await eventually('the goal on the page', async () => {
    const texts = await Promise.all(
      page.frames().map((frame) =>
        frame
          .locator('body')
          .innerText({ timeout: 10_000 })
          .catch(() => ''),
      ),
    );
    return texts.some((text) => text.includes('Build the Zwiebelturm'));
  });
  codec.signal('SIGTERM');
  expect(await codec.ended).toBe('exit code 0');
});
