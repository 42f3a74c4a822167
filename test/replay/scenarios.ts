import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WaveView } from '../../contracts/views.ts';
import type { ScriptRule } from '../../rehearsal/script.ts';
import { untilEnded } from '../support/design-play.ts';
import { eventually } from '../support/eventually.ts';
import {
  blocked,
  completed,
  decision,
  held,
  ownWorkflows,
  plan,
  plans,
  question,
  work,
  works,
} from '../support/scripted-work.ts';
import type { Stage } from '../support/stage.ts';
import { answerFirst, goal } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { amendedScenarios } from './amended-scenarios.ts';
import { designScenarios } from './design-scenarios.ts';
import { evaluationScenarios } from './evaluation-scenarios.ts';
import { teamScenarios } from './team-scenarios.ts';

/** Loads the detail of `gather` so often, one call after the other, and completes then. */
function loadsDetail(id: string, times: number): ScriptRule[] {
  return [
    ...Array.from({ length: times }, (_one, index) =>
      works(id, { tool_use: [{ name: 'load_detail', input: { detail_id: 'gather' } }] }, index + 1),
    ),
    works(id, { json: completed(`${id}-done`) }),
  ];
}

async function stopInTheMiddle(stage: Stage, runId: string, limits: object): Promise<void> {
  stage.rehearsal.script([works('compare-options', { pass: true, delayMs: 600_000 })]);
  const run = await stage.start('plannerRun', { goal, limits }, runId);
  await stage.rehearsal.waitForCalls(3);
  await run.signal('stop', { reason: 'another goal came up' });
  await run.result();
}

