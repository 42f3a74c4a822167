import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { openStores } from '../../activities/adapters/open-stores.ts';
import { changeShared } from '../../activities/load/change-shared.ts';
import { createTenantBudgets } from '../../activities/load/tenant-budgets.ts';
import { engineLimits } from '../../core/limits.ts';
import { askWithoutWorker, openQuestion } from '../support/asking.ts';
import { deepScript } from '../support/deep-run.ts';
import { eventually } from '../support/eventually.ts';
import type { Stage } from '../support/stage.ts';
import {
  completed,
  decision,
  held,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../support/scripted-work.ts';
import { takes } from '../support/scripted-triad.ts';
import { untilFull, untilIdle, untilSignaled, untilTold } from '../support/until-idle.ts';
import { answerFirst, goal } from './scenario.ts';
import type { Scenario } from './scenario.ts';

/** Runs whose user changes something while they work or ask. */
export const amendedScenarios: readonly Scenario[] = [
  {
    // An answer comes with the reply that asks its question, and one to a question that is never asked.
    name: 'early-answer',
    keep: { '': { last: 'delegation-early-answer' } },
    async play(stage, runId) {
      const run = await askWithoutWorker(stage, runId);
      for (const question_id of ['q2', 'q1'])
        await run.signal('answer', { question_id, answer: 'eu-west' });
      await stage.startWorker();
      await run.result();
    },
  },
  {
    // The answer by which a decision waives a criterion changes while the planner decides.
    name: 'changed-answer',
    keep: {
      '': { last: 'plannerRun-changed-answer' },
      '/wave-001': { last: 'plannerWave-changed-answer' },
    },
    async play(stage, runId) {
      const criteria_waived = [{ criterion_id: 'goal-1', question_id: 'q1' }];
      const decides = held({ json: { ...decision('goal-2'), criteria_waived } });
      const both = ['goal-1', 'goal-2'];
      stage.rehearsal.script([
        plans(1, plan([], [question('May the summary be left out?')])),
        plans(2, plan([work('check', { criteria: ['goal-2'] })])),
        plans(3, plan([work('both', { criteria: both })])),
        works('check', { json: unmet('completed', 'Not yet.', 'goal-2') }),
        works('both', { json: completed(...both) }),
        { match: { schema: 'decision', nth: 1 }, reply: decides.reply },
      ]);
      const input = { goal, criteria: ['There is a summary.', 'It names three ways.'] };
      const run = await stage.start('plannerRun', input, runId);
      await answerFirst(stage, run);
      await stage.rehearsal.waitForCalls(4);
      const answers = [{ question_id: 'q1', answer: 'No' }];
      await run.signal('amend', { instruction: 'Keep the summary.', answers });
      await untilSignaled(stage, `${runId}/wave-001`, 'inform');
      await untilTold(stage, runId);
      decides.release();
      await run.result();
    },
  },
  {
    // The user tells the run something while it asks what becomes of the changes.
    name: 'told-at-end',
    keep: { '': { last: 'plannerRun-told-at-end' } },
    async play(stage, runId) {
      const dir = mkdtempSync(join(tmpdir(), 'planwave-history-'));
      const input = { path: 'page.md', content: 'The page.' };
      stage.rehearsal.script([
        plans(1, plan([work('page', { agent_id: 'engineer' })])),
        plans(2, plan([work('note')])),
        works('page', { tool_use: [{ name: 'write_file', input }] }, 1),
        works('page', { json: { ...completed('page-done'), effects_claimed: ['page.md'] } }),
        works('note', { json: completed('note-done') }),
      ]);
      const run = await stage.start('plannerRun', { goal, workspace_dir: dir }, runId);
      await openQuestion(stage, run);
      await run.signal('amend', { instruction: 'Write a note on it, too.' });
      await openQuestion(stage, run, 'q2');
      await run.signal('answer', { question_id: 'q2', answer: 'keep' });
      await run.result();
      rmSync(dir, { recursive: true });
    },
  },
  {
    // A delegation alone, with notes and a budget, is stopped before its first call.
    name: 'stopped-at-begin',
    keep: { '': { last: 'delegation-stopped-at-begin' } },
    async play({ client, taskQueue }, runId) {
      const task_description = 'List three ways.';
      const run = await client.workflow.signalWithStart('delegation', {
        taskQueue,
        workflowId: runId,
        args: [{ agent_id: 'writer', task_description, notes: true, budget: { calls: 3 } }],
        signal: 'stop',
        signalArgs: [{ reason: 'another goal came up' }],
      });
      await run.result();
    },
  },
  {
    // A delegation alone is told something during its last call.
    name: 'unread-at-end',
    keep: { '': { last: 'delegation-unread-at-end' } },
    async play(stage, runId) {
      const last = held({ pass: true });
      stage.rehearsal.script([{ match: { schema: 'delegation' }, reply: last.reply }]);
      const input = { agent_id: 'writer', task_description: 'List three ways.' };
      const run = await stage.start('delegation', input, runId);
      await stage.rehearsal.waitForCalls(1);
      await run.signal('amend', { instruction: 'Name the region.' });
      // The answer to a query follows the signal.
      await stage.status(run);
      last.release();
      await run.result();
    },
  },
  {
    // A triad alone is told something during each call of its last phase.
    name: 'unread-by-triad',
    keep: { '': { last: 'triad-unread' }, '/execute': { last: 'triadPhase-unread' } },
    async play(stage, runId) {
      const run = stage.client.workflow.getHandle(runId);
      const tells = async () => {
        await run.signal('amend', { instruction: 'Name the region.' });
        await untilTold(stage, runId);
        return { pass: true } as const;
      };
      stage.rehearsal.script([takes({ phase: 'execute' }, tells)]);
      await stage.start('triad', { type: 'dialectic', task: 'List three ways.' }, runId);
      await run.result();
    },
  },
  {
    // A run that is told much while its question is open continues as new after its wave.
    name: 'long',
    keep: { '': { first: 'plannerRun-long' } },
    async play(stage, runId) {
      stage.rehearsal.script(deepScript({ waves: 3, width: 2 }));
      const input = { goal: 'Go deep', criteria: ['The last step is done'] };
      const run = await stage.start('plannerRun', input, runId);
      await openQuestion(stage, run, 'q1');
      const messages = Array.from({ length: engineLimits.historyEventsMax - 100 }, () =>
        run.signal('answer', { question_id: 'q9', answer: '' }),
      );
      await Promise.all(messages);
      await run.signal('answer', { question_id: 'q1', answer: 'Europe' });
      await run.result();
    },
  },
  {
    // A run whose call is more than a day's budget is refused at its next try because the budget is used up.
    name: 'refused-otherwise',
    isTold: true,
    isPriced: true,
    keep: { '': { last: 'plannerRun-refused-otherwise' } },
    async play(stage, runId) {
      const { shared } = openStores({ home: stage.home });
      const budgets = createTenantBudgets(shared);
      await budgets.set('acme', 1);
      const run = await stage.start('plannerRun', { goal, tenant: 'acme' }, runId);
      await untilParked(stage, run, 'in a whole day');
      const usd = 1_000_000;
      const spent = { spent_micro_usd: 100 * usd, limit_micro_usd: 100 * usd };
      const today = { ...spent, day: Math.floor(Date.now() / 86_400_000), reserved: {} };
      await changeShared(shared, 'budget/acme', () => ({ next: today, result: null }));
      await untilParked(stage, run, 'is used up');
      await run.signal('stop', {});
      await run.result();
    },
  },
  {
    // A delegation that has to leave its wave waits for the end of a pause.
    name: 'left-paused',
    keep: { '/wave-001': { last: 'plannerWave-left-paused' } },
    async play(stage, runId) {
      // It is repaired by the next call. Tool calls would wait for the end of the pause themselves.
      const first = held({ json: {} });
      stage.rehearsal.script([
        plans(1, plan([work('gather'), work('load', { depends_on: ['gather'] })])),
        works('gather', { json: completed('gather-done') }),
        works('load', first.reply, 1),
        works('load', { json: completed('load-done') }),
        { match: { schema: 'decision' }, reply: { json: decision() } },
      ]);
      const limits = { inline_events: 70 };
      const run = await stage.start('plannerRun', { goal, limits }, runId);
      const wave = stage.client.workflow.getHandle(`${runId}/wave-001`);
      await stage.rehearsal.waitForCalls(3);
      await untilFull(run, wave, limits.inline_events);
      await run.signal('pause', { reason: 'a longer look' });
      await untilTold(stage, runId);
      first.release();
      await untilIdle(stage, runId);
      await run.signal('resume', {});
      await run.result();
    },
  },
  {
    // A delegation is told something while a call of it waits for the end of a pause.
    name: 'told-while-waiting',
    keep: { '/wave-001': { last: 'plannerWave-told-while-waiting' } },
    async play(stage, runId) {
      // It is repaired by the next call.
      const first = held({ json: {} });
      stage.rehearsal.script([
        plans(1, plan([work('gather')])),
        works('gather', first.reply, 1),
        works('gather', { json: completed('gather-done') }),
        { match: { schema: 'decision' }, reply: { json: decision() } },
      ]);
      const run = await stage.start('plannerRun', { goal }, runId);
      await stage.rehearsal.waitForCalls(2);
      await run.signal('pause', { reason: 'a look' });
      await untilTold(stage, runId);
      first.release();
      await untilIdle(stage, runId);
      await run.signal('amend', { instruction: 'Only in the EU.' });
      await untilTold(stage, runId);
      await run.signal('resume', {});
      await run.result();
    },
  },
  {
    // A changed answer that no question takes, and a run that parks at its last write, twice without a resume in between.
    name: 'harmed',
    isTold: true,
    isPriced: true,
    keep: { '': { last: 'plannerRun-harmed' } },
    async play(stage, runId) {
      const budgets = createTenantBudgets(openStores({ home: stage.home }).shared);
      await budgets.set('acme', 1);
      const run = await stage.start(
        'plannerRun',
        { goal, tenant: 'acme', use_defaults: true },
        runId,
      );
      await untilParked(stage, run, 'in a whole day');
      await run.signal('amend', { answers: [{ question_id: 'q1', answer: 'a\u0000' }] });
      await eventually('another try by itself', async () => {
        const { events } = await run.fetchHistory();
        return (events ?? []).filter((one) => one.timerStartedEventAttributes).length === 2;
      });
      const segments = join(stage.home, 'segments');
      const aside = join(stage.home, 'aside');
      await stage.stopWorker();
      renameSync(segments, aside);
      mkdirSync(segments);
      await stage.startWorker();
      await run.signal('stop', {});
      await untilParked(stage, run, 'is missing');
      cpSync(aside, segments, { recursive: true });
      await run.signal('resume', {});
      await run.result();
    },
  },
];

async function untilParked(stage: Stage, run: WorkflowHandle, why: string): Promise<void> {
  await eventually(`a run that is parked: ${why}`, async () =>
    (await stage.status(run)).parked_reason?.includes(why),
  );
}
