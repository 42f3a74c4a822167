import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { openStores } from '../../activities/adapters/open-stores.ts';
import { createTenantBudgets } from '../../activities/load/tenant-budgets.ts';
import { openQuestion } from '../support/asking.ts';
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
import { untilSignaled, untilTold } from '../support/until-idle.ts';
import { answerFirst, goal } from './scenario.ts';
import type { Scenario } from './scenario.ts';

/** Runs whose user changes something while they work or ask. */
export const amendedScenarios: readonly Scenario[] = [
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
