import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import type { DelegationStatusView } from '../../../contracts/views.ts';
import { waveWorkflowId } from '../../../core/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { createGitFixture } from '../../support/git-fixture.ts';
import { architectAgent, planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  completed,
  callsOf,
  held,
  newestText,
  ownWorkflows,
  question,
  unmet,
  works,
} from '../../support/scripted-work.ts';
import { readSharedStatus } from '../../support/seed-files.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();
/** Two decisions of its solution architect are planned at the same time. */
const { stage: hurried } = useStage({ reportsTogether: { orderDecision: 2 } });

const [rates, page] = ['rates_1727539200', 'page_1727539200'] as const;

/** A plan as a person types it: two tasks that do not need each other. */
const typed: CoordinationPlan = {
  ...samplePlan(),
  tasks: [planTask('rates'), planTask('page', { agent: 'api_agent' })],
  risks: [],
  new_agents: [],
};

const readStatus = (runId: string) => readSharedStatus(join(stage.home, runId));

const openQuestion = (run: WorkflowHandle, begin: string) =>
  eventually('the question', async () =>
    (await stage.questions(run)).open.find(({ text }) => text.startsWith(begin)),
  );

/** Counts the decisions of all runs so far. */
const countDecisions = (): number =>
  stage.rehearsal.calls().filter(({ shape }) => shape === 'decision').length;

/** Ends each attempt at a task in its first call. @param before Calls that it made before. */
async function crashThrice(workflowId: string, taskId: string, before: number): Promise<void> {
  for (const attempt of [1, 2, 3]) {
    // oxlint-disable-next-line no-await-in-loop
    await eventually(
      `the stalled call of attempt ${attempt}`,
      async () => callsOf(stage.rehearsal, taskId).length === before + attempt,
    );
    // oxlint-disable-next-line no-await-in-loop
    await stage.client.workflow.getHandle(workflowId).terminate('as if its machine had burnt down');
  }
}

it('a task that crashes three times has failed, buys and asks nothing twice, and is asked about when its sibling has ended', async () => {
  const stalls = { pass: true, delayMs: 600_000 } as const;
  stage.rehearsal.script([
    works(rates, { json: blocked([question('Which countries?')], 'rates-done') }, 1),
    ...[2, 3, 4].map((nth) => works(rates, stalls, nth)),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Ship',
    plan: typed,
    auto_approve: true,
    limits: ownWorkflows,
  });
  const { question_id } = await openQuestion(run, 'Which countries');
  // Its wave has not ended, yet what depends on it could begin.
  await eventually(
    'the verified sibling',
    async () => readStatus(run.workflowId)?.agents['api_agent']?.status === 'verified',
  );
  await run.signal('answer', { question_id, answer: 'All of Europe' });
  // The first call is the question, which no later attempt asks again.
  await crashThrice(`${waveWorkflowId(run.workflowId, 1)}/${rates}`, rates, 1);
  const crashed = await openQuestion(run, 'A task of the plan has failed');
  expect(crashed.text).toContain('it crashed 3 times');
  expect((await stage.questions(run)).answered).toHaveLength(1);
  // The files are written once the question is there.
  await eventually('the status of the agents', async () => {
    const { database_agent, api_agent } = readStatus(run.workflowId)?.agents ?? {};
    return database_agent?.status === 'failed' && api_agent?.status === 'verified';
  });
  await run.signal('answer', { question_id: crashed.question_id, answer: 'retry' });
  const { usage, ...result } = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(usage.calls + usage.unreported_calls).toBe(stage.rehearsal.calls().length);
  expect(callsOf(stage.rehearsal, 'rates-2_1727539200').length).toBeGreaterThan(0);
  expect(stage.rehearsal.calls().filter(({ shape }) => shape === 'plan')).toEqual([]);
  await expectPromisesKept(stage, run.workflowId, { orphans: true, lostUsage: true });
});

