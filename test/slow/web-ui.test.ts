import type { DelegationStatusView } from '../../contracts/views.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { workflowTypes } from '../../contracts/names.ts';
import { createPlanwaveClient } from '../../client/planwave-client.ts';
import type { PlanwaveClient } from '../../client/planwave-client.ts';
import { eventually } from '../support/eventually.ts';
import { goal } from '../support/process-stage.ts';
import { expectPromisesKept } from '../support/promises.ts';
import { useOwnServer } from '../support/use-stage.ts';
import { openWebPage } from '../support/web-page.ts';
import type { WebPage } from '../support/web-page.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

/** `PLANWAVE_SCREENSHOT=1` takes the pictures of the README, at a speed at which one sees something. */
const takesPictures = process.env['PLANWAVE_SCREENSHOT'] === '1';
const pictures = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const runId = 'backup-choice';
const triadId = 'sensor-schema';
const triadTask = 'Design a schema for sensor data';
const teamId = 'sensor-notice';
const question = `Who is the result of “${goal}” for?`;

let web: WebPage;
let client: PlanwaveClient;
// Before the server is stopped: the page keeps connections to it open.
afterAll(() => web?.close());
const { server, stage } = useOwnServer([], { thinkMs: takesPictures ? 900 : 5 });
beforeAll(async () => {
  const taskQueue = 'planwave';
  await startWorkerProcess(stage, { PLANWAVE_TASK_QUEUE: taskQueue });
  const { connection } = stage.client;
  const { address } = server;
  client = createPlanwaveClient({ connection, address, namespace: 'default', taskQueue });
  await client.startRun({ goal }, { run_id: runId });
  await Promise.all([
    stage.client.workflow.execute(workflowTypes.triad, {
      taskQueue,
      workflowId: triadId,
      args: [{ type: 'dialectic', task: triadTask }],
    }),
    stage.client.workflow.execute(workflowTypes.team, {
      taskQueue,
      workflowId: teamId,
      args: [{ message: 'Write a notice', members: ['researcher', 'writer'] }],
    }),
  ]);
  await eventually('a question, and no other work', async () => {
    const wave = stage.client.workflow.getHandle(`${runId}/wave-001`);
    const compared = { delegation_id: 'compare-options' };
    const status = await wave
      .query<DelegationStatusView | null, [object]>('status', compared)
      .catch(() => null);
    const { open } = await stage.questions(stage.client.workflow.getHandle(runId));
    return status?.state === 'completed' && open.length === 1;
  });
  web = await openWebPage({ width: 1400, height: 900 });
  web.page.setDefaultTimeout(120_000);
});

/** Waits for it. @throws with what the page was asked for, when it does not come. */
async function isShown(what: Locator): Promise<boolean> {
  await what.first().waitFor({ state: 'visible' });
  return what.first().isVisible();
}

async function openTab(page: Page, name: string): Promise<void> {
  const path = `/namespaces/default/workflows/${runId}`;
  if (!new URL(page.url()).pathname.startsWith(`${path}/`)) await page.goto(server.uiUrl + path);
  await page.getByRole('tab', { name }).click();
}

/** The text of the first frame that has `words`: summary and details are in frames of their own. */
async function readFrames(
  page: Page,
  words: string,
  isIt = (text: string): boolean => text.includes(words),
): Promise<string> {
  const found = await eventually(`“${words}” on the page`, async () => {
    const shown = await Promise.all(
      page.frames().map((frame) =>
        frame
          .locator('body')
          .innerText({ timeout: 1_000 })
          .catch(() => ''),
      ),
    );
    return (
      shown
        .slice(1)
        .map((text) => text.trim())
        .find(isIt) ?? false
    );
  });
  return found;
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (!takesPictures) return;
  mkdirSync(pictures, { recursive: true });
  const collapse = page.getByRole('button', { name: 'Collapse Navigation' });
  if (await collapse.isVisible()) await collapse.click();
  await page.mouse.move(0, 0);
  // The page slides and fades into place.
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}

it('the list finds the run by its search attributes', async () => {
  const { page } = web;
  const query = `PlanwaveRun="${runId}" AND PlanwavePhase="waiting_for_user" AND PlanwaveOpenQuestions=1`;
  // The page shows what the server has listed when it opens.
  await eventually('the run in the list', async () => {
    const { count } = await stage.client.workflow.count(query);
    return count === 1;
  });
  await page.goto(
    `${server.uiUrl}/namespaces/default/workflows?query=${encodeURIComponent(query)}`,
  );
  expect(await isShown(page.getByRole('status').filter({ hasText: /^1 Workflow$/ }))).toBe(true);
  expect(await isShown(page.getByRole('cell', { name: runId, exact: true }))).toBe(true);
  expect(await isShown(page.getByRole('cell', { name: 'plannerRun', exact: true }))).toBe(true);
  await openTab(page, 'Search Attributes');
  expect(
    await isShown(
      page.getByRole('textbox').filter({ hasText: '"PlanwavePhase": "waiting_for_user"' }),
    ),
  ).toBe(true);
});

it('finding U5: the timeline says in words what was done and what is waited for', async () => {
  const { page } = web;
  await openTab(page, 'Timeline');
  expect(await isShown(page.getByText('openRun • check the input'))).toBe(true);
  expect(await isShown(page.getByText('updateRecord • question opened'))).toBe(true);
  expect(await isShown(page.getByText(`wave 1 of ${goal}`))).toBe(true);
  expect(await isShown(page.getByText(/^waiting for your answer to q1: Who is the result/))).toBe(
    true,
  );
  expect(await isShown(page.getByText(`npm run planwave -- answer ${runId} q1`))).toBe(true);
  await takePicture(page, 'web-ui-timeline');
});

