import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { serveView } from '../../client/view/serve-view.ts';
import { openQuestion, submit } from '../support/asking.ts';
import { eventually } from '../support/eventually.ts';
import { findPlanted, findPlantedInFiles, planted } from '../support/planted.ts';
import { goal } from '../support/process-stage.ts';
import { expectPromisesKept } from '../support/promises.ts';
import { runCommand } from '../support/run-command.ts';
import { samplePage } from '../support/sample-page.ts';
import { completed, plan, plans, work, works } from '../support/scripted-work.ts';
import { storedRecord } from '../support/stored-record.ts';
import { useStage } from '../support/use-stage.ts';
import { openWebPage } from '../support/web-page.ts';
import type { WebPage } from '../support/web-page.ts';
import { provideWritingAgent } from '../support/writing-agent.ts';
import { createFakeIo } from '../unit/client/support/fake-io.ts';

/** `PLANWAVE_SCREENSHOT=1` takes the picture of the documents. */
const takesPictures = process.env['PLANWAVE_SCREENSHOT'] === '1';
const pictures = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const { stage } = useStage();

let web: WebPage;
/** Addresses that the browser asked for, and complaints of its console: of the content security policy too. */
const asked: string[] = [];
const complaints: string[] = [];
beforeAll(async () => {
  web = await openWebPage({ width: 1280, height: 900 });
  web.page.setDefaultTimeout(180_000);
  web.page.on('request', (request) => {
    if (request.url() !== 'about:blank') asked.push(new URL(request.url()).origin);
  });
  web.page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  web.page.on('pageerror', (error) => complaints.push(error.message));
});
beforeEach(() => {
  asked.length = 0;
  complaints.length = 0;
});
afterAll(() => web?.close());

/** Runs `planwave view` as long as `use` takes. */
async function withView(
  runId: string,
  use: (page: Page, url: string) => Promise<void>,
): Promise<void> {
  const io = createFakeIo();
  const command = runCommand(stage, ['view', runId], '', io);
  const url = await eventually(
    'the address of the page',
    async () => /http:\S+/.exec(io.out())?.[0],
  );
  try {
    await use(web.page, url);
  } finally {
    // A page that is left open would go on asking for its server.
    await web.page.goto('about:blank');
    io.interrupt();
  }
  expect(await command).toMatchObject({ code: 0, err: '' });
  expect(new Set(asked)).toEqual(new Set([new URL(url).origin]));
  expect(complaints.filter((text) => !text.includes('ERR_INCOMPLETE_CHUNKED'))).toEqual([]);
}

async function fitsInto(page: Page, width: number): Promise<boolean> {
  await page.setViewportSize({ width, height: 900 });
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
  await page.setViewportSize({ width: 1280, height: 900 });
  return wide <= width;
}

it('the keyboard stays where it is when a question is answered elsewhere', async () => {
  const run = await stage.start('plannerRun', { goal }, 'answered-elsewhere');
  const { question_id, choices } = await openQuestion(stage, run);
  await withView(run.workflowId, async (page, url) => {
    await page.goto(url);
    await page.locator('#work details summary').first().focus();
    await submit(run, { question_id, answer: choices[0] });
    await page.locator('#open').waitFor({ state: 'detached' });
    expect(await page.evaluate('Boolean(document.activeElement?.closest("#work"))')).toBe(true);
  });
  await stage.result(run);
});

it('a question is answered on the page by keyboard, and the page follows the run to its end', async () => {
  const constraints = [`The key is ${planted.anthropic}`];
  const run = await stage.start('plannerRun', { goal, constraints }, 'backup-choice');
  const { workflowId: id } = run;
  await openQuestion(stage, run);
  await withView(id, async (page, url) => {
    await page.goto(url);
    await page.getByRole('heading', { name: '1 question waits for you' }).waitFor();
    await page.getByRole('group', { name: 'Your answer' }).getByRole('radio').first().focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'q1 answered: ' }).waitFor();
    // From here on nothing is loaded anew: the page changes in place, and what is open stays open.
    await page.evaluate('globalThis.isSamePage = true');
    await page.locator('#work details summary').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('header .badge', { hasText: 'completed' }).waitFor();
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
    expect(await page.locator('#work details').first().getAttribute('open')).toBe('');
    expect(await page.locator('main > section').first().getAttribute('id')).toBe('answer');
    await page.getByRole('img', { name: 'The run over time' }).waitFor();
    await page.getByRole('region', { name: 'Delegations' }).getByRole('table').waitFor();
    expect(await fitsInto(page, 400)).toBe(true);
    expect(await fitsInto(page, 1280)).toBe(true);
    expect(findPlanted('the page', await page.content())).toEqual([]);
    if (takesPictures) await takePicture(page);
  });
  await stage.result(run);
  await expectPromisesKept(stage, id);

  const file = join(stage.home, 'page.html');
  expect(await runCommand(stage, ['report', id, '--html', file])).toMatchObject({ code: 0 });
  asked.length = 0;
  complaints.length = 0;
  await web.page.goto(pathToFileURL(file).href);
  await web.page.getByRole('heading', { name: 'Answer', exact: true }).waitFor();
  // Its styles hold although a file loads nothing: the badge has a colour of the page.
  const colour = "getComputedStyle(document.querySelector('header .badge')).color";
  expect(await web.page.evaluate(colour)).toBe('rgb(26, 127, 55)');
  expect({ asked: new Set(asked), complaints }).toEqual({
    asked: new Set(['null']),
    complaints: [],
  });
  expect(findPlantedInFiles(stage.home)).toEqual([]);
});

