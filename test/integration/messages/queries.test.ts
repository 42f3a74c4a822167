import type { WorkflowHandle } from '@temporalio/client';
import { openQuestion, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  completed,
  held,
  plan,
  question,
  work,
  works,
  ownWorkflows,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';

/**
 * Answers of all queries that a workflow has, by name. One after the other: of queries that come at once to a workflow
 * that has ended, the SDK may lose one when it drops the workflow from its cache.
 */
async function ask(run: WorkflowHandle, ...names: string[]): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const name of names) answers[name] = (await run.query<unknown>(name)) ?? null;
  return answers;
}

const ofRoots = ['status', 'questions', 'plan', 'pool', 'budget'];

it.each([
  ['wave', {}],
  ['children', ownWorkflows],
])(
  'a run answers every query before, during and after its work, and so do its %s',
  async (of, limits) => {
    const planned = held({ json: plan([work('host')]) });
    stage.rehearsal.script([
      { match: { schema: 'plan' }, reply: planned.reply },
      works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
      works('host', { json: completed('host-done') }),
    ]);
    const run = await stage.start('plannerRun', { goal, limits: { max_waves: 3, ...limits } });
    const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
    const host =
      of === 'wave' ? wave : stage.client.workflow.getHandle(`${run.workflowId}/wave-001/host`);
    const status = () => host.query('status', { delegation_id: 'host' });

    await stage.rehearsal.waitForCalls(1);
    expect(await ask(run, ...ofRoots, 'wave')).toMatchObject({
      status: { run_id: run.workflowId, goal, phase: 'working', wave: 1, waves_allowed: 3 },
      questions: { open: [], answered: [], rejected: [], rejected_total: 0 },
      plan: null,
      pool: { total: 0, facts: [] },
      budget: { usage: { calls: 0 }, limits: { max_waves: 3 } },
      wave: { done: [], current: null, wave_workflow_id: wave.workflowId },
    });
    expect(await ask(wave, 'wave')).toMatchObject({
      wave: { wave: 1, phase: 'planning', delegations: [] },
    });
    planned.release();

    await openQuestion(stage, run);
    expect(await ask(run, ...ofRoots, 'wave')).toMatchObject({
      status: { phase: 'waiting_for_user', wave: 1, wave_workflow_id: wave.workflowId },
      questions: { open: [{ question_id: 'q1', delegation_id: 'host', agent_id: 'researcher' }] },
      plan: { wave: 1, delegations: [{ delegation_id: 'host', depends_on: [] }] },
      pool: { total: 0 },
      budget: { usage: { calls: 0 } },
      wave: { done: [], current: { wave: 1 } },
    });
    const waiting = { delegation_id: 'host', agent_id: 'researcher', state: 'waiting' };
    expect(await ask(wave, 'wave')).toMatchObject({
      wave: {
        phase: 'dispatching',
        delegations: [
          { ...waiting, reason: 'answers to its questions', workflow_id: host.workflowId },
        ],
        // The plan, and the review of the question.
        usage: { calls: 2 },
      },
    });
    expect(await status()).toMatchObject({
      ...waiting,
      turn: 1,
      waiting_for: 'Which region?',
      usage: { calls: 1 },
    });
    await submit(run, { question_id: 'q1', answer: 'eu-west' });

    const result = await stage.result(run);
    expect(await ask(run, ...ofRoots, 'wave')).toMatchObject({
      status: { phase: 'completed', usage: result.usage, result_path: result.result_path },
      questions: { open: [], answered: [{ question_id: 'q1', answer: 'eu-west' }] },
      plan: { wave: 1 },
      pool: { total: 1, facts: [{ origin: 'user', source_refs: ['q1'] }] },
      budget: { usage: { calls: 5 } },
      wave: { done: [{ wave: 1, io_status: 'OK', completed: 1 }], wave_workflow_id: null },
    });
    expect(await ask(wave, 'wave')).toMatchObject({ wave: { phase: 'done', usage: result.usage } });
    expect(await status()).toMatchObject({ state: 'completed', turn: 2 });
    await expectPromisesKept(stage, run.workflowId);
  },
);

it.each([
  ['plannerWave', { goal, delegations: [work('task')] }, [...ofRoots, 'wave']],
  ['delegation', { agent_id: 'writer', task_description: goal }, ofRoots],
] as const)('a %s alone answers every query, too', async (type, input, names) => {
  const { reply, release } = held({ pass: true });
  stage.rehearsal.script([{ match: { schema: 'delegation' }, reply }]);
  const run = await stage.start(type, input);
  await stage.rehearsal.waitForCalls(1);
  expect(await ask(run, ...names)).toMatchObject({
    status: { run_id: run.workflowId, goal, phase: 'working', wave: 1 },
    questions: { open: [] },
    plan: { wave: 1, delegations: [{ delegation_id: 'task' }] },
    pool: { total: 0 },
    budget: { limits: { max_turns: 40 } },
    ...(type === 'plannerWave' && {
      wave: { phase: 'dispatching', delegations: [{ delegation_id: 'task', state: 'running' }] },
    }),
  });
  release();
  await run.result();
  expect(await ask(run, ...names)).toMatchObject({
    status: { phase: 'completed', result_path: `${run.workflowId}/result.md` },
    plan: { wave: 1 },
    ...(type === 'plannerWave' && { wave: { phase: 'done' } }),
  });
  await expectPromisesKept(stage, run.workflowId);
});
