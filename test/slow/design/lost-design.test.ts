import { designWorkflowId, riskWorkflowId, waveWorkflowId } from '../../../core/ids.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { faultsOf, scriptedCalls } from '../../support/calls.ts';
import { askForChange, stagesOf, untilAsked, untilEnded } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { callsOf, completed, newestText, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { untilTold } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';

/** Returns the stages that were asked for more than once; those of the user's changes are asked for again. */
function boughtTwice(): string[] {
  const stages = stagesOf(stage.rehearsal.calls()).filter((one) => !one.startsWith('design_'));
  expect(stages.length).toBeGreaterThan(7);
  return stages.filter((one, at) => stages.indexOf(one) !== at);
}

it('a design that was terminated goes on after its last stage, with the plan that was shown', async () => {
  const run = await stage.start('plannerRun', { goal, mode: 'designed' });
  const first = await untilAsked(stage, run, 'plan_approval');
  await askForChange(stage, run, first, 'Compare four ways');
  const changed = await untilAsked(stage, run, 'plan_approval');
  const asked = stage.rehearsal.calls().length;
  await stage.client.workflow.getHandle(designWorkflowId(run.workflowId)).terminate('test');
  const lost = await untilAsked(stage, run, 'planner_stuck');
  expect(lost.text).toContain('The design ended without a result');
  await run.signal('answer', { question_id: lost.question_id, answer: 'retry' });
  const again = await untilAsked(stage, run, 'plan_approval');
  expect(planIn(again.text)).toBe(planIn(changed.text));
  expect(planIn(again.text)).not.toBe(planIn(first.text));
  expect(stage.rehearsal.calls()).toHaveLength(asked);
  await run.signal('answer', { question_id: again.question_id, answer: 'approve' });
  await untilEnded(stage, run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId, { lostUsage: true });
});

it.each(['design', 'risk'] as const)(
  '%s, terminated while a proof of concept is recommended, repeats only this call',
  async (part) => {
    const silent = { stall: 'before-headers' } as const;
    const bodyIncludes = 'stage=\\"poc_recommendation\\"';
    stage.rehearsal.script([{ match: { bodyIncludes, nth: 1 }, reply: silent }]);
    const run = await stage.start('plannerRun', { goal, mode: 'designed' });
    const isSilent = async (): Promise<boolean> => scriptedCalls(stage).length === 1;
    await answeringUntil(run, isSilent);
    // The finished stages are known above.
    await untilTold(stage, run.workflowId);
    const designId = designWorkflowId(run.workflowId);
    const id = part === 'design' ? designId : riskWorkflowId(designId);
    await stage.client.workflow.getHandle(id).terminate('test');
    const lost = await untilAsked(stage, run, 'planner_stuck');
    await run.signal('answer', { question_id: lost.question_id, answer: 'retry' });
    const { question_id } = await untilAsked(stage, run, 'plan_approval');
    expect(boughtTwice()).toEqual(['poc_recommendation']);
    await run.signal('answer', { question_id, answer: 'approve' });
    await untilEnded(stage, run);
    const result = await stage.result(run);
    expect(result).toMatchObject({ status: 'completed' });
    expect(result.usage.unreported_calls).toBeGreaterThan(0);
    await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
  },
);

it('a question of a risk assessment that was terminated is withdrawn, and its answer reaches no other one', async () => {
  const bodyIncludes = 'stage=\\"poc_recommendation\\"';
  stage.rehearsal.script(
    [1, 2, 3].map((nth) => ({ match: { bodyIncludes, nth }, reply: { text: 'No proposal.' } })),
  );
  const run = await stage.start('plannerRun', { goal, mode: 'designed' });
  const stuck = await untilAsked(stage, run, 'planner_stuck');
  expect(stuck.text).toContain('could not give the poc recommendation');
  const risk = stage.client.workflow.getHandle(riskWorkflowId(designWorkflowId(run.workflowId)));
  await risk.terminate('test');
  const lost = await eventually('the question about the loss', async () =>
    (await stage.questions(run)).open.find(({ text }) => text.includes('ended without a result')),
  );
  expect((await stage.questions(run)).open).toEqual([lost]);
  await run.signal('answer', { question_id: stuck.question_id, answer: 'abandon' });
  await run.signal('answer', { question_id: lost.question_id, answer: 'retry' });
  const { question_id } = await untilAsked(stage, run, 'plan_approval');
  await run.signal('answer', { question_id, answer: 'approve' });
  await untilEnded(stage, run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
});

it('BA2: a risk assessment that was terminated while it waits for budget gets the top_up when it is made again', async () => {
  // Enough for the plan, and not for its risks.
  const run = await stage.start('plannerRun', { goal, mode: 'designed', budget: { calls: 10 } });
  await untilAsked(stage, run, 'budget');
  const risk = stage.client.workflow.getHandle(riskWorkflowId(designWorkflowId(run.workflowId)));
  await risk.terminate('test');
  const asked = stage.rehearsal.calls().length;
  const lost = await eventually('the question about the loss', async () =>
    (await stage.questions(run)).open.find(({ text }) => text.includes('ended without a result')),
  );
  await run.signal('answer', { question_id: lost.question_id, answer: 'retry' });
  const raised = await eventually('the question about the budget', async () => {
    const { open } = await stage.questions(run);
    return open.length === 1 && open.find(({ kind }) => kind === 'budget');
  });
  expect(stage.rehearsal.calls()).toHaveLength(asked);
  await run.signal('answer', { question_id: raised.question_id, answer: 'top_up' });
  const { question_id } = await untilAsked(stage, run, 'plan_approval');
  expect(boughtTwice()).toEqual([]);
  await run.signal('answer', { question_id, answer: 'approve' });
  const next = await untilAsked(stage, run, 'budget');
  await run.signal('answer', { question_id: next.question_id, answer: 'top_up' });
  await untilEnded(stage, run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
});

async function answeringUntil(
  run: Awaited<ReturnType<typeof stage.start>>,
  isThere: () => Promise<boolean>,
): Promise<void> {
  await eventually('the call that stays silent', async () => {
    const { open } = await stage.questions(run);
    for (const { question_id, default_answer } of open)
      await run.signal('answer', { question_id, answer: default_answer ?? 'As you see fit.' });
    return isThere();
  });
}

/** Returns the address that the question names the plan by. */
function planIn(text: string): string | undefined {
  return /[0-9a-f]{12,64}/.exec(text)?.[0];
}

const notes = (entry: object): Reply => ({
  tool_use: [{ name: 'completion_note', input: { notes: [entry] } }],
});

it('a task whose wave was terminated goes on with its notes, and an open one holds its output back', async () => {
  const rates = 'rates_1727539200';
  const note = {
    action: 'create',
    category: 'code_consistency',
    description: 'Like orders.',
    context: 'Table',
  };
  const settled = { action: 'resolve', note_id: 'note_001', text: 'See orders.sql.' };
  stage.rehearsal.script([
    works(rates, notes(note), 1),
    works(rates, { pass: true, delayMs: 600_000 }, 2),
    works(rates, { json: completed('rates-done') }, 3),
    works(rates, notes(settled), 4),
    works(rates, { json: completed('rates-done') }, 5),
  ]);
  const tasks = [planTask('rates'), planTask('page', { agent: 'api_agent' })];
  const plan = { ...samplePlan(), tasks, risks: [], new_agents: [] };
  const run = await stage.start('plannerRun', { goal: 'Ship', plan, auto_approve: true });
  await eventually('the stalled call', async () => callsOf(stage.rehearsal, rates).length === 2);
  await untilTold(stage, run.workflowId);
  await stage.client.workflow.getHandle(waveWorkflowId(run.workflowId, 1)).terminate('test');
  const lost = await untilAsked(stage, run, 'planner_stuck');
  await run.signal('answer', { question_id: lost.question_id, answer: 'retry' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const [, , again, repair] = callsOf(stage.rehearsal, rates);
  expect(newestText(again)).toContain('Like orders.');
  expect(faultsOf(repair)).toEqual([expect.stringContaining('note_001 is open')]);
  const { sessions = [] } = await storedRecord(stage.home, run.workflowId);
  const session = sessions.find(({ delegation_id }) => delegation_id === rates);
  expect(session).toMatchObject({ count: 1, unresolved: 0 });
  await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
});