export const scenarios: readonly Scenario[] = [
  ...evaluationScenarios,
  {
    name: 'one-question',
    keep: {
      '': { last: 'plannerRun-one-question' },
      '/wave-001': { last: 'plannerWave-one-question' },
    },
    async play(stage, runId) {
      const run = await stage.start('plannerRun', { goal }, runId);
      await answerFirst(stage, run);
      await run.result();
    },
  },
  {
    name: 'told',
    isTold: true,
    keep: { '': { last: 'plannerRun-told' }, '/msg_*': { last: 'notification-told' } },
    async play(stage, runId) {
      const run = await stage.start('plannerRun', { goal }, runId);
      await answerFirst(stage, run);
      await run.result();
      const query = `PlanwaveRun = "${runId}" AND WorkflowType = "notification" AND ExecutionStatus = "Completed"`;
      await eventually('both messages', async () => {
        const { count } = await stage.client.workflow.count(query);
        return count === 2;
      });
    },
  },
  {
    // Its agents keep notes, so sessions of earlier runs are archived first.
    name: 'notes',
    keep: { '': { last: 'plannerRun-notes' }, '/archival': { last: 'archival-first' } },
    async play(stage, runId) {
      const run = await stage.start('plannerRun', { goal, notes: true, use_defaults: true }, runId);
      await run.result();
    },
  },
  {
    name: 'own-workflows',
    keep: {
      '/wave-001': { last: 'plannerWave-children' },
      '/wave-001/gather-facts': { last: 'delegation-question' },
      '/wave-001/compare-options': { last: 'delegation-repair' },
      '/wave-001/write-result': { last: 'delegation-tools' },
    },
    async play(stage, runId) {
      const run = await stage.start('plannerRun', { goal, limits: ownWorkflows }, runId);
      await answerFirst(stage, run);
      await run.result();
    },
  },
  {
    // A delegation begins in its wave, and leaves when the wave's history is full.
    name: 'leaves',
    keep: {
      '/wave-001': { last: 'plannerWave-full' },
      '/wave-001/load': { last: 'delegation-left' },
    },
    async play(stage, runId) {
      const load = work('load', { depends_on: ['gather'] });
      stage.rehearsal.script([
        plans(1, plan([work('gather'), load])),
        works('gather', { json: completed('gather-done') }),
        ...loadsDetail('load', 8),
        { match: { schema: 'decision' }, reply: { json: decision() } },
      ]);
      const input = { goal, budget: { calls: 60 }, limits: { inline_events: 60 } };
      const run = await stage.start('plannerRun', input, runId);
      await run.result();
    },
  },
  {
    name: 'messages',
    keep: { '': { last: 'plannerRun-messages' }, '/wave-001': { last: 'plannerWave-messages' } },
    async play(stage, runId) {
      const call = held({ pass: true });
      stage.rehearsal.script([{ match: { schema: 'plan', nth: 1 }, reply: call.reply }]);
      const run = await stage.start('plannerRun', { goal, criteria: ['It is short.'] }, runId);
      await stage.rehearsal.waitForCalls(1);
      await run.signal('pause', { reason: 'a look at the plan first' });
      await run.signal('amend', { instruction: 'Keep it short.' });
      await run.signal('no-such-signal', {});
      await run.signal('answer', 'no answer at all');
      call.release();
      await run.signal('resume', {});
      const asked = await eventually(
        'a question',
        async () => (await stage.questions(run)).open[0],
      );
      const { question_id } = asked;
      await expectRefused(
        run.executeUpdate('submitAnswer', { args: [{ question_id, answer: 7 }] }),
      );
      const answer = asked.choices[1];
      await run.executeUpdate('submitAnswer', { args: [{ question_id, answer }] });
      await run.result();
    },
  },
  {
    name: 'stopped',
    keep: {
      '': { last: 'plannerRun-stopped' },
      '/wave-001': { last: 'plannerWave-stopped' },
    },
    play: (stage, runId) => stopInTheMiddle(stage, runId, {}),
  },
  {
    name: 'stopped-children',
    keep: { '/wave-001/compare-options': { last: 'delegation-stopped' } },
    play: (stage, runId) => stopInTheMiddle(stage, runId, ownWorkflows),
  },
  {
    name: 'continued',
    isContinued: true,
    keep: {
      '': { first: 'plannerRun-continues', last: 'plannerRun-continued' },
      '/wave-001/load': { first: 'delegation-continues', last: 'delegation-continued' },
    },
    async play(stage, runId) {
      const load = work('load', { depends_on: ['gather'], required_inputs: ['gather'] });
      const wave = plan([work('gather'), load]);
      stage.rehearsal.script([
        plans(1, wave),
        plans(2, plan([work('again', { criteria: ['load-done'] })])),
        {
          match: { schema: 'decision', nth: 1 },
          reply: {
            json: {
              ...decision('load-done'),
              criteria_reopened: [{ criterion_id: 'load-done', reason: 'No number is named.' }],
            },
          },
        },
        works('gather', { json: blocked([question('Which region?')], 'gather-done') }, 1),
        works('gather', { json: completed('gather-done') }),
        ...loadsDetail('load', 8),
        works('again', { json: completed('load-done') }),
      ]);
      const run = await stage.start('plannerRun', { goal, limits: ownWorkflows }, runId);
      await answerFirst(stage, run);
      await run.result();
    },
  },
  {
    name: 'wave-alone',
    keep: { '': { last: 'plannerWave-alone' } },
    async play(stage, runId) {
      const run = await stage.start('plannerWave', { goal }, runId);
      await answerFirst(stage, run);
      await run.result();
    },
  },
  {
    // A task asks the same on and on: the third refusal ends it.
    name: 'asked-on',
    keep: { '': { last: 'plannerWave-asked-on' } },
    async play(stage, runId) {
      const again = { json: blocked([question('Which region?')], 'host-done') };
      stage.rehearsal.script([
        plans(1, plan([work('host')])),
        ...[1, 2, 3, 4, 5].map((nth) => works('host', again, nth)),
      ]);
      const run = await stage.start('plannerWave', { goal }, runId);
      await untilEnded(stage, run);
    },
  },
  {
    // Two delegations ask during a review, and the one that asks later holds up more.
    name: 'order',
    keep: { '': { last: 'plannerWave-order' } },
    async play(stage, runId) {
      const ids = ['first', 'small', 'base'] as const;
      const ends = held({ json: { reviews: [settled] } });
      const asks = ids.map((id) =>
        held({ json: blocked([question(`What does ${id} need?`)], `${id}-done`) }),
      );
      stage.rehearsal.script([
        plans(1, plan([...ids.map((id) => work(id)), work('report', { depends_on: ['base'] })])),
        { match: { schema: 'review' }, reply: ends.reply },
        ...ids.flatMap((id, at) => works(id, asks[at]?.reply ?? { pass: true }, 1)),
        ...[...ids, 'report'].map((id) => works(id, { json: completed(`${id}-done`) })),
        { match: { schema: 'decision' }, reply: { json: decision() } },
      ]);
      const run = await stage.start('plannerWave', { goal }, runId);
      for (const [at, id] of ids.entries()) {
        asks[at]?.release();
        // oxlint-disable-next-line no-await-in-loop
        await eventually(`${id} to wait`, async () => {
          const { delegations } = await run.query<WaveView>('wave');
          return delegations.some((one) => one.delegation_id === id && one.state === 'waiting');
        });
      }
      ends.release();
      await run.result();
    },
  },
  {
    name: 'delegation-alone',
    keep: { '': { last: 'delegation-alone' } },
    async play(stage, runId) {
      const task_description = 'Ask the user who the result is for.';
      const run = await stage.start(
        'delegation',
        { agent_id: 'researcher', task_description },
        runId,
      );
      await answerFirst(stage, run);
      await run.result();
    },
  },
  {
    name: 'budget',
    keep: {
      '': { last: 'plannerRun-budget' },
      '/wave-001': { last: 'plannerWave-budget' },
      '/wave-001/twice': { last: 'delegation-budget' },
    },
    async play(stage, runId) {
      stage.rehearsal.script([
        plans(1, plan([work('twice'), work('once')])),
        works('twice', { json: {} }, 1),
        works('twice', { json: completed('twice-done') }),
        works('once', { json: completed('once-done') }),
        { match: { schema: 'decision' }, reply: { json: decision() } },
      ]);
      const budget = { calls: 3, delegation: { minutes: 10 } };
      const run = await stage.start('plannerRun', { goal, budget, limits: ownWorkflows }, runId);
      await answerFirst(stage, run);
      await run.result();
    },
  },
  {
    name: 'effect',
    keep: { '/wave-001/page': { last: 'delegation-effect' } },
    async play(stage, runId) {
      const agents_dir = join(stage.home, 'agents');
      mkdirSync(agents_dir);
      writeFileSync(join(agents_dir, 'risky.md'), riskyAgent);
      const input = { path: 'page.md', content: 'The page.' };
      stage.rehearsal.script([
        plans(1, plan([work('page', { agent_id: 'risky' })])),
        works('page', { tool_use: [{ name: 'write_file', input }] }, 1),
        works('page', { json: { ...completed('page-done'), effects_claimed: ['page.md'] } }),
        { match: { schema: 'decision' }, reply: { json: decision() } },
      ]);
      const run = await stage.start(
        'plannerRun',
        { goal, agents_dir, limits: ownWorkflows },
        runId,
      );
      await answerFirst(stage, run);
      await run.result();
    },
  },
  ...amendedScenarios,
  ...designScenarios,
  ...teamScenarios,
];

const settled = {
  question: 1,
  verdict: 'answered',
  answer: 'Nothing',
  source_refs: ['goal'],
  reason: 'The goal says so.',
} as const;

const riskyAgent =
  '---\nname: risky\ndescription: Writes files.\ntools: write_file\nrisk_level: high\n---\n\nYou write files.\n';

async function expectRefused(update: Promise<unknown>): Promise<void> {
  const taken = await update.then(
    () => true,
    () => false,
  );
  if (taken) throw new Error('A bad answer was taken.');
}