it('a task that crashes after it left its wave begins anew, buys no reply again and changes nothing twice', async () => {
  const { dir } = createGitFixture({ 'page.md': 'n0\n' });
  const edits = Array.from({ length: 8 }, (_one, at) => ({
    tool_use: [
      {
        name: 'edit_file',
        input: { path: 'page.md', old_string: `n${at}`, new_string: `n${at + 1}` },
      },
    ],
  }));
  stage.rehearsal.script([
    ...edits.slice(0, 7).map((edit, at) => works(rates, edit, at + 1)),
    works(rates, { pass: true, delayMs: 600_000 }, 8),
    ...edits.slice(7).map((edit) => works(rates, edit, 9)),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Ship',
    plan: {
      ...typed,
      tasks: typed.tasks.slice(0, 1),
      agents: typed.agents.filter(({ agent_name }) => agent_name !== 'api_agent'),
    },
    workspace_dir: dir,
    changes: 'keep',
    auto_approve: true,
    limits: { inline_events: 60 },
  });
  await eventually('the stalled call', async () => callsOf(stage.rehearsal, rates).length === 8);
  // What stands still is blocked in the file, too.
  const status = (wanted: string) =>
    eventually(wanted, async () => readStatus(run.workflowId)?.status === wanted);
  await status('in_progress');
  await run.signal('pause', { reason: 'a look at the changes' });
  await status('blocked');
  await run.signal('resume', {});
  await status('in_progress');
  const id = `${waveWorkflowId(run.workflowId, 1)}/${rates}`;
  await stage.client.workflow.getHandle(id).terminate('as if its machine had burnt down');
  const { usage, ...result } = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  expect(callsOf(stage.rehearsal, rates).filter(({ shape }) => shape === 'delegation').length).toBe(
    10,
  );
  expect(usage.calls + usage.unreported_calls).toBe(stage.rehearsal.calls().length);
  const { effects = [] } = await storedRecord(stage.home, run.workflowId);
  expect(effects.map(({ state }) => state)).toEqual(edits.map(() => 'confirmed'));
  await expectPromisesKept(stage, run.workflowId, { orphans: true, lostUsage: true });
});

