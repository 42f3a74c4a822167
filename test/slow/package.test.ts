import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readVersion, root } from '../../scripts/bootstrap/hand-over.mjs';
import { findFreePort } from '../../scripts/dev-server/temporal-probe.ts';

const exec = promisify(execFile);

/** A folder outside of the checkout, with nothing but the package. */
const folder = mkdtempSync(join(tmpdir(), 'planwave-package-'));
const installed = join(folder, 'node_modules', 'planwave');
const bytesMax = 3_000_000;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  exec(command, args, { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 1e8 });

beforeAll(async () => {
  await exec('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball()]);
});

function tarball(): string {
  return join(folder, `planwave-${readVersion()}.tgz`);
}

it('is small, and holds code with declarations and source maps, but no test', async () => {
  expect(statSync(tarball()).size).toBeLessThan(bytesMax);
  const { stdout } = await run('tar', ['-tzf', tarball()]);
  const files = stdout.split('\n');
  for (const file of ['worker/main.js', 'worker/main.js.map', 'worker/main.d.ts']) {
    expect(files).toContain(`package/dist/${file}`);
  }
  expect(files.filter((file) => /\/test\/|\.test\./.test(file))).toEqual([]);
});

it('has the version of the checkout, and a help that calls the package', async () => {
  expect((await run('npx', ['planwave', '--version'])).stdout.trim()).toBe(readVersion());
  const { stdout } = await run('npx', ['planwave', 'start', '--help']);
  expect(stdout).toContain('npx planwave start "');
  expect(stdout).not.toContain('npm run');
});

const platform = `${process.platform}-${process.arch}`;
/** The npm package that is nothing but Node's executable. */
const node = `${platform === 'darwin-arm64' ? 'node-bin' : 'node'}-${platform}`;

it.each(['20.20.2', '22.23.3', '24.21.0'])(
  'runs a goal to its result under Node %s',
  async (version) => {
    const [temporalPort, uiPort, rehearsalPort] = [
      await findFreePort(),
      await findFreePort(),
      await findFreePort(),
    ];
    const script = join(installed, 'dist', 'scripts', 'planwave.mjs');
    const goal = 'Compare three ways to store a backup';
    const { stdout } = await run(
      'npm',
      [
        'exec',
        '--yes',
        `--package=${node}@${version}`,
        '--',
        'node',
        script,
        'start',
        goal,
        '--defaults',
      ],
      {
        ANTHROPIC_API_KEY: '',
        ANTHROPIC_BASE_URL: '',
        PLANWAVE_HOME: join(folder, `home-${version}`),
        PLANWAVE_TEMPORAL_PORT: String(temporalPort),
        PLANWAVE_UI_PORT: String(uiPort),
        PLANWAVE_REHEARSAL_PORT: String(rehearsalPort),
        TEMPORAL_ADDRESS: undefined,
      },
    );
    expect(stdout).toMatch(/^run \S+: completed/m);
    expect(stdout).toContain(`# Rehearsal: Write the result for “${goal}”`);
    expect(stdout).toMatch(/Run \S+ is kept\..*npx planwave dev/);
  },
);
