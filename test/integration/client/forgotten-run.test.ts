import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { escapeText } from '../../../client/view/markup.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import type { CommandOutcome } from '../../support/run-command.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

// A server deletes nothing before its queues have noted that the run is closed, which takes 30 s by default.
const queues = ['transferProcessorUpdateAckInterval', 'visibilityProcessorUpdateAckInterval'];
const { stage } = useStage({
  serverArguments: queues.map((name) => `--dynamic-config-value=history.${name}="200ms"`),
});

const planwave = (...argv: string[]): Promise<CommandOutcome> => runCommand(stage, argv);

/** Deletes what the server has of a run: what the end of the retention time leaves behind, at once. */
async function forget(run: WorkflowHandle): Promise<void> {
  const { client } = stage;
  for (const { workflowId, runId } of await fetchHistories(client, run.workflowId)) {
    await client.workflowService.deleteWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId },
    });
  }
  await eventually('a server that knows the run no longer', () =>
    run.describe().then(
      () => false,
      (error: unknown) => error instanceof WorkflowNotFoundError,
    ),
  );
}

/** The files of a run by their paths. */
function filesOf(runId: string): Record<string, string> {
  const folder = join(stage.home, runId);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

it('fault 16: status, report and export of a run that the server has forgotten come from the store', async () => {
  const run = await stage.start('plannerRun', { goal: 'Compare three databases' });
  const { question_id, choices } = await openQuestion(stage, run);
  await submit(run, { question_id, answer: choices[0] });
  const result = await stage.result(run);
  const { workflowId: id } = run;
  const before = await stage.status(run);
  const [report, files] = [await planwave('report', id), filesOf(id)];
  expect(report).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^# Result/) });
  await expectPromisesKept(stage, id);
  await forget(run);

  const shown = await planwave('status', id);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toContain('completed · wave 1');
  expect(shown.out).toContain('The server no longer knows this run; this is what was stored.');
  const { phase, usage, wave, open_questions, result_path } = before;
  const kept = { phase, usage, wave, open_questions, result_path };
  expect(JSON.parse((await planwave('status', id, '--json')).out)).toMatchObject({
    ...kept,
    source: 'store',
    goal: 'Compare three databases',
  });
  expect(usage).toEqual(result.usage);
  expect(await planwave('report', id)).toEqual(report);

  // Not even the readable files are needed.
  rmSync(join(stage.home, id), { recursive: true });
  expect(await planwave('report', id)).toEqual(report);
  expect(await planwave('export', id)).toMatchObject({
    code: 0,
    out: `The files of ${id} are in ${join(stage.home, id)}\n`,
  });
  expect(filesOf(id)).toEqual(files);
  expect(await planwave('report', id)).toEqual(report);

  // The page has all that was said, from the log, the store and the ledger alone.
  const file = join(stage.home, 'page.html');
  expect(await planwave('report', id, '--html', file)).toMatchObject({ code: 0, err: '' });
  const page = readFileSync(file, 'utf8');
  const outcomes = (await storedRecord(stage.home, id)).waves.flatMap((one) => one.outcomes);
  for (const { delegation_id, title } of outcomes) {
    const from = page.indexOf(` id="work-${delegation_id}"`);
    const own = page.slice(from, page.indexOf('class="unit"', from));
    expect(own).toContain(escapeText(title));
    expect(own).toContain('<summary>Prompt</summary>');
  }
  expect(outcomes.length).toBeGreaterThan(2);
  // Every call that was paid for is a turn of a conversation.
  expect(page.match(/>Turn \d/g)).toHaveLength(usage.calls);
  expect(page).toContain(`id="question-${question_id}"`);

  // Nobody is there any more to take a message.
  for (const argv of [['questions'], ['pause'], ['watch'], ['answer', 'q1', 'yes']]) {
    const [command = '', ...rest] = argv;
    const { code, err } = await planwave(command, id, ...rest);
    expect({ command, code }).toEqual({ command, code: 4 });
    expect(err).toMatch(/^There is no run "[^\n]*\n$/);
  }
});

it('fault 16: a run that neither server nor store knows is named by every command', async () => {
  for (const command of ['status', 'report', 'export', 'view']) {
    const { code, out, err } = await planwave(command, 'no-such-run');
    expect({ command, code, out }).toEqual({ command, code: 4, out: '' });
    expect(err).toMatch(/^(?:There is no run "no-such-run"|No run no-such-run is stored)[^\n]*\n$/);
  }
});