it('a crash while the user is asked about five failures loses no answer, and the task goes on by it', async () => {
  const json = {
    verdict: 'fail',
    missing_evidence: ['The countries.'],
    reviewed_notes: [],
  };
  stage.rehearsal.script(
    [1, 2, 3, 4, 5].map((nth) => ({
      match: { schema: 'verification', callKeyIncludes: `/${rates}/`, nth },
      reply: { json },
    })),
  );
  const run = await stage.start('plannerRun', {
    goal: 'Ship',
    plan: typed,
    auto_approve: true,
    limits: ownWorkflows,
  });
  const { question_id } = await openQuestion(run, `The output of ${rates}`);
  const calls = callsOf(stage.rehearsal, rates).length;
  const task = stage.client.workflow.getHandle(`${waveWorkflowId(run.workflowId, 1)}/${rates}`);
  const { runId: crashed } = await task.describe();
  await task.terminate('as if its machine had burnt down');
  // The next attempt waits for the same answer.
  await eventually('the next attempt at the question', async () => {
    const { runId } = await task.describe();
    if (runId === crashed) return false;
    const view = await task.query<DelegationStatusView | null>('status').catch(() => null);
    return view?.waiting_for.startsWith('The output of');
  });
  expect((await stage.questions(run)).open).toMatchObject([{ question_id }]);
  await run.signal('answer', { question_id, answer: 'guide' });
  const next = await openQuestion(run, 'What guidance');
  await run.signal('answer', { question_id: next.question_id, answer: 'Name all of Europe.' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  expect((await stage.questions(run)).answered).toHaveLength(2);
  expect(callsOf(stage.rehearsal, rates)).toHaveLength(calls + 2);
  await expectPromisesKept(stage, run.workflowId, { orphans: true, lostUsage: true });
});

it('a technical question is decided by the solution architect in the same wave, verified, and the doer goes on with it', async () => {
  const plan = { ...typed, agents: [...typed.agents, architectAgent] };
  stage.rehearsal.script([
    works(rates, { json: blocked([question('Which database is used?')], 'rates-done') }, 1),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Ship', plan, auto_approve: true });
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    waves: 1,
    criteria: [{ criterion_id: 'rates-done' }, { criterion_id: 'page-done' }],
  });
  const record = await storedRecord(stage.home, run.workflowId);
  expect(record.criteria).toMatchObject([
    { criterion_id: 'rates-done', state: 'met' },
    { criterion_id: 'page-done', state: 'met' },
  ]);
  const id = 'decision_w1n1_1727539200';
  const { answered } = await stage.questions(run);
  expect(answered).toMatchObject([
    { text: 'Which database is used?', answered_by: 'solution-architect' },
  ]);
  const [decided] = callsOf(stage.rehearsal, id);
  expect(newestText(decided)).toContain('You decide what doers must escalate');
  const shapes = callsOf(stage.rehearsal, id).map(({ shape }) => shape);
  expect(shapes).toEqual(expect.arrayContaining(['delegation', 'verification']));
  // The doer resumes its own conversation with the decision.
  expect(callsOf(stage.rehearsal, rates).map(newestText).join()).toContain('Rehearsal of');
  const agents = join(stage.home, run.workflowId, 'agents');
  const notes = join(agents, 'database_agent', 'completion_drive');
  const session = readdirSync(notes).find((name) => name.startsWith('session_')) ?? '';
  const note = readFileSync(join(notes, session), 'utf8');
  expect(JSON.parse(note)).toMatchObject({
    notes: expect.arrayContaining([
      expect.objectContaining({
        status: 'resolved',
        resolved_by: 'workflow_executor',
        resolution_timestamp: expect.any(Number),
      }),
    ]),
  });
  expect(readStatus(run.workflowId)?.agents).toMatchObject({
    architect_agent: { status: 'session_complete' },
    database_agent: { status: 'session_complete' },
  });
  expect(readdirSync(join(agents, 'architect_agent'), { recursive: true })).toEqual(
    expect.arrayContaining([expect.stringContaining(`task_output/${id}.md`)]),
  );
  await expectPromisesKept(stage, run.workflowId);
});

/** The doer of a task asks in its first call. */
const asksFirst = (id: string) =>
  works(
    id,
    { json: blocked([question(`Which database has ${id}?`)], id.replace(/_\d+$/, '-done')) },
    1,
  );

it('what two doers ask at once is decided by two tasks, and neither waits for ever', async () => {
  hurried.rehearsal.script([asksFirst(rates), asksFirst(page)]);
  const plan = { ...typed, agents: [...typed.agents, architectAgent] };
  const run = await hurried.start('plannerRun', { goal: 'Ship', plan, auto_approve: true });
  expect(await hurried.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const { answered } = await hurried.questions(run);
  expect(answered.map(({ answered_by }) => answered_by)).toEqual([
    'solution-architect',
    'solution-architect',
  ]);
  const { details } = await storedRecord(hurried.home, run.workflowId);
  expect(details.map(({ detail_id }) => detail_id).toSorted()).toEqual([
    'decision_w1n1_1727539200',
    'decision_w1n2_1727539200',
    page,
    rates,
  ]);
  await expectPromisesKept(hurried, run.workflowId);
});

it('the user is asked what the solution architect could not decide', async () => {
  stage.rehearsal.script([
    works(rates, { json: blocked([question('Which database is used?')], 'rates-done') }, 1),
    works('decision_w1n1_1727539200', {
      json: unmet('failed', 'No numbers.', 'decided-decision_w1n1'),
    }),
  ]);
  const plan = { ...typed, agents: [...typed.agents, architectAgent] };
  const run = await stage.start('plannerRun', { goal: 'Ship', plan, auto_approve: true });
  const asked = await openQuestion(run, 'Which database is used?');
  expect(asked.why_it_matters).toContain('The solution architect gave no answer: No numbers.');
  await run.signal('answer', { question_id: asked.question_id, answer: 'PostgreSQL' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  await expectPromisesKept(stage, run.workflowId);
});

it('an answer that contradicts what another task stated changes the plan of those that read from it', async () => {
  const stated = { statement: 'The API listens on 8080.', confidence: 'high' } as const;
  const output = completed('rates-done');
  const asks = question('Which port has the API?', { fact_key: 'port of the API' });
  stage.rehearsal.script([
    works(rates, {
      json: { ...output, facts: [{ ...stated, key: 'Port of the API', value: '8080' }] },
    }),
    works(page, { json: blocked([asks], 'page-done') }, 1),
  ]);
  const [first, second] = typed.tasks;
  if (first === undefined || second === undefined) throw new Error('the plan has two tasks');
  const docs = planTask('docs', {
    depends_on: [rates],
    inputs: first.outputs.map((file) => ({ ...file, from: rates })),
  });
  const run = await stage.start('plannerRun', {
    goal: 'Ship',
    plan: { ...typed, tasks: [first, second, docs] },
    auto_approve: true,
    limits: { max_delegations: 1 },
  });
  const { question_id } = await openQuestion(run, 'Which port');
  await run.signal('answer', { question_id, answer: '9090' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  const report = readFileSync(join(stage.home, run.workflowId, 'report.md'), 'utf8');
  expect(report).toContain(
    `answers to \`${page}\` (${question_id}) contradict what others stated.`,
  );
  const [told] = callsOf(stage.rehearsal, docs.task_id);
  expect(newestText(told)).toContain('Rehearsal: take another way.');
  expect(newestText(told)).toContain('9090');
  await expectPromisesKept(stage, run.workflowId);
});

/** Starts a run whose first result becomes stale while its wave is decided. @param redoes Replies to the task done again. */
async function startStale(
  redoes: readonly ReturnType<typeof works>[],
  more: object = {},
): Promise<WorkflowHandle> {
  const decisions = countDecisions();
  const decides = held({ pass: true });
  stage.rehearsal.script([
    works(rates, { json: blocked([question('Which countries?')], 'rates-done') }, 1),
    { match: { schema: 'decision', nth: 1 }, reply: decides.reply },
    ...redoes,
  ]);
  const input = { goal: 'Ship', plan: typed, auto_approve: true, ...more };
  const run = await stage.start('plannerRun', input);
  const { question_id } = await openQuestion(run, 'Which countries');
  await run.signal('answer', { question_id, answer: 'France' });
  await eventually('the decision', async () => countDecisions() > decisions);
  const answers = [{ question_id, answer: 'All of Europe' }];
  await run.signal('amend', { instruction: 'It is for Europe.', answers });
  await eventually('the new answer', async () =>
    (await stage.questions(run)).answered.some(({ answer }) => answer === 'All of Europe'),
  );
  decides.release();
  return run;
}

it('a task that is done again and given up by its agent is asked about like one that failed five times', async () => {
  const redo = 'rates-2_1727539200';
  const before = callsOf(stage.rehearsal, redo).length;
  const run = await startStale([
    works(redo, { json: unmet('failed', 'The source is gone.', 'rates-done') }, 1),
  ]);
  const asked = await openQuestion(run, redo);
  expect(asked).toMatchObject({ choices: ['modify', 'guide', 'abandon'] });
  expect(asked.text).toMatch(/has failed: see below.*Instructions: .*The source is gone/s);
  await run.signal('answer', { question_id: asked.question_id, answer: 'guide' });
  const guidance = await openQuestion(run, 'What guidance');
  await run.signal('answer', { question_id: guidance.question_id, answer: 'Ask the archive.' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const told = newestText(callsOf(stage.rehearsal, redo)[before + 1]);
  expect(told).toContain('The task was tried before, and failed');
  expect(told).toContain('Ask the archive.');
  expect(told).toContain('The source is gone.');
  const { stale } = await storedRecord(stage.home, run.workflowId);
  expect(stale).toMatchObject([{ delegation_id: rates, redone_by: redo }]);
  await expectPromisesKept(stage, run.workflowId);
});

// The last one: it leaves prompts of calls that were cut off, which the others would find.
it('a task that is done again and crashes three times is asked about, and made again when the user wants it', async () => {
  const redo = 'rates-2_1727539200';
  const run = await startStale(
    [1, 2, 3].map((nth) => works(redo, { pass: true, delayMs: 600_000 }, nth)),
    { limits: { ...ownWorkflows, max_waves: 6 } },
  );
  await crashThrice(`${waveWorkflowId(run.workflowId, 2)}/${redo}`, redo, 0);
  const crashed = await openQuestion(run, 'A task of the plan has failed');
  expect(crashed.text).toContain(redo);
  await run.signal('answer', { question_id: crashed.question_id, answer: 'retry' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  const { stale } = await storedRecord(stage.home, run.workflowId);
  expect(stale).toMatchObject([{ delegation_id: rates, redone_by: 'rates-3_1727539200' }]);
  await expectPromisesKept(stage, run.workflowId, { orphans: true, lostUsage: true });
});
