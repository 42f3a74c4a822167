import type { EvaluationResult } from '../../contracts/evaluation.ts';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inputExamples } from '../../activities/run-record/describe-input-issues.ts';
import { openQuestion } from '../support/asking.ts';
import { untilAsked, untilEnded } from '../support/design-play.ts';
import { eventually } from '../support/eventually.ts';
import { createGitFixture } from '../support/git-fixture.ts';
import { runCommand } from '../support/run-command.ts';
import { completed, plan, plans, work, works } from '../support/scripted-work.ts';
import type { WorkflowType } from '../support/stage.ts';
import { untilRecorded } from '../support/stored-record.ts';
import { useStage } from '../support/use-stage.ts';
import { openWebPage } from '../support/web-page.ts';
import type { WebPage } from '../support/web-page.ts';

const { stage } = useStage();
const goal = 'Compare three ways to store a backup';

let web: WebPage;
const asked: string[] = [];
const complaints: string[] = [];
beforeAll(async () => {
  web = await openWebPage({ width: 1280, height: 900 });
  web.page.on('request', (request) => asked.push(request.url()));
  web.page.on('console', (message) => complaints.push(message.text()));
  web.page.on('pageerror', (error) => complaints.push(error.message));
});
afterAll(() => web?.close());

/** Words that stand on a page only by mistake, outside of prompts and replies. */
const slips = /\bundefined\b|\bNaN\b|\[object |\bnull\b|Invalid Date/;

/** Width to which the content of the page asks to scroll. */
const width = 'document.documentElement.scrollWidth';
const openAll = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";
/** Titles of sections without anything below them. */
const empty = `[...document.querySelectorAll('main > section')]
  .filter((one) => one.innerText.trim() === one.querySelector('h2').innerText.trim()).map((one) => one.id)`;

/** Writes the page of a run, and looks at it as a person with a desk and one with a phone would. Returns its text. */
async function lookAt(runId: string): Promise<string> {
  const { page } = web;
  const file = join(stage.home, 'page.html');
  const { code, err } = await runCommand(stage, ['report', runId, '--html', file]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const url = pathToFileURL(file).href;
  const faults: unknown[] = [];
  for (const [columns, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width: columns, height: 900 });
    await page.emulateMedia({ colorScheme });
    asked.length = 0;
    complaints.length = 0;
    await page.goto(url);
    const closed = await page.evaluate<number>(width);
    faults.push(...(slips.exec(await page.locator('body').innerText()) ?? []));
    await page.evaluate(openAll);
    const opened = await page.evaluate<number>(width);
    if (closed > columns || opened > columns) faults.push({ columns, closed, opened });
    faults.push(...(await page.evaluate<string[]>(empty)), ...complaints);
    faults.push(...asked.filter((address) => address !== url));
  }
  expect({ runId, faults }).toEqual({ runId, faults: [] });
  return page.locator('body').innerText();
}

async function play(type: WorkflowType, input: object, runId: string): Promise<string> {
  await untilEnded(stage, await stage.start(type, input, runId));
  return lookAt(runId);
}

it.each([
  ['plannerRun', {}, 'Completed: every criterion is met'],
  ['plannerWave', {}, 'Completed: every criterion is met'],
  ['delegation', {}, 'Completed: every criterion is met'],
  ['triad', {}, 'synthesizer'],
  ['triadPhase', {}, 'not judged'],
  ['team', {}, 'leader'],
  ['architectureDesign', { auto_approve: true, use_defaults: true }, 'not judged'],
  ['riskAssessment', {}, 'not judged'],
] as const)('the page of a %s that was started alone', async (type, more, words) => {
  const input: object = { ...JSON.parse(inputExamples[type]), ...more };
  expect(await play(type, input, `page-${type}`)).toContain(words);
});

it('the page of a designed run, before its approval and after', async () => {
  const run = await stage.start('plannerRun', { goal, mode: 'designed' }, 'page-designed');
  const { question_id } = await untilAsked(stage, run, 'plan_approval');
  await untilRecorded(stage.home, run.workflowId, question_id);
  const waiting = await lookAt(run.workflowId);
  expect(waiting).toMatch(/approve, change, abandon[^]*Workflow Coordination Plan/);
  expect(waiting).toContain('The run had not ended at the last change');
  await untilEnded(stage, run);
  expect(await lookAt(run.workflowId)).toContain('Completed: every criterion is met');
});

it('the page of a run that waits, and of the same run when it was stopped', async () => {
  const run = await stage.start('plannerRun', { goal }, 'page-stopped');
  const { question_id } = await openQuestion(stage, run);
  await untilRecorded(stage.home, run.workflowId, question_id);
  expect(await lookAt(run.workflowId)).toContain('1 question waits for you');
  await run.signal('stop', { reason: 'another goal came up' });
  await stage.result(run);
  const text = await lookAt(run.workflowId);
  expect(text).toContain('Stopped by the user before the end ("another goal came up")');
  expect(text).toContain('The run ended before an answer.');
});

it('the page of a run whose agent fails', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('facts'), work('more', { depends_on: ['facts'] })])),
    works('facts', { json: { nothing: 'valid' } }),
  ]);
  const input = { goal, use_defaults: true, limits: { max_waves: 1 } };
  expect(await play('plannerRun', input, 'page-unmet')).toMatch(/Finished, although.*not met/);
});

