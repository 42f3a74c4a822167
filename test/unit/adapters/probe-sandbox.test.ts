import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnose, probeSandbox } from '../../../activities/adapters/sandbox/probe-sandbox.ts';
import { createUnconfinedRunner } from '../../../activities/adapters/sandbox/command-runner.ts';
import { CommandNotStarted } from '../../../activities/ports/command-runner.ts';
import {
  bindToolchain,
  commandEnvironment,
  ownToolchain,
} from '../../../activities/adapters/sandbox/bubblewrap.ts';

const settings = { toolchains: [], sharedFolders: [] };
const folder = mkdtempSync(join(tmpdir(), 'planwave-probe-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['bwrap: Unknown option --disable-userns', 'older than 0.8'],
  ['bwrap: Creating new namespace failed: Operation not permitted', 'seccomp'],
  ['bwrap: No permissions to create new namespace', 'seccomp'],
  ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'AppArmor'],
  ['bwrap: setting up uid map: Permission denied', 'AppArmor'],
  ['bwrap: setting up uid map: Operation not permitted', 'CAP_SETFCAP'],
  ['bwrap: Failed to make / slave: Permission denied', 'AppArmor'],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", '/proc'],
  ['bwrap: execvp prlimit: No such file or directory', 'prlimit'],
  ['no control group bounds the processes of root', 'control group'],
])('%s has a cause and a cure', (said, cause) => {
  const found = diagnose(said);
  expect(found.cause).toContain(cause);
  expect(found.cure).not.toBe('');
});

it('another message is passed on', () => {
  expect(diagnose('bwrap: something new\n').cause).toBe('bubblewrap failed: bwrap: something new');
});

it('without bubblewrap the probe says how to install it', async () => {
  expect(await probeSandbox(settings, '/nowhere')).toEqual({
    ok: false,
    cause: 'bubblewrap is not installed',
    cure: 'apt install bubblewrap',
  });
});

it('a bubblewrap that fails is not taken for one that works', async () => {
  const script = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n";
  writeFileSync(join(folder, 'bwrap'), script, { mode: 0o755 });
  expect(await probeSandbox(settings, `/nowhere:${folder}`)).toEqual(
    diagnose('setting up uid map: Permission denied'),
  );
});

it('Node is shared only from outside /usr, and of the folder above it only what is its own', () => {
  for (const shown of ['/usr/bin/node', '/usr/local/bin/node', '/bin/node'])
    expect(ownToolchain(shown)).toEqual([]);
  const home = join(folder, 'home');
  for (const dir of ['bin', 'lib/node_modules/npm/bin', 'include/node', '.ssh'])
    mkdirSync(join(home, dir), { recursive: true });
  for (const file of [
    'bin/node',
    'bin/own-script',
    '.ssh/id_rsa',
    'lib/node_modules/npm/bin/npm-cli.js',
  ])
    writeFileSync(join(home, file), '');
  const npm = '../lib/node_modules/npm/bin/npm-cli.js';
  symlinkSync(npm, join(home, 'bin/npm'));
  symlinkSync('../.ssh/id_rsa', join(home, 'bin/key'));
  const [node = ''] = ownToolchain(join(home, 'bin/node'));
  const shown = ['bin/node', 'lib/node_modules', 'include/node'].map((part) => join(home, part));
  expect(bindToolchain(node)).toEqual([
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    '--symlink',
    npm,
    join(home, 'bin/npm'),
  ]);
  expect(commandEnvironment([node, '/opt/go'], '/tmp').PATH).toMatch(
    `${home}/bin:/opt/go/bin:/usr`,
  );
  expect(bindToolchain('/opt/go')).toEqual(['--ro-bind', '/opt/go', '/opt/go']);
});

it('an unconfined command has the same limits on time and environment', async () => {
  process.env['PLANTED_TOKEN'] = 'planted-token-value';
  const runner = createUnconfinedRunner(settings);
  const run = (argv: readonly string[], timeoutMs = 20_000) =>
    runner.run(
      { folder, sharedFrom: null, argv, cwd: '', stdin: 'in', timeoutMs },
      new AbortController().signal,
    );
  const end = await run(['sh', '-c', 'cat; pwd; env']);
  delete process.env['PLANTED_TOKEN'];
  expect(end).toMatchObject({ ending: 'exited', exit_code: 0 });
  expect(end.output).toContain(`in${folder}`);
  expect(end.output).not.toContain('planted-token-value');
  expect(await run(['sh', '-c', 'sleep 60 & sleep 60'], 200)).toMatchObject({ ending: 'timeout' });
});

it.each([
  ['no program', ['/no/such/program'], '', 'ENOENT'],
  ['no folder', ['sh', '-c', 'true'], 'no/such/folder', 'ENOENT'],
  ['no right to run it', ['/etc/passwd'], '', 'EACCES'],
  ['too long', ['true', 'x'.repeat(9_000_000)], '', 'E2BIG'],
])('a command that was not started says so: %s', async (_what, argv, cwd, code) => {
  const command = { folder, sharedFrom: null, argv, cwd, stdin: 'in', timeoutMs: 20_000 };
  const run = createUnconfinedRunner(settings).run(command, new AbortController().signal);
  await expect(run).rejects.toBeInstanceOf(CommandNotStarted);
  await expect(run).rejects.toThrow(new RegExp(`${code}: the command was not started. Try: `));
});
