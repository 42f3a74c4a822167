import { delimiter, resolve } from 'node:path';
import { checkNode } from '../../../scripts/bootstrap/ensure-packages.mjs';
import { ensureChromium, ensurePostgres } from '../../../scripts/bootstrap/test-programs.mjs';
import { formatTotals, listSlow } from '../../../scripts/bootstrap/run-tests.mjs';
import { allowNamedFolders } from '../../../scripts/main-start.ts';
import { say, sayBeside } from '../../../scripts/say.ts';
import { splitStartArguments, startFlags } from '../../../scripts/bootstrap/start-arguments.mjs';
import { createProgram } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from '../client/support/fake-client.ts';
import { createFakeIo } from '../client/support/fake-io.ts';
import { makeFolder, writeExecutable } from './fake-executables.ts';

const silent = (): void => {};

describe('the Node version', () => {
  it.each(['18.20.0', '20.18.3'])('%s is refused with what to install', (version) => {
    expect(() => checkNode(version)).toThrow(
      `needs Node 20.19.0 or newer; this is Node ${version}`,
    );
  });

  it.each(['20.19.0', '22.1.0'])('%s is accepted', (version) => {
    expect(() => checkNode(version)).not.toThrow();
  });
});

describe('the arguments of npm start', () => {
  it('joins the words of a goal without quotes', () => {
    expect(splitStartArguments(['plan', 'the', 'move']).goal).toBe('plan the move');
  });

  it('keeps the options of the run and takes out its own', () => {
    expect(splitStartArguments(['move', '--defaults', '--mode', 'direct'])).toEqual({
      goal: 'move',
      defaults: true,
      rest: ['--mode', 'direct'],
    });
  });

  it('with --json, what is said beside the run leaves standard output to the documents', () => {
    const { error } = console;
    const lines: string[] = [];
    console.error = (line: string) => void lines.push(line);
    try {
      sayBeside(['--json'])('Stopping the worker …');
    } finally {
      console.error = error;
    }
    expect(lines).toEqual(['Stopping the worker …']);
    expect(sayBeside(['--watch'])).toBe(say);
  });

  it('finds a goal behind options that have no value', () => {
    expect(splitStartArguments(['--defaults', 'move it', '--mode', 'direct'])).toEqual({
      goal: 'move it',
      defaults: true,
      rest: ['--mode', 'direct'],
    });
    expect(splitStartArguments(['--mode', 'direct', '--watch', 'move', 'it'])).toEqual({
      goal: 'move it',
      defaults: false,
      rest: ['--mode', 'direct', '--watch'],
    });
    expect(splitStartArguments(['--mode', 'direct']).goal).toBe('');
    expect(splitStartArguments(['move', '--defaults', 'it']).rest).toEqual(['it']);
  });

  it('knows the options of planwave start that have no value', async () => {
    const io = createFakeIo();
    const program = await createProgram(null, createFakeDeps(io));
    const start = program.commands.find((command) => command.name() === 'start');
    const flags = start?.options.filter(({ flags: one }) => !/[<[]/.test(one));
    expect(startFlags).toEqual(flags?.map(({ long }) => long).toSorted());
  });

  it.each([[[]], [['--defaults']], [['  ']]])('%j has no goal', (args) => {
    expect(splitStartArguments(args).goal).toBe('');
  });
});

function allow(options: string[], env: NodeJS.ProcessEnv = {}) {
  const { PLANWAVE_WORKSPACES, PLANWAVE_AGENTS } = allowNamedFolders(options, '/at', env);
  return [PLANWAVE_WORKSPACES, PLANWAVE_AGENTS].map((text) => text?.split(delimiter));
}

it('the worker of npm start accepts the folders that its options name, unless the environment lists others', () => {
  const usual = [process.cwd(), resolve('.planning')];
  expect(allow(['--apply', '--workspace', 'shop', '--agents=/mine'])).toEqual([
    [...usual, resolve('/at/shop')],
    [...usual, resolve('/mine')],
  ]);
  expect(allow(['--workspace', `/a${delimiter}b`, '--agents'])).toEqual([usual, usual]);
  expect(allow(['--workspace', '/shop'], { PLANWAVE_WORKSPACES: '/srv' })).toEqual([
    ['/srv'],
    usual,
  ]);
});

describe('the totals', () => {
  it('counts a test file that could not run as a failed test', () => {
    const results = {
      numPassedTests: 5,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 1,
      testResults: [
        { status: 'passed', assertionResults: [{ status: 'passed' }] },
        { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] },
        { status: 'failed', assertionResults: [] },
      ],
    };
    expect(formatTotals(JSON.stringify(results))).toBe('5 passed, 2 failed, 3 skipped');
  });

  it('says so when vitest left no result', () => {
    expect(formatTotals('')).toContain('ended before it could count');
  });

  it('are told with the files that belong in test/slow', () => {
    const testResults = [
      { name: 'quick.test.ts', startTime: 1_000, endTime: 41_000 },
      { name: 'slow.test.ts', startTime: 1_000, endTime: 41_001 },
    ];
    expect(listSlow(JSON.stringify({ testResults }))).toEqual(['slow.test.ts']);
    expect(listSlow('')).toEqual([]);
  });
});