async function takePicture(page: Page): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.setViewportSize({ width: 1200, height: 760 });
  await page.locator('#time').scrollIntoViewIfNeeded();
  await page.evaluate("document.getElementById('time').scrollIntoView()");
  await page.screenshot({ path: join(pictures, 'view.png') });
}

it('an approval shows everything that is approved, and is given on the page', async () => {
  const content = `${'A long text that no question shows whole. '.repeat(60)}${planted.github} THE END`;
  stage.rehearsal.script([
    plans(1, plan([work('pages', { agent_id: 'risky' })])),
    works('pages', { tool_use: [{ name: 'write_file', input: { path: 'a.md', content } }] }, 1),
    works('pages', { json: { ...completed('pages-done'), effects_claimed: ['a.md'] } }),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Build a site',
    agents_dir: provideWritingAgent(stage.home, 'risky', 'high'),
    limits: { max_waves: 1 },
  });
  await openQuestion(stage, run);
  await withView(run.workflowId, async (page, url) => {
    await page.goto(url);
    await page.getByText('May the agent "risky" call write_file').waitFor();
    const shown = await page.locator('article.question details').innerText();
    expect(shown).toMatch(/A long text.*\[redacted:github\][^]*THE END/);
    await page.getByRole('radio', { name: 'approve', exact: true }).check();
    await page.getByRole('button', { name: 'Send the answer' }).click();
    await page.getByRole('alert').filter({ hasText: 'q1 answered: approve' }).waitFor();
    await page.locator('#changes').getByText('done').waitFor();
    expect(findPlanted('the page', await page.content())).toEqual([]);
  });
  const { effects = [] } = await eventually('the confirmed change', async () => {
    const record = await storedRecord(stage.home, run.workflowId);
    return record.effects?.[0]?.state === 'confirmed' && record;
  });
  expect(effects.map(({ target, approval_question_id }) => [target, approval_question_id])).toEqual(
    [['a.md', 'q1']],
  );
  await stage.result(run).catch(() => undefined);
});

it('600 delegations are on one page, in light and in dark', async () => {
  const { page } = web;
  const served = await serveView(
    {
      listRuns: () => Promise.resolve([]),
      readPage: () => Promise.resolve(samplePage(600)),
      readVersion: () => Promise.resolve('1'),
      answer: () => Promise.reject(new Error('Nothing is answered here.')),
    },
    { port: 0, token: 'key', runId: 'sample' },
  );
  try {
    const grounds: unknown[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      // oxlint-disable-next-line no-await-in-loop
      await page.emulateMedia({ colorScheme });
      // oxlint-disable-next-line no-await-in-loop
      await page.goto(served.url);
      // oxlint-disable-next-line no-await-in-loop
      await page.getByText('Live').waitFor();
      // oxlint-disable-next-line no-await-in-loop
      grounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
    }
    expect(grounds).toEqual(['rgb(255, 255, 255)', 'rgb(13, 17, 23)']);
    expect(await page.locator('#work .unit').count()).toBeGreaterThanOrEqual(600);
    // A link leads to what it names, and opens what hides it.
    await page.locator('#time th a[href="#work-task-600"]').click();
    expect(new URL(page.url()).hash).toBe('#work-task-600');
    await page.locator('#work-task-600').waitFor({ state: 'visible' });
    expect(await fitsInto(page, 400)).toBe(true);
    expect(new Set(asked)).toEqual(new Set([new URL(served.url).origin]));
    expect(complaints).toEqual([]);
  } finally {
    await served.close();
    await page.emulateMedia({ colorScheme: 'light' });
  }
});