it('a wave names the agent, the delegation and the turn of each call', async () => {
  const { page } = web;
  const id = encodeURIComponent(`${runId}/wave-001`);
  await page.goto(`${server.uiUrl}/namespaces/default/workflows/${id}`);
  expect(await isShown(page.getByText(/modelTurn • \w+ · compare-options · turn 2/))).toBe(true);
});

it('a triad has a child for each phase, whose calls say who spoke where', async () => {
  const { page } = web;
  const address = `${server.uiUrl}/namespaces/default/workflows`;
  await page.goto(`${address}/${triadId}`);
  for (const phase of ['deliberate', 'negotiate', 'execute']) {
    // oxlint-disable-next-line no-await-in-loop
    expect(await isShown(page.getByText(`dialectic · ${phase} · ${triadTask}`))).toBe(true);
  }
  const negotiation = encodeURIComponent(`${triadId}/negotiate`);
  await page.goto(`${address}/${negotiation}`);
  expect(await isShown(page.getByText('modelTurn • critic · negotiate · round 1'))).toBe(true);
  await page.getByRole('tab', { name: 'User Metadata' }).click();
  const shown = await readFrames(page, 'Claims');
  expect(shown).toMatch(/negotiate · round 1 of 3\s+State: done\s+Triad: dialectic/);
  expect(shown).toMatch(/c1 · done · owned by proposer/);
  expect(shown).toMatch(/by proposer · revision 2 · settled/);
});

it('a team names who does which task, and what each brought', async () => {
  const { page } = web;
  const listed = await eventually('three entries of the list', async () => {
    const entries = await client.list({});
    return entries.length >= 3 && entries;
  });
  expect(listed.map(({ run_id }) => run_id).toSorted()).toEqual([runId, teamId, triadId]);
  await page.goto(`${server.uiUrl}/namespaces/default/workflows/${teamId}`);
  expect(await isShown(page.getByText('openTeam • task · who is in the team'))).toBe(true);
  expect(await isShown(page.getByText('modelTurn • leader · task · turn 1'))).toBe(true);
  expect(await isShown(page.getByText('planTasks • task · 2 tasks'))).toBe(true);
  expect(await isShown(page.getByText('modelTurn • writer · task.writer · turn 1'))).toBe(true);
  await page.getByRole('tab', { name: 'User Metadata' }).click();
  const shown = await readFrames(page, 'Tasks');
  expect(shown).toMatch(/Leader: leader · done · 2 turns/);
  expect(shown).toMatch(/completed · .* task\.writer · writer/);
});

it('the memo tells who waits for whom', async () => {
  const { page } = web;
  await openTab(page, 'Memo');
  expect(
    await isShown(page.getByRole('textbox').filter({ hasText: 'waiting for your answer to q1' })),
  ).toBe(true);
});

it('the relationships show the wave under its run', async () => {
  const { page } = web;
  await openTab(page, 'Relationships');
  expect(await isShown(page.getByRole('link', { name: `${runId}/wave-001`, exact: true }))).toBe(
    true,
  );
});

it('the details begin with what waits for whom, and the command that answers it', async () => {
  const { page } = web;
  await openTab(page, 'User Metadata');
  expect(await isShown(page.getByRole('heading', { name: 'Current Details' }))).toBe(true);
  const details = await readFrames(page, 'npm run planwave');
  expect(details).toMatch(
    /^One question waits for you\s+q1 · critical · from researcher in gather-facts/,
  );
  expect(details).toContain(question);
  expect(details).toContain(`npm run planwave -- answer ${runId} q1 'the person who decides'`);
  expect(details).toContain(`temporal workflow signal --workflow-id ${runId} --name answer`);
  expect(await readFrames(page, goal, (text) => text === goal)).toBe(goal);
  await takePicture(page, 'web-ui-run');
});

it('an answer given in the signal dialog completes the run', async () => {
  const { page } = web;
  await openTab(page, 'Timeline');
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page.getByRole('menuitem', { name: 'Send a Signal' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send a Signal' });
  await dialog.getByRole('button', { name: 'Select a signal' }).click();
  await page.getByRole('option', { name: /^answer\b/ }).click();
  const data = dialog.getByRole('textbox', { name: 'Data' });
  await data.click();
  await page.keyboard.insertText(JSON.stringify({ question_id: 'q1', answer: 'everybody' }));
  // The dialog lays out the JSON when the field is left, and the button moves.
  await data.blur();
  expect(await isShown(data.filter({ hasText: '"question_id": "q1"' }))).toBe(true);
  await dialog.getByRole('button', { name: 'Submit' }).click();

  const run = stage.client.workflow.getHandle(runId);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const { answered } = await stage.questions(run);
  expect(answered.map(({ answer }) => answer)).toEqual(['everybody']);
  await openTab(page, 'Timeline');
  expect(await isShown(page.getByRole('main').getByText('Completed', { exact: true }))).toBe(true);
  // Triad and team were started beside the stage, on the queue of the worker process.
  await expectPromisesKept({ ...stage, started: [...stage.started, triadId, teamId] }, runId);
});
