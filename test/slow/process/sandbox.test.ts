import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  bubblewrapCall,
  limitProcesses,
  ownToolchain,
  removeOldGroups,
} from '../../../activities/adapters/sandbox/bubblewrap.ts';
import { createSandbox, runProcess } from '../../../activities/adapters/sandbox/command-runner.ts';
import { probeSandbox } from '../../../activities/adapters/sandbox/probe-sandbox.ts';
import type { Command } from '../../../activities/ports/command-runner.ts';
import { commandLimits } from '../../../core/command-limits.ts';
import { callOdd, createOddServers, oddServerFile } from '../../support/mcp/odd-servers.ts';

const settings = { toolchains: [], sharedFolders: ['node_modules'] };
const probed = await probeSandbox(settings);
if (!probed.ok && probed.cause !== 'bubblewrap is not installed') throw new Error(probed.cause);
const bwrap = probed.ok ? probed.bwrap : '';
const sandbox = createSandbox(settings, bwrap);
const root = mkdtempSync(join(tmpdir(), 'planwave-sandbox-'));
const folder = join(root, 'worktree');
mkdirSync(folder);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** No command takes that long; only the machine can. */
const patienceMs = 300_000;

function command(argv: readonly string[], over: Partial<Command> = {}): Command {
  return { folder, sharedFrom: null, argv, cwd: '', stdin: '', timeoutMs: patienceMs, ...over };
}

const run = (argv: readonly string[], over: Partial<Command> = {}) =>
  sandbox.run(command(argv, over), new AbortController().signal);
const sh = (script: string, over: Partial<Command> = {}) => run(['sh', '-c', script], over);

/** Command lines of this machine that contain a text. */
function findProcesses(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8');
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(text));
}

