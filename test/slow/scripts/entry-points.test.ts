import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, isListening } from '../../../scripts/dev-server/temporal-probe.ts';
import { canMount, mountTinyDisk } from '../../support/tiny-disk.ts';
import { makeFolder, writeExecutable, writeFakeCli } from '../../unit/scripts/fake-executables.ts';

/** Fetching the CLI may come first. */
const scripts = fileURLToPath(new URL('../../../scripts/', import.meta.url));

function scriptsOfPackage(): Readonly<Record<string, string>> {
  const text = readFileSync(join(scripts, '..', 'package.json'), 'utf8');
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(text);
  return manifest.scripts;
}

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Settles when the text has been printed; fails when the command ended before. */
  readonly printed: (text: string) => Promise<void>;
  readonly ended: Promise<number | null>;
}

function runScript(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [join(scripts, name), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'close').then(() => child.exitCode);
  const printed = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      const more = once(child.stdout, 'data');
      if ((await Promise.race([more, ended.then(() => 'ended')])) === 'ended') {
        throw new Error(`ended without printing "${text}":\n${output}`);
      }
    }
  };
  return { child, output: () => output, printed, ended };
}

describe('npm start', () => {
  it('without a goal prints its usage with an example and ends with 2', async () => {
    const run = runScript('start.mjs', ['--defaults']);
    expect(await run.ended).toBe(2);
    expect(run.output()).toMatch(/Usage: npm start -- "<goal>"[^]*Example:\n {2}npm start -- "/);
  });
});

/** npm scripts that have no help: they take the arguments of vitest, or none. */
const withoutHelp = ['test', 'test:slow', 'check', 'reference', 'prepack'];

describe('--help', () => {
  const own = Object.entries(scriptsOfPackage()).flatMap(([name, command]) => {
    const [, file, ...args] = command.split(' ');
    const isOwn = command.startsWith('node ') && file?.startsWith('scripts/') === true;
    return isOwn && !withoutHelp.includes(name) ? [{ name, file: file.slice(8), args }] : [];
  });

  it('is there for the scripts that people call', () => {
    const names = ['start', 'dev', 'temporal', 'worker', 'rehearsal', 'planwave', 'cluster'];
    const later = ['chaos', 'bench', 'diagram'];
    expect(own.map(({ name }) => name)).toEqual([...names, ...later]);
  });

  it.each(own)('of npm run $name prints its usage and ends with 0', async ({ file, args }) => {
    const run = runScript(file, [...args, '--help']);
    expect(await run.ended).toBe(0);
    expect(run.output()).toMatch(/^Usage: /m);
  });
});

describe('planwave temporal', () => {
  it('passes arguments, the address and the exit code through', async () => {
    const folder = makeFolder();
    const cli = writeExecutable(
      folder,
      'temporal',
      `if [ "$1" = --version ]; then echo "temporal version 1.9.1"; exit 0; fi
       echo "got $* at $TEMPORAL_ADDRESS"; exit 5`,
    );
    const run = runScript('planwave.mjs', ['temporal', 'workflow', 'list'], {
      TEMPORAL_CLI_PATH: cli,
      PLANWAVE_TEMPORAL_PORT: '7999',
    });
    expect(await run.ended).toBe(5);
    expect(run.output()).toContain('got workflow list at 127.0.0.1:7999');
  });
});

describe('a command that can not work says why, without a stack', () => {
  it('when the server ends at once', async () => {
    const port = await findFreePort();
    const run = runScript('temporal.mjs', [], {
      TEMPORAL_CLI_PATH: writeFakeCli(makeFolder(), '1.9.1'),
      PLANWAVE_HOME: join(makeFolder(), '.planning'),
      PLANWAVE_TEMPORAL_PORT: String(port),
      // The usual one may be that of a server of the developer.
      PLANWAVE_UI_PORT: String(await findFreePort()),
    });
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('The Temporal dev server did not start');
    expect(run.output()).not.toContain('    at ');
  });
});

const describeOnTinyDisk = canMount ? describe : describe.skip;

describeOnTinyDisk('finding U6: npm start on a disk without room', () => {
  it.each(['read-only', 'full'] as const)('that is %s says so in one sentence', async (state) => {
    const disk = await mountTinyDisk();
    try {
      if (state === 'full') disk.fill();
      else await disk.setReadOnly(true);
      const run = runScript('start.mjs', ['Compare three databases'], {
        PLANWAVE_HOME: disk.home,
        PLANWAVE_TEMPORAL_PORT: String(await findFreePort()),
        PLANWAVE_UI_PORT: String(await findFreePort()),
      });
      expect(await run.ended).toBe(1);
      expect(run.output()).toMatch(
        new RegExp(`^${disk.home} can't be written: .*${state}.* Try: [^\\n]*PLANWAVE_HOME`, 'm'),
      );
      expect(run.output()).not.toContain('    at ');
      expect(run.output()).not.toContain('is kept');
    } finally {
      await disk.close();
    }
  });
});

const startTemporal = async (): Promise<{ run: Running; port: number }> => {
  const port = await findFreePort();
  const run = runScript('temporal.mjs', [], {
    PLANWAVE_HOME: join(makeFolder(), '.planning'),
    PLANWAVE_TEMPORAL_PORT: String(port),
    PLANWAVE_UI_PORT: String(await findFreePort()),
  });
  await run.printed('Ctrl-C stops it');
  expect(await isListening('127.0.0.1', port)).toBe(true);
  return { run, port };
};

describe('npm run temporal', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends with 0 at %s, and the server too',
    async (signal) => {
      const { run, port } = await startTemporal();
      run.child.kill(signal);
      expect(await run.ended).toBe(0);
      expect(await isListening('127.0.0.1', port)).toBe(false);
    },
  );

  it('takes its server along when it is killed', async () => {
    const { run, port } = await startTemporal();
    run.child.kill('SIGKILL');
    await run.ended;
    while (await isListening('127.0.0.1', port))
      await new Promise((resolve) => setImmediate(resolve));
    expect(await isListening('127.0.0.1', port)).toBe(false);
  });
});

describe('npm run rehearsal', () => {
  it('serves until it is asked to end', async () => {
    const port = await findFreePort();
    const run = runScript('planwave.mjs', ['rehearsal'], { PLANWAVE_REHEARSAL_PORT: String(port) });
    await run.printed('Ctrl-C stops it');
    expect(run.output()).toContain(`127.0.0.1:${port}`);
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(0);
  });
});
