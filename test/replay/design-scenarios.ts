import type { WorkflowHandle } from '@temporalio/client';
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import type { DelegationStatusView } from '../../contracts/views.ts';
import { delegationWorkflowId, waveWorkflowId } from '../../core/ids.ts';
import type { Reply } from '../../rehearsal/script.ts';
import { openQuestion } from '../support/asking.ts';
import { eventually } from '../support/eventually.ts';
import { architectAgent, planTask, samplePlan } from '../support/plans.ts';
import { askForChange, untilAsked, untilEnded } from '../support/design-play.ts';
import {
  blocked,
  callsOf,
  held,
  ownWorkflows,
  plan as writtenPlan,
  question,
  unmet,
  works,
} from '../support/scripted-work.ts';
import type { Stage } from '../support/stage.ts';
import { goal } from './scenario.ts';
import type { Scenario } from './scenario.ts';

/** A plan with these tasks alone. */
const planOf = (...tasks: PlanTask[]): CoordinationPlan => ({
  ...samplePlan(),
  tasks,
  agents: samplePlan().agents.filter(({ agent_name }) => agent_name !== 'api_agent'),
  risks: [],
});

const asks = (text: string): Reply => ({ json: blocked([question(text)], 'rates-done') });

/** Answers questions as they come. @param answers By question_id. */
async function answerInOrder(
  stage: Stage,
  run: WorkflowHandle,
  answers: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [id, answer] of Object.entries(answers)) {
    // One after the other.
    // oxlint-disable-next-line no-await-in-loop
    const { question_id } = await openQuestion(stage, run, id);
    // oxlint-disable-next-line no-await-in-loop
    await run.signal('answer', { question_id, answer });
  }
}

