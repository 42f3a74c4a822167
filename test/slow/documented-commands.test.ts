import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTemporalCli } from '../../scripts/bootstrap/find-temporal-cli.mjs';
import { root } from '../../scripts/bootstrap/hand-over.mjs';
import { findFreePort } from '../../scripts/dev-server/temporal-probe.ts';
import { allFiles, read } from '../architecture/repository.ts';
import {
  listCommands,
  splitWords,
  type DocumentedCommand,
} from '../support/documented-commands.ts';
import { eventually } from '../support/eventually.ts';
import { goal } from '../support/process-stage.ts';
import { drawRecording, recordTerminal } from '../support/record-terminal.ts';
import { runCommand } from '../support/run-command.ts';
import { useOwnServer } from '../support/use-stage.ts';
import { neutralEnvironment, startWorkerProcess } from '../support/worker-process.ts';
import { createFakeIo } from '../unit/client/support/fake-io.ts';

/** `PLANWAVE_SCREENSHOT=1` writes the recording of the README. */
const takesPictures = process.env['PLANWAVE_SCREENSHOT'] === '1';

/** Runs that the commands of the documents need. In a command, `my-run` and `backup-choice` stand for one of them. */
type Needs =
  | 'nothing'
  | 'a run of its own that waits'
  | 'a run that waits'
  | 'a run that has ended';

/** Commands that are run, each with the run it needs. The first that matches counts. */
const runs: readonly (readonly [RegExp, Needs])[] = [
  [/^npm start -- |^planwave (?:start|team) /, 'nothing'],
  [/^temporal workflow start /, 'nothing'],
  [
    /^planwave answer |^temporal workflow (?:signal|update execute|reset) /,
    'a run of its own that waits',
  ],
  [/^planwave (?:view|status|questions) /, 'a run that waits'],
  [/^temporal workflow (?:query|describe|show) /, 'a run that waits'],
  [/^planwave report /, 'a run that has ended'],
  [
    /^temporal workflow list |^planwave (?:mcp check|plan check plan\.yaml|(?:threads|budget)\b.*)$/,
    'nothing',
  ],
];

/** Commands that are not run here, each with the reason: the test that runs it, or what it would take. */
const marked: readonly (readonly [RegExp, string])[] = [
  [/^npm (?:test|run (?:test:slow|check|vitest|format))\b/, 'runs this test too'],
  [/^npm run (?:chaos|bench)\b|redactor-bench/, 'measures for half an hour'],
  [/^npm (?:init|install @langchain)/, 'installs what the benchmark measures beside planwave'],
  [
    /^npm run (?:diagram|reference)$/,
    'test/architecture/documents.test.ts compares what it writes',
  ],
  [/^npm run pictures$/, 'test/slow/web-ui.test.ts takes them'],
  [/^npm install \.\/planwave/, 'test/slow/package.test.ts installs the package'],
  [/^npm run dev$/, 'test/slow/package.test.ts runs it as planwave dev'],
  [
    /npm run worker$|^temporal worker deployment |^temporal workflow update-options /,
    'test/slow/deploys/two-versions.test.ts',
  ],
  [/^planwave doctor --replay$/, 'test/slow/deploys/misfit.test.ts'],
  [/^planwave codec-server$|--codec-endpoint/, 'test/unit/encryption/codec-server.test.ts'],
  [/^planwave store copy /, 'test/slow/store/postgres-stores.test.ts'],
  [
    /^(?:PLANWAVE_TEST_CLUSTER=1 )?npm run (?:cluster$|test:slow .*cluster)/,
    'needs a Temporal server that is built with Go',
  ],
  [/^planwave eval /, 'test/slow/evaluation.test.ts'],
  [
    /^planwave (?:schedule |list$|(?:status|report) nightly-)/,
    'test/integration/client/schedule.test.ts',
  ],
  [/^planwave doctor --notify$/, 'test/unit/notify-settings.test.ts'],
  [/^planwave fork /, 'test/integration/client/fork.test.ts'],
  [/^planwave compare /, 'test/integration/client/fork.test.ts'],
  [/wave-001\/design\/negotiate$/, 'test/slow/triads/phases.test.ts has such a phase'],
];