describe('Chromium', () => {
  it('takes the named one first', async () => {
    const folder = makeFolder();
    const named = writeExecutable(folder, 'my-chromium', 'echo Chromium 1');
    writeExecutable(folder, 'chromium', 'echo Chromium 2');
    const env = { PATH: folder, PLANWAVE_CHROMIUM: named };
    expect(await ensureChromium({ env, install: false, say: silent })).toBe(named);
  });

  it('takes the first name on PATH that runs', async () => {
    const folder = makeFolder();
    writeExecutable(folder, 'chromium', 'exit 1');
    writeExecutable(folder, 'google-chrome', 'echo Chrome');
    const env = { PATH: folder };
    expect(await ensureChromium({ env, install: false, say: silent })).toBe('google-chrome');
  });

  it('says what was tried and what to do', async () => {
    const env = { PATH: makeFolder(), PLANWAVE_CHROMIUM: '/no/such/browser' };
    await expect(ensureChromium({ env, install: false, say: silent })).rejects.toThrow(
      /PLANWAVE_CHROMIUM=\/no\/such\/browser: .* does not exist.*chromium is not on PATH.*What to do/s,
    );
  });
});

function makePrograms(folder: string, version = 'echo postgres 1'): string {
  writeExecutable(folder, 'initdb', 'exit 0');
  writeExecutable(folder, 'postgres', version);
  return folder;
}

describe('PostgreSQL', () => {
  it('takes the named folder first, then one on PATH that runs', async () => {
    const named = makePrograms(makeFolder());
    const good = makePrograms(makeFolder());
    const broken = makePrograms(makeFolder(), 'exit 1');
    const env = { PATH: `${makeFolder()}:${broken}:${good}` };
    const options = { install: false, root: makeFolder(), say: silent };
    expect(await ensurePostgres({ ...options, env })).toBe(good);
    expect(await ensurePostgres({ ...options, env: { ...env, PLANWAVE_POSTGRES: named } })).toBe(
      named,
    );
  });

  it("takes the newest version of Debian's, which are not on PATH", async () => {
    const root = makeFolder();
    for (const version of ['9', '15', '13']) makePrograms(`${root}/${version}/bin`);
    expect(await ensurePostgres({ env: { PATH: '' }, install: false, root, say: silent })).toBe(
      `${root}/15/bin`,
    );
  });

  it('says what was tried and what to do', async () => {
    const env = { PATH: makeFolder(), PLANWAVE_POSTGRES: '/no/such/folder' };
    await expect(
      ensurePostgres({ env, install: false, root: makeFolder(), say: silent }),
    ).rejects.toThrow(
      /PLANWAVE_POSTGRES=\/no\/such\/folder: it has no initdb.*neither on PATH nor in.*What to do/s,
    );
  });
});