it('the page of a run that changes files, and of its fork', async () => {
  const { dir } = createGitFixture({ 'sum.js': 'export const sum = (a, b) => a - b;\n' });
  const input = { path: 'sum.js', old_string: 'a - b', new_string: 'a + b' };
  stage.rehearsal.script([
    plans(1, plan([work('mend', { agent_id: 'engineer' })])),
    works('mend', { tool_use: [{ name: 'edit_file', input }] }, 1),
    works('mend', { json: { ...completed('mend-done'), effects_claimed: ['sum.js'] } }),
  ]);
  const started = { goal: 'Mend it', workspace_dir: dir, changes: 'apply' };
  const text = await play('plannerRun', started, 'page-mended');
  expect(text).toMatch(/Changes: 1 file \(\+1 −1 lines\): they are in /);
  expect(text).toContain('+export const sum = (a, b) => a + b;');
  stage.rehearsal.reset();
  const fork = ['fork', 'page-mended', '--wave', '2', '--amend', 'Say why.', '--id', 'page-fork'];
  expect(await runCommand(stage, [...fork, '--yes'])).toMatchObject({ code: 0 });
  await untilEnded(stage, stage.client.workflow.getHandle('page-fork'));
  expect(await lookAt('page-fork')).toContain('Taken over from page-mended');
});

it('the pages of the runs of an evaluation, and of a scheduled run', async () => {
  const evaluation = {
    name: 'matrix',
    goals: [{ name: 'backup', goal }],
    settings: [{ name: 'alone', run: 'model' }],
    graders: [{ kind: 'regex', pattern: 'backup' }],
  };
  const handle = await stage.start('evaluation', evaluation, 'page-eval');
  const { cells }: EvaluationResult = await handle.result();
  await lookAt(cells[0]?.run_id ?? '');
  const schedule = ['schedule', 'create', 'page-nightly', goal, '--cron', '0 2 29 2 *'];
  expect(await runCommand(stage, schedule)).toMatchObject({ code: 0 });
  try {
    await runCommand(stage, ['schedule', 'trigger', 'page-nightly']);
    const runId = await eventually('the scheduled run', async () => {
      const { out } = await runCommand(stage, ['list', '--limit', '500']);
      return /^page-nightly-\S+/m.exec(out)?.[0];
    });
    await untilEnded(stage, stage.client.workflow.getHandle(runId));
    await lookAt(runId);
  } finally {
    await runCommand(stage, ['schedule', 'delete', 'page-nightly']);
  }
});
