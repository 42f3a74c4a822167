import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { createEncryptingCodec, keyIdOf } from '../../../encryption/encrypting-codec.ts';
import type { KeyRing } from '../../../encryption/key-ring.ts';
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
import { keysText, testKeys } from '../../support/test-keys.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';
import type { ScriptProcess } from '../../support/worker-process.ts';

/** Tests build on one another: the first two leave runs that the others read. */
const { server, stage } = useOwnServer();

function clientOf(keys: KeyRing): PlanwaveClient {
  const { connection } = stage.client;
  const { address, taskQueue } = stage;
  return createPlanwaveClient({ connection, address, namespace: 'default', taskQueue, keys });
}

function workerWith(...ids: readonly string[]): Promise<ScriptProcess> {
  const env: Record<string, string> = { PLANWAVE_LOG_LEVEL: 'info' };
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

/** Runs the client as a process, as a person does. */
async function planwave(
  args: readonly string[],
  ...ids: readonly string[]
): Promise<{ readonly ending: string; readonly output: string }> {
  const keys = ids.length === 0 ? {} : { PLANWAVE_KEYS: keysText(...ids) };
  const command = runScript('planwave.mjs', args, { ...stageEnvironment(stage), ...keys });
  return { ending: await command.ended, output: command.output() };
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

/** Reads all files below a folder as one text. */
function readAll(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`)
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

it('finding T11: no word of a run is in database, history, store or log; without keys it is in each', async () => {
  const keys = testKeys('k1');
  const worker = await workerWith('k1');
  await play(clientOf(keys), 'tower', 'Zwiebelturm');
  await playFailure(keys, 'tower-fails', 'Zwiebelturm');
  const log = await stop(worker);
  // What is read with the key has the word: it went through everything.
  const report = await planwave(['report', 'tower', '--full'], 'k1');
  expect(report.output).toContain('Zwiebelturm');

  const plainWorker = await workerWith();
  await play(clientOf(testKeys()), 'arch', 'Klinkerbogen');
  await playFailure(testKeys(), 'arch-fails', 'Klinkerbogen');
  const plainLog = await stop(plainWorker);

  expect(await findWord('Klinkerbogen', plainLog, 'arch', 'arch-fails')).toEqual([
    'database',
    'history',
    'store',
    'log',
  ]);
  expect(await findWord('Zwiebelturm', log, 'tower', 'tower-fails')).toEqual([]);
  expect(existsSync(join(stage.home, 'arch', 'result.md'))).toBe(true);
  expect(existsSync(join(stage.home, 'tower'))).toBe(false);
}, 300_000);

it('open runs go on after a rotation, and a worker without their key does not start', async () => {
  scriptWith('Zwiebelturm');
  const first = await workerWith('k1');
  await clientOf(testKeys('k1')).startRun({ goal: 'Build the Zwiebelturm' }, { run_id: 'rotated' });
  await openQuestion(clientOf(testKeys('k1')), 'rotated');
  await stop(first);

  const refused = runScript('worker.mjs', [], {
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
}, 300_000);

it('a replay of open runs decrypts, and a client without the key lists what it can read', async () => {
  const replay = await planwave(['doctor', '--replay'], 'k2', 'k1');
  expect(replay).toMatchObject({ ending: 'exit code 0' });
  expect(replay.output).toContain(' replayed, 0 would break');

  const doctor = await planwave(['doctor'], 'k9');
  expect(doctor.output).toContain('keys: Open runs are encrypted with the key "k2"');
  const list = await planwave(['list']);
  expect(list.ending).toBe('exit code 0');
  const [, row = ''] = /^(fresh .*)$/m.exec(list.output) ?? [];
  expect(row).toContain('waiting for user');
  expect(row).toContain('1 open');
  expect(row).toContain('(encrypted)');
  expect(list.output).toContain('Build the Klinkerbogen');

  const status = await planwave(['status', 'tower']);
  expect(status.ending).toBe('exit code 0');
  expect(status.output).toContain('tower');
  expect(status.output).toContain('completed');
  const report = await planwave(['report', 'tower']);
  const amend = await planwave(['amend', 'fresh', 'Paint the Zwiebelturm']);
  expect(amend.output).toContain('Run fresh is encrypted with the key "k2"');
  expect([report.ending, amend.ending]).toEqual(['exit code 1', 'exit code 2']);
  for (const { output } of [status, report, amend]) {
    expect(output).toContain('PLANWAVE_KEYS');
    expect(output).not.toMatch(/^\s+at /m);
  }
}, 300_000);

/** Shows the history of a run by the Temporal CLI. */
async function show(...more: readonly string[]): Promise<string> {
  const words = ['temporal', 'workflow', 'show', '--workflow-id', 'tower', '--output', 'json'];
  const { output } = await planwave([...words, ...more]);
  return output;
}

it('the Temporal CLI reads histories through the codec server', async () => {
  const codec = runScript('planwave.mjs', ['codec-server', '--port', '0'], {
    ...stageEnvironment(stage),
    PLANWAVE_KEYS: keysText('k2', 'k1'),
    PLANWAVE_CODEC_TOKEN: 'a-token-of-the-test',
  });
  await codec.printed('Ctrl-C stops it');
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(codec.output()) ?? [];
  const encrypted = await show();
  expect(encrypted).toContain('"workflowExecutionStartedEventAttributes"');
  expect(hasWord('Zwiebelturm', encrypted)).toBe(false);
  const decrypted = await show(
    '--codec-endpoint',
    url,
    '--codec-auth',
    'Bearer a-token-of-the-test',
  );
  expect(hasWord('Zwiebelturm', decrypted)).toBe(true);
  const refused = await show('--codec-endpoint', url);
  expect(hasWord('Zwiebelturm', refused)).toBe(false);
  codec.signal('SIGTERM');
  expect(await codec.ended).toBe('exit code 0');
}, 300_000);