/** Pages whose commands are run as a whole, in order, or are generated. */
const otherPages = new Set(['docs/tutorial.md', 'docs/commands.md']);

const commands = allFiles
  .filter((path) => /^(?:docs\/)?[\w-]+\.md$/.test(path) && !otherPages.has(path))
  .flatMap((path) => listCommands(path, read(path)));
const needsOf = ({ text }: DocumentedCommand) => runs.find(([match]) => match.test(text))?.[1];
const markOf = ({ text }: DocumentedCommand) => marked.find(([match]) => match.test(text))?.[1];

it('every command of README and docs is run here, or marked with a reason', () => {
  const faults = commands
    .filter((one) => markOf(one) === undefined && needsOf(one) === undefined)
    .map(
      ({ page, line, text }) => `${page}:${line}: ${text}. Cure: a line in "runs", or in "marked"`,
    );
  expect(commands.length).toBeGreaterThan(80);
  expect(faults).toEqual([]);
});

it('every mark is of a command that exists, and names a test that exists', () => {
  const unused = marked.filter(([match]) => !commands.some(({ text }) => match.test(text)));
  const missing = marked.filter(([, reason]) => {
    const [file] = /test\/\S+\.ts/.exec(reason) ?? [];
    return file !== undefined && !existsSync(join(root, file));
  });
  expect([...unused, ...missing]).toEqual([]);
});

/** Folder of the reader: the files that the documents tell to write. */
const folder = mkdtempSync(join(tmpdir(), 'planwave-reader-'));
const { stage } = useOwnServer();
const place = () => ({ address: stage.address, home: stage.home, taskQueue: 'planwave' });
let temporalCli = '';

