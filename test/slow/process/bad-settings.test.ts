import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { eventually } from '../../support/eventually.ts';
import { callsOfRun, goal } from '../../support/process-stage.ts';
import { sharedServer } from '../../support/shared-server.ts';
import { useProcessStages, useStage } from '../../support/use-stage.ts';
import {
  killProcesses,
  runScript,
  runSharedWorker,
  stageEnvironment,
  startWorkerProcess,
} from '../../support/worker-process.ts';
import type { ScriptProcess } from '../../support/worker-process.ts';

/** Part of every secret here. */
const secret = 'sk-ant-hidden';

const folder = mkdtempSync(join(tmpdir(), 'planwave-bad-'));
afterEach(killProcesses);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

interface Refusal {
  readonly ending: string;
  readonly text: string;
}

const home = { HOME: folder, PLANWAVE_HOME: join(folder, '.planning') };

function refused(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Refusal> {
  return refusalOf(runScript(args, { ...home, ...env }));
}

/** Starts the built worker, which loads in a third of the processor time of `planwave worker`. */
function refusedWorker(env: Readonly<Record<string, string>>): Promise<Refusal> {
  return refusalOf(runSharedWorker({ ...home, ...env }));
}

async function refusalOf(process: ScriptProcess): Promise<Refusal> {
  const ending = await process.ended;
  expect(process.output()).not.toContain(secret);
  expect(process.output()).not.toMatch(/^ +at /m);
  return { ending, text: process.output() };
}

function server(): { readonly TEMPORAL_ADDRESS: string } {
  return { TEMPORAL_ADDRESS: sharedServer().address };
}

describe('a worker process', () => {
  it('fault 45: without a key ends with 2 and names the variable', async () => {
    const { ending, text } = await refusedWorker(server());
    expect(ending).toBe('exit code 2');
    expect(text).toMatch(/ANTHROPIC_API_KEY[^]*Try: /);
  });

  it('fault 45: with an impossible key, URL, model and queue ends with 2 and names them all', async () => {
    const { ending, text } = await refusedWorker({
      ...server(),
      ANTHROPIC_API_KEY: `${secret} and a blank`,
      ANTHROPIC_BASE_URL: `${secret}@model:8787`,
      PLANWAVE_MODEL: 'two words',
      PLANWAVE_TASK_QUEUE: 'two words',
    });
    expect(ending).toBe('exit code 2');
    const named = text.match(/^\w+(?= can't be used: expected )/gm);
    expect(named).toEqual([
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_BASE_URL',
      'PLANWAVE_MODEL',
      'PLANWAVE_TASK_QUEUE',
    ]);
  });

  it.each([
    ['TEMPORAL_ADDRESS', '::nonsense'],
    ['PLANWAVE_TEMPORAL_PORT', 'http'],
  ])('fault 45: with an impossible %s ends with 2', async (name, value) => {
    const env = { ...server(), ANTHROPIC_API_KEY: secret, [name]: value };
    const { ending, text } = await refusedWorker(env);
    expect(ending).toBe('exit code 2');
    expect(text).toContain(value);
    expect(text).toMatch(new RegExp(`${name}=`));
  });

  it('fault 45: with wrong middlewares ends with 2, and names the module and what is wrong', async () => {
    const file = write('own.mjs', 'export const middlewares = [{}];');
    const env = { ...server(), ANTHROPIC_API_KEY: secret, PLANWAVE_MIDDLEWARES: file };
    // The script itself, not the built worker: it prepares the loading of modules.
    const { ending, text } = await refused(['worker'], env);
    expect(ending).toBe('exit code 2');
    expect(text).toContain(`PLANWAVE_MIDDLEWARES can't be used: ${file}`);
    expect(text).toMatch(/middlewares\[0\]\.name: expected [^]*Try: /);
  });

  it('part of fault 13: with nobody at the address says so and ends with 1', async () => {
    const env = { TEMPORAL_ADDRESS: '127.0.0.1:9', ANTHROPIC_API_KEY: secret };
    const { ending, text } = await refusedWorker(env);
    expect(ending).toBe('exit code 1');
    expect(text).toMatch(/No Temporal server can be reached at 127\.0\.0\.1:9[^]*TEMPORAL_ADDRESS/);
  });
});

describe('a key that the provider refuses', () => {
  const { stage } = useProcessStages();

  it('fault 45: parks the run with the reason, and the key is in no text', async () => {
    stage.rehearsal.script([{ times: 1, reply: { status: 401, message: `bad key ${secret}` } }]);
    const worker = await startWorkerProcess(stage, { ANTHROPIC_API_KEY: secret });
    const run = await stage.start('plannerRun', { goal, use_defaults: true });
    const status = await eventually('a parked run', async () => {
      const seen = await stage.status(run);
      return seen.phase === 'parked' ? seen : null;
    });
    expect(status.parked_reason).toMatch(/API key.*401/);
    const shown = JSON.stringify([status, (await run.describe()).memo, worker.output()]);
    expect(shown).not.toContain(secret);
    expect(callsOfRun(stage, run.workflowId)).toHaveLength(1);
    await run.terminate();
  });
});

function start(file: string): Promise<Refusal> {
  return refused(['start', '--input', file], { TEMPORAL_ADDRESS: '127.0.0.1:9' });
}

describe('planwave start --input', () => {
  it('fault 45: with broken JSON ends with 2 and names file, line and column', async () => {
    const file = write('broken.json', '{\n  "goal": "x",\n  "limits": {"max_waves": }\n}\n');
    const { ending, text } = await start(file);
    expect(ending).toBe('exit code 2');
    expect(text).toContain(`${file} is not JSON in line 3, column 27: `);
  });

  it('fault 45: with wrong fields ends with 2 and names file and every field', async () => {
    const input = { goal: 5, limts: {}, limits: { max_waves: 0 } };
    const file = write('fields.json', JSON.stringify(input));
    const { ending, text } = await start(file);
    expect(ending).toBe('exit code 2');
    for (const part of [file, 'goal: ', 'limits.max_waves: ', '"limts"']) {
      expect(text).toContain(part);
    }
  });

  it('fault 45: with no such file ends with 2 and names it', async () => {
    const file = join(folder, 'absent.json');
    const { ending, text } = await start(file);
    expect(ending).toBe('exit code 2');
    expect(text).toContain(file);
  });
});

function agent(lines: string, body = 'Do it.'): string {
  return `---\n${lines}\n---\n${body}\n`;
}

describe('what only the worker can see', () => {
  const { stage } = useStage();

  it('fault 45: faulty agent files end a run at once, each with file and line', async () => {
    const good = 'description: d';
    const cases: readonly (readonly [name: string, text: string, line: number])[] = [
      ['no-front-matter.md', 'Just a prompt.\n', 1],
      ['key.md', agent(`name: key\n${good}\napi_key: ${secret}`), 4],
      ['tool.md', agent(`name: tool\n${good}\ntools: load_detial`), 4],
      ['model.md', agent(`name: model\n${good}\nmodel: [one, two]`), 4],
      ['risk.md', agent(`name: risk\n${good}\nrisk_level: huge`), 4],
      ['empty.md', agent(`name: empty\n${good}`, ''), 4],
    ];
    for (const [name, text] of cases) write(name, text);
    const run = await stage.start('plannerRun', { goal, agents_dir: folder });
    const failure = await failureOf(run.result());
    expect(failure.type).toBe('InvalidInput');
    for (const [name, , line] of cases) {
      expect(failure.message).toContain(`${join(folder, name)}:${line}: `);
    }
    expect(failure.message).not.toContain(secret);
    expect(stage.rehearsal.counts().calls).toBe(0);
  });

  it('fault 45: planwave start --agents --watch ends with 2 and shows file and line', async () => {
    const file = write('key.md', agent('name: key\ndescription: d\nmodl: opus'));
    const { ending, text } = await refused(['start', '--agents', folder, '--watch', goal], {
      ...stageEnvironment(stage),
      PLANWAVE_HOME: stage.home,
    });
    expect(ending).toBe('exit code 2');
    expect(text).toContain(`${file}:4: unknown key "modl": did you mean "model"?`);
  });

  it('fault 45: wrong fields of a start by hand are all named', async () => {
    const run = await stage.start('plannerRun', { gaol: 'x', limits: { max_waves: 'many' } });
    const { message, type } = await failureOf(run.result());
    expect(type).toBe('InvalidInput');
    for (const part of ['gaol', 'goal', 'limits.max_waves']) expect(message).toContain(part);
  });
});

async function failureOf(result: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await result.then(
    () => new Error('The run did not fail.'),
    (reason: unknown) => (reason instanceof Error ? reason.cause : reason),
  );
  // The workflow fails with what its activity failed with.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof ApplicationFailure) return cause;
  throw cause;
}
