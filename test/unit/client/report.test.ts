import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactMissing } from '../../../activities/ports/artifact-store.ts';
import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import { exitCodeOfEnd, toRunEndedEvent } from '../../../client/cli/follow/follow-event.ts';
import { formatEvent } from '../../../client/cli/follow/format-event.ts';
import { createPaint } from '../../../client/cli/terminal-text.ts';
import type { EvaluationResult } from '../../../contracts/evaluation.ts';
import { Ref } from '../../../contracts/ref.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { createFakeDeps, noPages } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { listing } from './support/samples.ts';

const stored = {
  result_md: '# Result\n\u001B[2J',
  report_md: '# Report\n',
  result_path: 'run-1/result.md',
  report_path: 'run-1/report.md',
};

/** `planwave report run-1 …`, without a server where something is stored. */
async function report(argv: readonly string[], others: Partial<CliDeps>) {
  const io = createFakeIo();
  const code = await runCli(['report', 'run-1', ...argv], createFakeDeps(io, {}, others));
  return { code, out: io.out(), err: io.err() };
}

const offline: Partial<CliDeps> = {
  readResult: () => Promise.resolve(stored),
  openSession: () => Promise.reject(new Error('must not connect')),
};

it('fault 16: report needs no server', async () => {
  expect(await report([], offline)).toEqual({
    code: 0,
    out: '# Result\n\nreport: .planning/run-1/report.md\n',
    err: '',
  });
});

it('finding R2: report prints the answer, with --full everything, with --json both and their paths', async () => {
  expect((await report(['--full'], offline)).out).toBe('# Result\n\n# Report\n');
  const { out } = await report(['--json'], offline);
  expect(JSON.parse(out)).toEqual({
    run_id: 'run-1',
    ...stored,
    result_path: '.planning/run-1/result.md',
    report_path: '.planning/run-1/report.md',
  });
});

it('report says why there is no result', async () => {
  const { code, err } = await report([], {});
  expect(code).toBe(4);
  expect(err).toBe(
    'Run run-1 has not ended, so there is no result yet. Try: npm run planwave -- watch run-1\n',
  );
});

/** `planwave report run-1 --html`, for a run that has no page. */
async function html(others: Partial<CliDeps>, methods: Partial<PlanwaveClient> = {}) {
  const io = createFakeIo();
  const deps = createFakeDeps(io, methods, others);
  return { code: await runCli(['report', 'run-1', '--html'], deps), err: io.err() };
}

describe('report --html of a run without a page', () => {
  it('names the first run of an evaluation', async () => {
    const entry = { goal_title: '', state: 'completed', started_at: 0 };
    const list = ['run-1-c002', 'run-1-c001', 'run-1-copy'].map((run_id) => ({ ...entry, run_id }));
    const { code, err } = await html({ pages: { ...noPages, list: () => Promise.resolve(list) } });
    expect(code).toBe(4);
    expect(err).toBe(
      'run-1 is an evaluation, and each of its 2 runs has a page of its own. ' +
        'Try: npm run planwave -- report run-1-c001 --html\n',
    );
  });

  it('says that a run which failed at its intake has stored nothing', async () => {
    const failed = listing({ execution: 'failed' });
    expect((await html({}, { describe: () => Promise.resolve(failed) })).err).toBe(
      'Nothing of run run-1 is stored here; its workflow is failed. Try: npm run planwave -- status run-1\n',
    );
  });

  it('needs no server to say that a run is unknown', async () => {
    const { err } = await html({ openSession: () => Promise.reject(new Error('no server')) });
    expect(err).toMatch(/^No run run-1 is stored here\. Try: .*view/);
  });
});

describe('an evaluation that has ended', () => {
  const cell = {
    cell: 1,
    goal: 'backup',
    setting: 'direct',
    repetition: 1,
    run_id: 'run-1-c1',
    reason: '',
    grades: [],
    usage: noUsage,
    seconds: 3,
    cached: false,
  };
  const evaluation: EvaluationResult = {
    evaluation_id: 'run-1',
    name: 'backup',
    cells: [
      { ...cell, status: 'completed', passed: true },
      { ...cell, cell: 2, run_id: 'run-1-c2', status: 'failed', passed: false },
    ],
    usage: noUsage,
  };
  const methods: Partial<PlanwaveClient> = {
    result: async () => ({ ended: 'evaluation', evaluation }),
  };

  it('is reported with its table and the exit code of `eval`', async () => {
    const io = createFakeIo();
    expect(await runCli(['report', 'run-1'], createFakeDeps(io, methods))).toBe(1);
    expect(io.out()).toContain('run-1-c2 (backup, direct) failed');
    expect(io.out()).toMatch(/^goal +setting +cells +passed/);
  });

  it('ends `watch` with how many cells passed and where all of them are', () => {
    const end = { ended: 'evaluation', evaluation } as const;
    const event = toRunEndedEvent({ run_id: 'run-1', phase: null }, end, null);
    expect(formatEvent(event, createPaint(false))).toEqual([
      'run run-1: completed · 1 of 2 cells passed. All of them: npm run planwave -- report run-1',
    ]);
    expect(exitCodeOfEnd(end, event.status)).toBe(1);
  });
});

describe('artifact', () => {
  const ref = 'c0'.repeat(32);
  const print = async (bytes: Buffer, ...argv: readonly string[]) => {
    const io = createFakeIo();
    const cwd = await mkdtemp(join(tmpdir(), 'planwave-artifact-'));
    const deps = createFakeDeps(io, {}, { cwd, readArtifact: async () => bytes });
    const code = await runCli(['artifact', ref, ...argv], deps);
    return { code, out: io.out(), err: io.err(), cwd };
  };

  it('prints a text, and of other bytes only how to save them', async () => {
    expect(await print(Buffer.from('é\n'))).toMatchObject({ code: 0, out: 'é\n' });
    for (const bytes of [Buffer.from([0x89, 0x50]), Buffer.from('a\0b')]) {
      // oxlint-disable-next-line no-await-in-loop
      const { code, out, err } = await print(bytes);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(
        `is no text: it has ${bytes.byteLength} bytes of another kind. Try: npm run planwave -- artifact ${ref} --out artifact.bin`,
      );
    }
  });

  it('says once what to try where it is missing', async () => {
    const io = createFakeIo();
    const readArtifact = () =>
      Promise.reject(new ArtifactMissing({ ref: Ref.parse(ref), path: 'segments' }));
    const code = await runCli(['artifact', ref], createFakeDeps(io, {}, { readArtifact }));
    expect(code).toBe(4);
    expect(io.err()).toMatch(
      /^The artifact c0[^:]* is missing in "[^.]*files were lost\. Try: the whole address, .* PLANWAVE_HOME [^.]*\n$/,
    );
  });

  it('saves it with --out, byte for byte', async () => {
    const bytes = Buffer.from([0, 0xff, 0x1b]);
    const { code, out, cwd } = await print(bytes, '--out', 'logo.png', '--json');
    expect([code, await readFile(join(cwd, 'logo.png'))]).toEqual([0, bytes]);
    expect(JSON.parse(out)).toEqual({ ref, path: join(cwd, 'logo.png'), bytes: 3 });
    const { err } = await print(bytes, '--out', 'none/logo.png');
    expect(err).toMatch(
      /^The artifact can't be written: .* Try: --out <file> in a folder of yours/,
    );
  });
});