/** A run that is designed first, as the rehearsal model plays it. */
export const designScenarios: readonly Scenario[] = [
  {
    name: 'designed',
    keep: {
      '': { last: 'plannerRun-designed' },
      '/design': { last: 'architectureDesign-designed' },
      '/design/risk': { last: 'riskAssessment-designed' },
    },
    async play(stage, runId) {
      const input = { goal, mode: 'designed', auto_approve: true, use_defaults: true };
      const run = await stage.start('plannerRun', input, runId);
      await run.result();
    },
  },
  {
    // Specialists that end together report one after the other.
    name: 'in-order',
    keep: { '/design': { last: 'architectureDesign-in-order' } },
    async play(stage, runId) {
      const run = await stage.start('plannerRun', { goal, mode: 'designed' }, runId);
      await untilEnded(stage, run);
    },
  },
  {
    // A task asks the same three times: the third one is refused, and the plan is adapted. Its next attempt is answered,
    // before the wave of another task begins.
    name: 'refused',
    keep: {
      '': { last: 'plannerRun-refused' },
      '/wave-001': { last: 'plannerWave-refused' },
      '/wave-002': { last: 'plannerWave-verified' },
    },
    async play(stage, runId) {
      const rates = planTask('rates');
      const again = asks('Which countries are shipped to?');
      stage.rehearsal.script([
        ...[1, 2, 3].map((nth) => works(rates.task_id, again, nth)),
        works(rates.task_id, { json: unmet('failed', 'No list of countries.', 'rates-done') }, 4),
        works(planTask('rates-2').task_id, asks('Which sizes are sold?'), 1),
      ]);
      const plan = planOf(rates, planTask('page'));
      const limits = { max_delegations: 1 };
      const run = await stage.start('plannerRun', { goal, plan, limits }, runId);
      await untilEnded(stage, run);
    },
  },
  {
    // The planner asks the same on and on, and the user gives the run up.
    name: 'refused-planning',
    keep: { '/wave-001': { last: 'plannerWave-refused-planning' } },
    async play(stage, runId) {
      const json = writtenPlan([], [question('Which region?')]);
      stage.rehearsal.script([{ match: { schema: 'plan' }, reply: { json } }]);
      const run = await stage.start('plannerRun', { goal }, runId);
      await answerInOrder(stage, run, { q1: 'West.', q2: 'West.', q3: 'abandon' });
      await run.result();
    },
  },
  {
    // A task that is done again after a changed answer is given up by its agent, and guided by the user.
    name: 'given-up',
    keep: { '/wave-002': { last: 'plannerWave-given-up' } },
    async play(stage, runId) {
      const rates = planTask('rates');
      const decides = held({ pass: true });
      stage.rehearsal.script([
        works(rates.task_id, asks('Which countries?'), 1),
        { match: { schema: 'decision', nth: 1 }, reply: decides.reply },
        works(
          planTask('rates-2').task_id,
          { json: unmet('failed', 'The source is gone.', 'rates-done') },
          1,
        ),
      ]);
      const input = { goal, plan: planOf(rates), auto_approve: true };
      const run = await stage.start('plannerRun', input, runId);
      const { question_id } = await openQuestion(stage, run);
      await run.signal('answer', { question_id, answer: 'France' });
      await eventually('the decision', async () =>
        stage.rehearsal.calls().some(({ shape }) => shape === 'decision'),
      );
      const answers = [{ question_id, answer: 'All of Europe' }];
      await run.signal('amend', { instruction: 'It is for Europe.', answers });
      await eventually('the new answer', async () =>
        (await stage.questions(run)).answered.some((one) => one.answer === 'All of Europe'),
      );
      decides.release();
      await answerInOrder(stage, run, { q2: 'guide', q3: 'Ask the archive.' });
      await run.result();
    },
  },
  {
    // A plan is approved alone, after a change.
    name: 'approval',
    keep: { '': { last: 'architectureDesign-approval' } },
    async play(stage, runId) {
      const run = await stage.start(
        'architectureDesign',
        { plan: samplePlan(), stage: 'approval' },
        runId,
      );
      const shown = await untilAsked(stage, run, 'plan_approval');
      await askForChange(stage, run, shown, 'Shorten the instructions.');
      const { question_id } = await untilAsked(stage, run, 'plan_approval');
      await run.signal('answer', { question_id, answer: 'approve' });
      await run.result();
    },
  },
  {
    // A triad judges an output that fails once.
    name: 'judged',
    keep: { '/wave-001': { last: 'plannerWave-judged' } },
    async play(stage, runId) {
      const plan = planOf(planTask('rates', { instructions: 'List the rates. [failing]' }));
      const members = ['ann', 'bob', 'cid'].map((name) => ({
        name,
        role: 'peer' as const,
        agent_id: 'reviewer',
      }));
      const triad = { type: 'consensus' as const, reason: 'Three see more.', members };
      const agents = plan.agents.map((one) => (one.role === 'verifier' ? { ...one, triad } : one));
      const run = await stage.start('plannerRun', { goal, plan: { ...plan, agents } }, runId);
      await untilEnded(stage, run);
    },
  },
  {
    // A task asks what the solution architect decides, and another one crashes once.
    name: 'decided',
    keep: {
      '': { last: 'plannerRun-decided' },
      '/wave-001': { last: 'plannerWave-decided' },
    },
    async play(stage, runId) {
      const [rates, page] = [planTask('rates'), planTask('page', { agent: 'api_agent' })];
      stage.rehearsal.script([
        works(rates.task_id, { json: blocked([question('Which database?')], 'rates-done') }, 1),
        works(page.task_id, { pass: true, delayMs: 600_000 }, 1),
      ]);
      const plan = {
        ...samplePlan(),
        tasks: [rates, page],
        agents: [...samplePlan().agents, architectAgent],
        risks: [],
      };
      const limits = ownWorkflows;
      const run = await stage.start(
        'plannerRun',
        { goal, plan, auto_approve: true, limits },
        runId,
      );
      await eventually(
        'the call that never ends',
        async () => callsOf(stage.rehearsal, page.task_id).length > 0 || undefined,
      );
      const id = delegationWorkflowId(waveWorkflowId(runId, 1), page.task_id);
      await stage.client.workflow.getHandle(id).terminate('a crash');
      await run.result();
    },
  },
  {
    // An answer changes once its task is done; the task is done again, and crashes.
    name: 'redo-crashed',
    keep: { '': { last: 'plannerRun-redo-crashed' } },
    async play(stage, runId) {
      const [rates, redo] = [planTask('rates').task_id, 'rates-2_1727539200'];
      const decides = held({ pass: true });
      stage.rehearsal.script([
        works(rates, asks('Which countries?'), 1),
        { match: { schema: 'decision', nth: 1 }, reply: decides.reply },
        ...[1, 2, 3].map((nth) => works(redo, { pass: true, delayMs: 600_000 }, nth)),
      ]);
      const input = { goal, plan: planOf(planTask('rates')), auto_approve: true };
      const run = await stage.start('plannerRun', { ...input, limits: ownWorkflows }, runId);
      const { question_id } = await untilAsked(stage, run, 'blocking');
      await run.signal('answer', { question_id, answer: 'France' });
      await eventually('the decision', async () =>
        stage.rehearsal.calls().some(({ shape }) => shape === 'decision'),
      );
      const answers = [{ question_id, answer: 'All of Europe' }];
      await run.signal('amend', { instruction: 'It is for Europe.', answers });
      await eventually('the new answer', async () =>
        (await stage.questions(run)).answered.some(({ answer }) => answer === 'All of Europe'),
      );
      decides.release();
      const id = delegationWorkflowId(waveWorkflowId(runId, 2), redo);
      for (const attempt of [1, 2, 3]) {
        // oxlint-disable-next-line no-await-in-loop
        await eventually(
          `the call of attempt ${attempt}`,
          async () => callsOf(stage.rehearsal, redo).length === attempt,
        );
        // oxlint-disable-next-line no-await-in-loop
        await stage.client.workflow.getHandle(id).terminate('a crash');
      }
      const crashed = await untilAsked(stage, run, 'planner_stuck');
      await run.signal('answer', { question_id: crashed.question_id, answer: 'retry' });
      await run.result();
    },
  },
  {
    // A task leaves its wave, the run is paused, and the workflow of the task crashes.
    name: 'moved',
    keep: {
      '': { last: 'plannerRun-moved' },
      '/wave-001': { last: 'plannerWave-moved' },
    },
    async play(stage, runId) {
      const rates = planTask('rates');
      // There is no such detail: a turn that changes nothing.
      const looks = { tool_use: [{ name: 'load_detail', input: { detail_id: 'page' } }] };
      stage.rehearsal.script([
        ...Array.from({ length: 6 }, (_one, at) => works(rates.task_id, looks, at + 1)),
        works(rates.task_id, { pass: true, delayMs: 600_000 }, 7),
      ]);
      const plan = planOf(rates);
      const limits = { inline_events: 40 };
      const run = await stage.start(
        'plannerRun',
        { goal, plan, auto_approve: true, limits },
        runId,
      );
      await eventually(
        'the call that never ends',
        async () => callsOf(stage.rehearsal, rates.task_id).length === 7,
      );
      await run.signal('pause', {});
      await eventually('the pause', async () => (await stage.status(run)).phase === 'paused');
      await run.signal('resume', {});
      const id = delegationWorkflowId(waveWorkflowId(runId, 1), rates.task_id);
      await stage.client.workflow.getHandle(id).terminate('a crash');
      await run.result();
    },
  },
  {
    // The change after a failed proof of concept removes another one that failed.
    name: 'moot',
    keep: { '': { last: 'plannerRun-moot' } },
    async play(stage, runId) {
      const [index, cache] = ['index', 'cache'].map((name) =>
        planTask(name, {
          proof_of_concept: {
            risk_id: name,
            success_criteria: ['200 ms.'],
            failure_criteria: ['More than 1 s.'],
          },
        }),
      );
      if (index === undefined || cache === undefined) return;
      const requirements = ['Drop the cache.'];
      const adapt = { decision: 'adapt', rationale: 'Too slow.', requirements };
      const heading = { heading: 'Change', text: 'Take a smaller index.' };
      const operations = [
        { operation: 'remove_task', task_id: cache.task_id },
        { operation: 'append_instructions', task_id: index.task_id, ...heading },
      ];
      const json = { explanation: 'No cache any more.', operations };
      stage.rehearsal.script([
        works(index.task_id, { json: unmet('failed', 'Too slow.', 'index-done') }),
        works(cache.task_id, { json: unmet('failed', 'Too slow.', 'cache-done') }),
        { match: { bodyIncludes: 'stage=\\"poc_decision' }, reply: { json: adapt } },
        { match: { bodyIncludes: 'stage=\\"adaptation' }, reply: { json } },
      ]);
      const rates = planTask('rates', { depends_on: [index.task_id, cache.task_id] });
      const risks = [index, cache].flatMap(({ proof_of_concept: proof }) =>
        samplePlan().risks.map((risk) => ({ ...risk, risk_id: proof?.risk_id ?? '' })),
      );
      const plan = { ...planOf(index, cache, rates), risks };
      const run = await stage.start('plannerRun', { goal, plan, auto_approve: true }, runId);
      await untilEnded(stage, run);
    },
  },
  {
    // A task crashes while the user is asked about its failed verifications.
    name: 'unverified',
    keep: { '/wave-001': { last: 'plannerWave-unverified' } },
    async play(stage, runId) {
      const rates = planTask('rates');
      const json = { verdict: 'fail', missing_evidence: ['The rates.'], reviewed_notes: [] };
      stage.rehearsal.script(
        [1, 2, 3, 4, 5].map((nth) => ({
          match: { schema: 'verification', nth },
          reply: { json },
        })),
      );
      const input = { goal, plan: planOf(rates), auto_approve: true, limits: ownWorkflows };
      const run = await stage.start('plannerRun', input, runId);
      const { question_id } = await untilAsked(stage, run, 'verification');
      const id = delegationWorkflowId(waveWorkflowId(runId, 1), rates.task_id);
      const task = stage.client.workflow.getHandle(id);
      const crashed = (await task.describe()).runId;
      await task.terminate('a crash');
      await eventually('the next attempt at the question', async () => {
        if ((await task.describe()).runId === crashed) return false;
        const view = await task.query<DelegationStatusView | null>('status').catch(() => null);
        return view?.waiting_for.startsWith('The output of');
      });
      await run.signal('answer', { question_id, answer: 'modify' });
      await untilEnded(stage, run);
    },
  },
];
