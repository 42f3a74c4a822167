import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRehearsalServer } from '../../rehearsal/server/server.ts';
import { readVersion, root } from '../../scripts/bootstrap/hand-over.mjs';
import { findFreePort } from '../../scripts/dev-server/temporal-probe.ts';
import { eventually } from '../support/eventually.ts';
import { startOwnServer } from '../support/own-server.ts';

const exec = promisify(execFile);

/** A folder outside of the checkout, with nothing but the package. */
const folder = mkdtempSync(join(tmpdir(), 'planwave-package-'));
const installed = join(folder, 'node_modules', 'planwave');
const tarball = join(folder, `planwave-${readVersion()}.tgz`);
const bytesMax = 3_000_000;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in the folder. A failure shows what it printed last. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 1e8 };
  try {
    return await exec(command, args, options);
  } catch (error) {
    const { stdout, stderr }: { stdout?: unknown; stderr?: unknown } = Object(error);
    const [out, err] = [stdout, stderr].map((text) => String(text).slice(-3_000));
    throw new Error(`${args.join(' ')}\n${out}\n${err}`, { cause: error });
  }
}

beforeAll(async () => {
  await exec('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball]);
});

/** Returns an environment with a home and with ports of its own, and without a model. */
async function ownPlace(home: string): Promise<NodeJS.ProcessEnv> {
  const [temporal, ui, rehearsal] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  return {
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_BASE_URL: '',
    PLANWAVE_HOME: join(folder, home),
    PLANWAVE_TEMPORAL_PORT: String(temporal),
    PLANWAVE_UI_PORT: String(ui),
    PLANWAVE_REHEARSAL_PORT: String(rehearsal),
    TEMPORAL_ADDRESS: undefined,
  };
}

it('is small, and holds code with declarations and source maps, but no test', async () => {
  expect(statSync(tarball).size).toBeLessThan(bytesMax);
  const { stdout } = await run('tar', ['-tzf', tarball]);
  const files = stdout.split('\n');
  for (const file of ['worker/main.js', 'worker/main.js.map', 'worker/main.d.ts']) {
    expect(files).toContain(`package/dist/${file}`);
  }
  expect(files.filter((file) => /\/test\/|\.test\./.test(file))).toEqual([]);
});

it('has this programming interface: a change of it is a change of this snapshot', () => {
  const types = join(installed, 'dist', 'library');
  const files = readdirSync(types).filter((file) => file.endsWith('.d.ts'));
  const report = files
    .toSorted()
    .map((file) => `${file}\n${readFileSync(join(types, file), 'utf8')}`);
  expect(report.join('\n').replaceAll(/^\/\/# sourceMappingURL.*$/gm, '')).toMatchSnapshot();
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
const script = join(installed, 'dist', 'scripts', 'planwave.mjs');

it.each(['20.20.2', '22.23.3', '24.21.0'])(
  'runs a goal to its result under Node %s',
  async (version) => {
    const goal = 'Compare three ways to store a backup';
    const start = [script, 'start', goal, '--defaults'];
    const env = await ownPlace(`home-${version}`);
    // npm need not bring the version that runs this test.
    const { stdout } =
      version === process.versions.node
        ? await run(process.execPath, start, env)
        : await run(
            'npm',
            ['exec', '--yes', `--package=${node}@${version}`, '--', 'node', ...start],
            env,
          );
    expect(stdout).toMatch(/^run \S+: completed/m);
    expect(stdout).toContain(`# Rehearsal: Write the result for “${goal}”`);
    expect(stdout).toMatch(/Run \S+ is kept\..*npx planwave view/);
  },
);

it('loads tools and middlewares in TypeScript in each command, and start --json prints JSON alone', async () => {
  const tool = `{ name: 'read_stock', description: 'Reads the stock. Example: {}', schema: z.strictObject({}),
    effect: 'read', brings: [], run: (): string => '12' }`;
  writeFileSync(
    join(folder, 'tools.mts'),
    `export const tools = ({ defineTool, z }: any) => [defineTool(${tool})];\n`,
  );
  writeFileSync(join(folder, 'middlewares.ts'), 'export const middlewares: unknown[] = [];\n');
  const env = {
    ...(await ownPlace('home-typescript')),
    PLANWAVE_TOOLS: 'tools.mts',
    PLANWAVE_MIDDLEWARES: 'middlewares.ts',
  };
  await run(process.execPath, [script, 'agents', 'list'], env);
  const goal = 'Compare three ways to store a backup';
  const start = [script, 'start', goal, '--defaults', '--json'];
  const { stdout, stderr } = await run(process.execPath, start, env);
  const events = stdout.trimEnd().split('\n');
  const types = events.map((line) => Object(JSON.parse(line)).type);
  expect([types[0], types.at(-1)]).toEqual(['started', 'ended']);
  expect(stderr).toMatch(/^Model: [^]*^Web UI: [^]*^Stopping the server …\nRun \S+ is kept/m);
});

/** Starts a script in the folder, and waits until it prints a text. */
async function startScript(args: readonly string[], env: NodeJS.ProcessEnv, text: string) {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => (output += more));
  }
  const ended = once(child, 'exit');
  while (!output.includes(text)) {
    const more = Promise.race([once(child.stdout, 'data'), ended.then(() => 'ended')]);
    // oxlint-disable-next-line no-await-in-loop
    if ((await more) === 'ended') throw new Error(`ended without "${text}":\n${output}`);
  }
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

it('runs the commands of docs/tutorial.md', async () => {
  const page = readFileSync(join(root, 'docs', 'tutorial.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh( background)?\n([^]*?)```/g)];
  const env = { ...(await ownPlace('home-tutorial')), PLANWAVE_HOME: undefined };
  // One shell does everything, as a reader's does: the folder and the settings stay.
  const [install, ...lines] = blocks.map(([, isBackground, text = '']) =>
    isBackground === undefined
      ? text
      : `command ${text.trim()} > dev.log 2>&1 & dev=$!\nuntil grep -q 'planwave is up' dev.log; do sleep 0.2; done\n`,
  );
  // npx itself runs the first command, and the one that Ctrl-C ends. The others run what it would run, in the same folder.
  const bin = join(folder, 'node_modules', '.bin');
  const npx = `npx() { INIT_CWD="$PWD" "${bin}/$1" "\${@:2}"; }\n`;
  // As Ctrl-C does: to the whole job, which has a process group of its own.
  const end = 'kill -INT -- -$dev; wait $dev; true\n';
  const { stdout } = await run(
    'bash',
    ['-c', `set -m\n${install}${npx}${lines.join('')}${end}`],
    env,
  );
  expect(stdout).toMatch(/pass 1\b/);
  expect(stdout).toMatch(/✗ Temporal server[^]*✓ Tools: read_stock/);
  expect(stdout).toMatch(/^run first-run: completed/m);
  expect(stdout).toContain(
    '# Rehearsal: Write the result for “Say which articles run out this week”',
  );
  expect(stdout).toMatch(/^run backup-choice: completed/m);
  expect(stdout).toMatch(/^first-run .*completed/m);
});

/** Bundles the example of a workflow in a worker of its own, and runs it. */
const ownWorker = `
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';

const address = process.env.TEMPORAL_ADDRESS;
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: 'orders',
  workflowsPath: fileURLToPath(new URL('order-workflow.ts', import.meta.url)),
});
const client = new Client({ connection: await Connection.connect({ address }) });
const options = { workflowId: 'order-1', taskQueue: 'orders', args: ['Say what runs out'] };
console.log(await worker.runUntil(client.workflow.execute('orderWorkflow', options)));
process.exit(0);
`;

it('compiles and runs the examples of docs/library.md', async ({ onTestFinished }) => {
  const page = readFileSync(join(root, 'docs', 'library.md'), 'utf8');
  const examples = [...page.matchAll(/```ts\n\/\/ (\S+)\n([^]*?)```/g)];
  const files = examples.map(([, file = '', text = '']) => {
    writeFileSync(join(folder, file), text);
    return file;
  });
  expect(files.toSorted()).toEqual(
    [
      'parts.ts',
      'worker.ts',
      'start.ts',
      'list.ts',
      'order-workflow.ts',
      'stock.test.ts',
    ].toSorted(),
  );
  // oxfmt-ignore
  await run(process.execPath, [
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck',
    '--allowImportingTsExtensions', '--types', 'node', '--typeRoots', join(root, 'node_modules', '@types'),
    ...files,
  ]);

  const server = await startOwnServer();
  onTestFinished(() => server.stop());
  const rehearsal = await startRehearsalServer({ port: 0 });
  onTestFinished(() => rehearsal.close());
  const env = {
    PLANWAVE_HOME: join(folder, 'home-library'),
    TEMPORAL_ADDRESS: server.address,
    ANTHROPIC_API_KEY: 'rehearsal',
    ANTHROPIC_BASE_URL: rehearsal.url,
  };
  const execute = async (file: string) =>
    (await run(process.execPath, ['--import', 'tsx', file], env)).stdout;
  const worker = await startScript(['--import', 'tsx', 'worker.ts'], env, 'polls stock');
  // The rehearsal model writes no JSON, so the answer does not fit, and is printed.
  expect(await execute('start.ts')).toMatch(/^1\n[^]*Say which articles run out this week/);
  // The server lists a moment later what has happened.
  await eventually('the run in the list', async () =>
    /^say-which-articles-run-out-\S+ completed$/m.test(await execute('list.ts')),
  );
  writeFileSync(join(folder, 'own-worker.ts'), ownWorker);
  expect(await execute('own-worker.ts')).toContain('Rehearsal');
  expect(await execute('stock.test.ts')).toMatch(/^passed$/m);
  await worker.stop();
});