beforeAll(async () => {
  writeExamples();
  process.env['INIT_CWD'] = folder;
  temporalCli = (await findTemporalCli()).path;
  await startWorkerProcess(stage, { PLANWAVE_TASK_QUEUE: 'planwave', PLANWAVE_AGENTS: folder });
  // One after the other: they share the process.
  await runPlanwave(['start', goal, '--id', 'ended', '--defaults', '--watch']);
  await runPlanwave([
    'team',
    goal,
    '--members',
    'researcher',
    '--thread',
    'anna/shop',
    '--user',
    'anna',
  ]);
  await startWaiting('waiting');
  await Promise.all(commands.filter(isAlone).map((one) => startWaiting(ownRun(one))));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function isAlone(command: DocumentedCommand): boolean {
  return needsOf(command) === 'a run of its own that waits';
}

function ownRun(command: DocumentedCommand): string {
  return `own-${commands.indexOf(command)}`;
}

async function startWaiting(runId: string): Promise<void> {
  await runPlanwave(['start', goal, '--id', runId]);
  await untilQuestion(runId);
}

async function untilQuestion(runId: string): Promise<void> {
  const run = stage.client.workflow.getHandle(runId);
  await eventually(`a question of ${runId}`, async () => {
    const { open } = await stage.questions(run);
    return open.some(({ question_id }) => question_id === 'q1');
  });
}

/** Writes the files that the commands name, from the same pages. */
function writeExamples(): void {
  const [, agent = ''] = /```markdown\n([^]*?)```/.exec(read('docs/agents.md')) ?? [];
  const [, plan = ''] = /```yaml\n([^]*?)```/.exec(read('docs/plans.md')) ?? [];
  mkdirSync(join(folder, 'my-agents'));
  writeFileSync(join(folder, 'my-agents', 'security-reviewer.md'), agent);
  // The fault whose message the page shows.
  writeFileSync(
    join(folder, 'plan.yaml'),
    plan.replace('verified_by: review_agent', 'verified_by: fact_agent'),
  );
}

/** Runs a command as a person at a terminal, who answers each question with the first choice. */
async function runPlanwave(argv: readonly string[]) {
  const io = createFakeIo({ isTerminal: true });
  for (let typed = 0; typed < 30; typed += 1) io.typeAfter('> ', '1');
  const ended = runCommand(place(), argv, null, io);
  // The page of a run is served until Ctrl-C.
  if (argv[0] === 'view') {
    await eventually('the address of the page', async () => io.out().includes('http://'));
    io.interrupt();
  }
  return ended;
}

async function runTemporal(words: readonly string[]): Promise<string> {
  const args = [...words, '--address', stage.address];
  return (await promisify(execFile)(temporalCli, args)).stdout;
}

/** Runs a command that brings up everything, in a terminal, and answers its question with the first choice. */
async function runInTerminal(command: string): Promise<void> {
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  const [columns, rows] = [112, 34];
  const { chunks, code } = await recordTerminal(command, {
    columns,
    rows,
    cwd: root,
    env: {
      ...neutralEnvironment(),
      PLANWAVE_HOME: join(folder, '.planning'),
      PLANWAVE_TEMPORAL_PORT: String(ports[0]),
      PLANWAVE_UI_PORT: String(ports[1]),
      PLANWAVE_REHEARSAL_PORT: String(ports[2]),
      PLANWAVE_REHEARSAL_THINK_MS: takesPictures ? '700' : '5',
    },
    typed: { after: 'Enter takes the default)', line: '1' },
  });
  const shown = chunks.map((chunk) => ({ ...chunk, text: hideMachine(chunk.text) }));
  const output = shown.map(({ text }) => text).join('');
  expect({ code, output }).toEqual({
    code: 0,
    output: expect.stringContaining('q1 answered: the person who decides'),
  });
  expect(output).toContain(`Rehearsal: Write the result for “${goal}”`);
  const svg = drawRecording([{ atMs: 0, text: `$ ${command}\r\n` }, ...shown], rows, columns);
  expect(svg).toContain(`Rehearsal: Write the result for “${goal}”`);
  if (takesPictures) writeFileSync(join(root, 'docs', 'images', 'start.svg'), svg);
}

/** Replaces what only this machine has: its folders. */
function hideMachine(text: string): string {
  return text.replaceAll(folder, '~/planwave').replaceAll(homedir(), '~');
}

/** Names the run that a command needs in the place of the documents' own. */
function prepare(command: DocumentedCommand): string[] {
  const needs = needsOf(command);
  const run = { 'a run that waits': 'waiting', 'a run that has ended': 'ended' }[String(needs)];
  const words = splitWords(command.text).slice(1);
  if (needs === 'nothing') {
    const at = words.indexOf('--workflow-id') + 1;
    return at === 0 ? words : words.with(at, ownRun(command));
  }
  return words.map((word) =>
    word.replace(/^(?:my-run|backup-choice)(?=$|\/)/, run ?? ownRun(command)),
  );
}

const executed = commands.filter((one) => markOf(one) === undefined && needsOf(one) !== undefined);

it.each(executed)('$page:$line: $text', async (command) => {
  const words = prepare(command);
  if (command.text.startsWith('npm start ')) {
    await runInTerminal(command.text);
    return;
  }
  if (command.text.startsWith('temporal ')) {
    await runTemporal(words);
    return;
  }
  // An approval needs its word, which nobody types here: designed runs have tests of their own.
  const followed = words.includes('designed') ? words.filter((word) => word !== '--watch') : words;
  const { code, out, err } = await runPlanwave(followed);
  // The page shows what this command prints about a plan with a fault.
  const isShown = command.text.startsWith('planwave plan check');
  const [where, what] = isShown
    ? [read('docs/plans.md'), `plan check plan.yaml\n${(out + err).trim()}\n`]
    : [JSON.stringify({ code, out, err }), '{"code":0,'];
  expect(where).toContain(what);
});

it('the runs took the messages of the documents', async () => {
  expect(readFileSync(join(folder, 'backup-choice.html'), 'utf8')).toContain('<!doctype html>');
  const told = commands.filter(
    (one) =>
      isAlone(one) &&
      /workflow (?:signal|update)/.test(one.text) &&
      !one.text.includes('"cloud-cost"'),
  );
  expect(told.length).toBeGreaterThan(5);
  for (const one of told) {
    // One at a time: they share the process.
    // oxlint-disable-next-line no-await-in-loop
    const { out } = await runPlanwave(['questions', ownRun(one), '--json']);
    expect({ text: one.text, out }).toEqual({
      text: one.text,
      out: expect.stringContaining('"rejected":[]'),
    });
  }
});
