import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

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