/** Waits until no process of this machine has the text on its command line. */
async function expectGone(text: string): Promise<void> {
  const until = Date.now() + patienceMs;
  while (findProcesses(text).length > 0 && Date.now() < until) {
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(findProcesses(text)).toEqual([]);
}

it('returns exit code, output and duration, and changes the folder', async () => {
  const end = await sh('cat; echo done >&2; pwd; echo x > made; exit 3', { stdin: 'hello\n' });
  expect(end).toMatchObject({ ending: 'exited', exit_code: 3 });
  expect(end.output.split('\n').toSorted()).toEqual(['', '/workspace', 'done', 'hello']);
  expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('x\n');
  expect((await sh('kill -9 $$')).exit_code).toBe(137);
  expect(await run(['no-such-program'])).toMatchObject({ exit_code: 127 });
  expect((await run(['pwd'], { cwd: 'sub/../.' })).output).toBe('/workspace\n');
});

describe('a command can’t reach', () => {
  it('the network', async () => {
    const code = `fetch('http://127.0.0.1:7233').catch((e) => console.log(e.cause.code));
      require('node:net').connect(53, '1.1.1.1').on('error', (e) => console.log(e.code))`;
    const { output } = await run(['node', '-e', code]);
    expect(output.trim().split('\n').toSorted()).toEqual(['ECONNREFUSED', 'ENETUNREACH']);
    expect(
      (await sh('ls /sys/class/net 2>/dev/null; cat /proc/net/dev | wc -l')).output.trim(),
    ).toBe('3');
  });

  it('the worker’s environment and processes', async () => {
    process.env['PLANTED_TOKEN'] = 'planted-token-value';
    const { output } = await sh(
      'env; cat /proc/*/environ; ps aux 2>/dev/null; ls /proc | grep -c "^[0-9]"',
    );
    delete process.env['PLANTED_TOKEN'];
    expect(output).not.toContain('planted-token-value');
    expect(output).not.toContain(root);
    expect(findProcesses('no-such-thing-here')).toEqual([]);
    // The shell, what it runs, and the sandbox's own first process.
    expect(Number(output.trim().split('\n').at(-1))).toBeLessThan(6);
  });

  it('files of the machine: the store, keys, other folders, and links out of the worktree', async () => {
    const secret = join(root, 'store-secret');
    writeFileSync(secret, 'secret of the store');
    symlinkSync(secret, join(folder, 'link'));
    const { output } = await sh(
      `cat link ${secret} /etc/shadow /etc/passwd ${process.cwd()}/package.json; ls /root /home /var /etc; cat /proc/1/root/etc/hostname`,
    );
    expect(output).not.toContain('secret of the store');
    expect(output).not.toMatch(/root:|"name"/);
    expect((await sh('ls /')).output.split('\n')).not.toContain('home');
  });

  it('anything that it could write besides its folder', async () => {
    const places = '/usr/x /bin/x /etc/x /x /workspace/../y /proc/sys/kernel/hostname';
    const { output } = await sh(
      `for p in ${places}; do echo x > $p && echo "wrote $p"; done; echo ok > fine`,
    );
    // The root of the sandbox is memory that goes away with it.
    expect(output.match(/wrote .*/g) ?? []).toEqual(
      expect.not.arrayContaining(['wrote /usr/x', 'wrote /bin/x']),
    );
    expect(existsSync('/usr/x')).toBe(false);
    expect(existsSync('/y')).toBe(false);
    expect(existsSync(join(root, 'y'))).toBe(false);
  });

  it('capabilities and new namespaces', async () => {
    const { output } = await sh(
      'grep CapEff /proc/self/status; unshare -U true; mount -t tmpfs x /tmp; chroot / true; true',
    );
    expect(output).toMatch(/CapEff:\s0000000000000000/);
    expect(output).toMatch(/unshare failed/);
    expect(output).toMatch(/permission denied|must be superuser/);
  });
});

it('shared folders of the user are there, read-only, unless the agent has something else there', async () => {
  const user = join(root, 'user');
  mkdirSync(join(user, 'node_modules', 'left-pad'), { recursive: true });
  const shared = await sh('ls node_modules; echo x > node_modules/x', { sharedFrom: user });
  expect(shared.output).toContain('left-pad');
  expect(shared.output).toMatch(/Read-only file system/);
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  symlinkSync('/usr', join(folder, 'node_modules'));
  expect((await sh('ls node_modules', { sharedFrom: user })).output).toContain('bin');
  rmSync(join(folder, 'node_modules'));
});

it.each(['bin', '.local/bin', '.nvm/versions/node/v20/bin'])(
  'with Node in ~/%s a command has Node and npm, and sees nothing else of the home',
  async (place) => {
    const home = mkdtempSync(join(root, 'home-'));
    const bin = join(home, place);
    const lib = join(dirname(bin), 'lib');
    for (const made of [bin, lib, join(home, '.ssh')]) mkdirSync(made, { recursive: true });
    cpSync(process.execPath, join(bin, 'node'));
    const found = join(dirname(dirname(process.execPath)), 'lib', 'node_modules');
    cpSync(join(found, 'npm'), join(lib, 'node_modules', 'npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'));
    writeFileSync(join(home, '.ssh', 'id_rsa'), 'secret of the user');
    writeFileSync(join(bin, 'own-script'), 'secret of the user');
    const toolchains = ownToolchain(join(bin, 'node'));
    const end = await createSandbox({ ...settings, toolchains }, bwrap).run(
      command([
        'sh',
        '-c',
        `command -v node; command -v npm; npm --version; find ${home} -name npm -prune -o -type f -print; cat ${home}/.ssh/*`,
      ]),
      new AbortController().signal,
    );
    const [node, npm, version, ...files] = end.output.trim().split('\n');
    expect([node, npm]).toEqual([join(bin, 'node'), join(bin, 'npm')]);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(files).toEqual([join(bin, 'node'), expect.stringContaining('No such file')]);
  },
);

it('a worker that starts removes the old groups of killed workers, and leaves the new group of another worker', async () => {
  const limit = await limitProcesses();
  // Only commands of root need a group.
  if (limit === null) return;
  const group = dirname(limit.joinFile);
  const old = join(dirname(group), 'planwave-1700000000000-killed');
  mkdirSync(old);
  await removeOldGroups();
  expect({ old: existsSync(old), new: existsSync(group) }).toEqual({ old: false, new: true });
  await limit.remove();
  expect(existsSync(group)).toBe(false);
});

describe('a command is ended', () => {
  it('by a cancellation within 1 s, with what it has started, although it ignores SIGTERM', async () => {
    const controller = new AbortController();
    const mark = `planwave-ignores-${process.pid}`;
    const running = sandbox.run(
      command([
        'sh',
        '-c',
        `trap "" TERM HUP INT; setsid sh -c 'trap "" TERM; sleep 1234; : ${mark}' & sleep 1234; : ${mark}`,
      ]),
      controller.signal,
    );
    while (findProcesses(mark).filter((line) => line.startsWith('sh\0')).length < 2) {
      // oxlint-disable-next-line no-await-in-loop
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    controller.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    await expectGone(mark);
  });

  it('with the worker: a killed process takes its command along', async () => {
    const mark = `planwave-orphan-${process.pid}`;
    const { args, extra } = bubblewrapCall(
      command(['sh', '-c', `sleep 1234; : ${mark}`]),
      settings,
    );
    const options = `{ detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] }`;
    const script = `require('node:child_process').spawn('${bwrap}', ${JSON.stringify(args)}, ${options}).stdio[3].end(${JSON.stringify(extra)}); setInterval(() => {}, 1e6)`;
    const worker = spawn(process.execPath, ['-e', script]);
    while (!findProcesses(mark).some((line) => line.startsWith('sh\0'))) {
      // oxlint-disable-next-line no-await-in-loop
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    worker.kill('SIGKILL');
    await expectGone(mark);
    expect(findProcesses(mark)).toEqual([]);
  });

  it('when its worker is suspended and another one takes over', async () => {
    const mark = `planwave-leftover-${process.pid}`;
    const running = sh(`sleep 1234; : ${mark}`);
    while (!findProcesses(mark).some((line) => line.startsWith('sh\0'))) {
      // oxlint-disable-next-line no-await-in-loop
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await sandbox.endLeftovers(`${folder}-other`);
    expect(findProcesses(mark)).not.toEqual([]);
    await sandbox.endLeftovers(folder);
    await expectGone(mark);
    expect((await running).exit_code).toBe(137);
  });

  it('with its daemons when it exits', async () => {
    const mark = `planwave-daemon-${process.pid}`;
    const end = await sh(
      `setsid sh -c 'sleep 1234; : ${mark}' >/dev/null 2>&1 </dev/null & echo started`,
    );
    expect(end).toMatchObject({ ending: 'exited', exit_code: 0, output: 'started\n' });
    await expectGone(mark);
  });

  it('at its time limit', async () => {
    // The limit includes the start of the sandbox.
    const end = await sh('echo begin; sleep 1234', { timeoutMs: 5_000 });
    expect(end).toMatchObject({ ending: 'timeout', exit_code: null, output: 'begin\n' });
    expect(end.duration_ms).toBeLessThan(patienceMs);
  });

  it('when it prints without end, and the worker keeps no more than the limit', async () => {
    const end = await run(['yes']);
    expect(end).toMatchObject({ ending: 'output', exit_code: null });
    expect(end.output).toHaveLength(commandLimits.outputBytesMax);
  });

  it('when it starts too many processes', async () => {
    // By its own count, so that a machine on which the limit fails survives the test.
    const tries = commandLimits.processesMax + 50;
    const end = await sh(
      `i=0; while [ $i -lt ${tries} ]; do sleep 1234 & i=$((i+1)); done; echo all`,
    );
    expect(end.output).toMatch(/[Cc]annot fork/);
    expect(end.output).not.toContain('all');
    expect((await run(['echo', 'still here'])).output).toBe('still here\n');
  });

  it('when a process takes too much memory', async () => {
    const end = await run([
      'node',
      '-e',
      'const all = []; for (;;) all.push(Buffer.allocUnsafe(64e6))',
    ]);
    expect(end.ending === 'memory' || (end.exit_code ?? 0) !== 0).toBe(true);
  });

  it('when it fills the temporary folder or one file: the write fails, and the machine goes on', async () => {
    const end = await sh('head -c 400000000 /dev/zero > /tmp/planwave-full; echo code $?');
    expect(end.output).toMatch(/No space left on device[^]*code 1/);
    expect(existsSync('/tmp/planwave-full')).toBe(false);
    const large = await sh(`fallocate -l ${commandLimits.fileBytesMax + 1} large; echo code $?`);
    expect(large.output).toMatch(/(?:size limit exceeded|File too large)[^]*code [1-9]/);
  });

  it('when it fills the disk with many files', async () => {
    // A file system of its own, so that no other test sees its space shrink.
    const shared = mkdtempSync('/dev/shm/planwave-disk-');
    try {
      const script =
        'for i in 1 2 3 4 5 6 7 8; do head -c 4000000 /dev/zero > f$i; done; sleep 1234';
      const order = {
        cwd: shared,
        env: { PATH: '/usr/bin:/bin' },
        stdin: '',
        timeoutMs: patienceMs,
      };
      const end = await runProcess(
        { ...order, file: 'sh', args: ['-c', script], folder: shared, diskBytesMax: 8_000_000 },
        new AbortController().signal,
      );
      expect(end).toMatchObject({ ending: 'disk', exit_code: null });
    } finally {
      rmSync(shared, { recursive: true, force: true });
    }
  });
});

it('an MCP server in a sandbox sees the paths of its entry, and nothing else of the machine', async () => {
  const odd = createOddServers();
  const mcp = odd.open({
    timeoutMs: patienceMs,
    transport: {
      type: 'stdio',
      command: process.execPath,
      args: [oddServerFile],
      env: {},
      sandbox: { network: false, read: [dirname(oddServerFile)], write: [] },
    },
  });
  const call = async (tool: string, args = {}): Promise<string> =>
    JSON.stringify((await callOdd(mcp, await odd.pin(mcp, tool), args)).content);
  expect(await call('sees', { path: oddServerFile })).toContain(': true');
  expect(await call('sees', { path: import.meta.filename })).toContain(': false');
  expect(await call('env')).toContain('/tmp/home');
  await odd.end();
});
