import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Rules, replayed histories (the worker's native module included) and a whole run. */
const paths = ['test/unit/core', 'test/replay', 'test/integration/main-job.test.ts'];

/** The long-term versions that are supported beside the one that runs this test. */
const versions = ['22.23.3', '24.21.0'];

const platform = `${process.platform}-${process.arch}`;
/** The npm package that is nothing but Node's executable. */
const packageName = `${platform === 'darwin-arm64' ? 'node-bin' : 'node'}-${platform}`;

it.each(versions)(
  'finding T10: rules, replay and a run pass under Node %s',
  async (version) => {
    const node = ['exec', '--yes', `--package=${packageName}@${version}`, '--', 'node'];
    const { stdout: running } = await run('npm', [...node, '--version']);
    expect(running.trim()).toBe(`v${version}`);
    const { stdout, stderr } = await run('npm', [...node, 'scripts/test.mjs', ...paths], {
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: unknown) => {
      throw new Error(`the tests failed under Node ${version}`, { cause: error });
    });
    expect(`${stdout}${stderr}`).toMatch(/\d{3,} passed, 0 failed, 0 skipped/);
  },
  600_000,
);
