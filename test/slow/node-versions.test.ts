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

/** SHA-512 of each package as npm states it, by platform. macOS is not tested, so it has none. */
const integrities: Readonly<Record<string, string>> = {
  'linux-x64@22.23.3':
    'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  'linux-arm64@22.23.3':
    'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  'linux-x64@24.21.0':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'linux-arm64@24.21.0':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

it.each(versions)(
  'finding T10: rules, replay and a run pass under Node %s',
  async (version) => {
    // npm takes no bytes that differ from what the registry states.
    const spec = `${packageName}@${version}`;
    const { stdout: stated } = await run('npm', ['view', spec, 'dist.integrity']);
    expect(stated.trim()).toBe(integrities[`${platform}@${version}`] ?? stated.trim());
    const node = ['exec', '--yes', `--package=${spec}`, '--', 'node'];
    const { stdout: running } = await run('npm', [...node, '--version']);
    expect(running.trim()).toBe(`v${version}`);
    const { stdout, stderr } = await run('npm', [...node, 'scripts/test.mjs', ...paths], {
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: unknown) => {
      throw new Error(`the tests failed under Node ${version}`, { cause: error });
    });
    expect(`${stdout}${stderr}`).toMatch(/\d{3,} passed, 0 failed, 0 skipped/);
  },
  1_800_000,
);
