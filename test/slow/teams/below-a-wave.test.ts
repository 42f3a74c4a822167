import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { DelegationStatusView } from '../../../contracts/views.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { readTeam } from '../../support/play-team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  leaderCalls,
  leads,
  members,
  taskCalls,
  taskCriterion,
  teamWork,
} from '../../support/scripted-team.ts';
import { completed, held, newestText, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare two ways to store sensor data';
const well = { ...completed(taskCriterion), compact_md: 'The answer is forty-two.' };
const done = { output: completed('guide-done') };
const two = { members: members('researcher', 'writer'), allow_parallel: true };
const given = [gives('researcher'), gives('writer')];
const silent = { stall: 'in-stream', json: { ...well, compact_md: 'Half of it' } } as const;

it('leader and members are given what came before, and cost what their calls cost', async () => {
  const before = {
    ...completed('facts-done'),
    detailed_md: '# Facts\n\n## facts-done\n\nWater boils at ninety-one degrees.',
  };
  stage.rehearsal.script([
    works('facts', { json: before }),
    ...leads(
      [
        [
          gives('researcher', 'Check it.', { inputs: ['facts'] }),
          gives('writer', 'Write it down.', { inputs: ['d1'] }),
        ],
        done,
      ],
      'guide',
    ),
    does({ task: 'd1', team: 'guide' }, { json: well }),
  ]);
  const input = { required_inputs: ['facts'], provided_inputs: [], depends_on: ['facts'] };
  const delegations = [work('facts'), teamWork('guide', two, input)];
  const run = await stage.start('plannerWave', { goal, delegations });
  const { outcomes, usage }: WaveResult = await run.result();
  expect(outcomes).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  const [lead] = leaderCalls(stage.rehearsal, 'guide');
  const [checks] = taskCalls(stage.rehearsal, { team: 'guide', task: 'd1' });
  const [writes] = taskCalls(stage.rehearsal, { team: 'guide', task: 'd2' });
  expect(newestText(lead)).toContain(before.detailed_md);
  expect(newestText(checks)).toContain(before.detailed_md);
  expect(newestText(writes)).toContain(well.detailed_md.trimEnd());
  expect(newestText(writes)).not.toContain(before.detailed_md);
  expect(usage.calls).toBe(stage.rehearsal.calls().length);
  await expectPromisesKept(stage, run.workflowId);
});

it('one budget for leader and members: never a call too many, a question at the limit, while no time passes, and it goes on where it stood', async () => {
  stage.rehearsal.script([
    ...leads([[gives('researcher'), gives('writer'), gives('analyst')], done], 'guide'),
    does({ team: 'guide' }, { json: well }),
  ]);
  // Seconds, several times what the work takes until it asks, also on a busy machine.
  const timeout = 15;
  const team = { ...two, timeout, members: members('researcher', 'writer', 'analyst') };
  const budget = { delegation: { calls: 3 } };
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [teamWork('guide', team)],
    budget,
  });
  const asked = await openQuestion(stage, run);
  expect(asked).toMatchObject({ kind: 'budget', delegation_id: 'guide' });
  // The leader's, and two of three members'.
  expect(stage.rehearsal.calls()).toHaveLength(3);
  // Longer than the team may work: what the rule says of it can be seen in no other way.
  await new Promise((resolve) => setTimeout(resolve, timeout * 1_000 + 500));
  await submit(run, { question_id: asked.question_id, answer: 'top_up' });
  const { outcomes }: WaveResult = await run.result();
  expect(outcomes).toMatchObject([
    {
      status: 'completed',
      turns: 5,
      executor: { work: { partial: false, tasks: { completed: 3 } } },
    },
  ]);
  await expectPromisesKept(stage, run.workflowId);
});

it('a budget that is not raised: what members brought is handed on, and nobody is called any more', async () => {
  stage.rehearsal.script([...leads([given], 'guide'), does({ team: 'guide' }, { json: well })]);
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [teamWork('guide', two)],
    budget: { delegation: { calls: 3 } },
  });
  const asked = await openQuestion(stage, run);
  await submit(run, { question_id: asked.question_id, answer: 'finish' });
  const { outcomes }: WaveResult = await run.result();
  expect(outcomes).toMatchObject([
    { status: 'failed', turns: 3, executor: { work: { partial: true } } },
  ]);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('There is no outcome.');
  const { output } = await readTeam(stage, run.workflowId, outcome);
  expect(output).toContain(well.compact_md);
  await expectPromisesKept(stage, run.workflowId);
});

it('pauses and resumes in the middle, and starts nothing meanwhile', async () => {
  const call = held({ json: well });
  stage.rehearsal.script([
    ...leads([given, done], 'guide'),
    does({ team: 'guide', task: 'd1' }, call.reply),
    does({ team: 'guide' }, { json: well }),
  ]);
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [teamWork('guide', { ...two, allow_parallel: false })],
  });
  await stage.rehearsal.waitForCalls(2);
  await run.signal('pause', { reason: 'a look first' });
  await eventually('the pause', async () => (await stage.status(run)).phase === 'paused');
  call.release();
  await stage.rehearsal.waitForCalls(2, 'ended');
  await eventually('the first task', async () => {
    const guide = { delegation_id: 'guide' };
    const { executor } = await run.query<DelegationStatusView, [object]>('status', guide);
    return executor.kind === 'team' && executor.view?.tasks[0]?.state === 'completed';
  });
  expect(stage.rehearsal.calls()).toHaveLength(2);
  await run.signal('resume', {});
  const { outcomes }: WaveResult = await run.result();
  expect(outcomes).toMatchObject([{ status: 'completed', turns: 4 }]);
  await expectPromisesKept(stage, run.workflowId);
});

it('stop in the middle closes the sockets, begins nothing, and hands on what members brought', async () => {
  stage.rehearsal.script([
    ...leads([[...given, gives('analyst'), gives('reviewer')], done], 'guide'),
    does({ team: 'guide', task: 'd1' }, { json: well }),
    does({ team: 'guide' }, silent),
  ]);
  const team = {
    ...two,
    max_parallel: 2,
    members: members('researcher', 'writer', 'analyst', 'reviewer'),
  };
  const run = await stage.start('plannerWave', { goal, delegations: [teamWork('guide', team)] });
  await eventually('two silent calls', async () => {
    const calls = taskCalls(stage.rehearsal, { team: 'guide' });
    return calls.filter((one) => one.replyStatus === 200).length === 3;
  });
  await run.signal('stop', { reason: 'enough' });
  const { status, outcomes }: WaveResult = await run.result();
  expect(status).toBe('stopped');
  expect(outcomes).toMatchObject([
    {
      status: 'stopped',
      turns: 4,
      usage: { calls: 4 },
      executor: { work: { partial: true, tasks: { completed: 1, stopped: 2, skipped: 1 } } },
    },
  ]);
  const calls = taskCalls(stage.rehearsal, { team: 'guide' });
  expect(calls.map(({ outcome }) => String(outcome)).toSorted()).toEqual([
    'answered',
    'client-closed',
    'client-closed',
  ]);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('There is no outcome.');
  const { output, page } = await readTeam(stage, run.workflowId, outcome);
  for (const text of [output, page]) {
    expect(text).toContain(well.compact_md);
    expect(text).toContain('Half of it');
  }
  await expectPromisesKept(stage, run.workflowId);
});
