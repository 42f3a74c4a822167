import { openQuestion, submit } from '../../support/asking.ts';
import { refusedInput } from '../../support/input-refusal.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  newestText,
  plan,
  planCalls,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';
const cycle = [work('a', { depends_on: ['b'] }), work('b', { depends_on: ['a'] })];

it('fault 29: a cycle in a plan goes back to the planner, shown A→B→A, and is mended', async () => {
  stage.rehearsal.script([
    plans(1, plan(cycle)),
    plans(2, plan([work('a'), work('b', { depends_on: ['a'] })])),
    works('a', { json: completed('a-done') }),
    works('b', { json: completed('b-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const [, repair] = planCalls(stage.rehearsal);
  expect(newestText(repair)).toContain('the dependencies form a cycle: a→b→a');
  expect(planCalls(stage.rehearsal)).toHaveLength(2);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 29: a cycle typed by hand is refused before any call, together with every other fault', async () => {
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [
      ...cycle,
      work('c', { agent_id: 'nobody', depends_on: ['c', 'gone'] }),
      work('c', { agent_id: 'planner', criteria: ['c-1', 'c-1'] }),
      work('d', { required_inputs: ['goal', 'map'], provided_inputs: ['chart'] }),
    ],
  });
  const faults = await refusedInput(run);
  const expected = [
    /^delegations\[0\]\.depends_on: the dependencies form a cycle: a→b→a\. Try: /,
    /^delegations\[2\]\.agent_id: there is no agent "nobody"\. Try: one of "analyst"/,
    /^delegations\[2\]\.depends_on\[0\]: "c" depends on itself/,
    /^delegations\[2\]\.depends_on\[1\]: there is no delegation "gone" in this plan/,
    /^delegations\[3\]\.agent_id: the planner plans and decides/,
    /^delegations\[3\]\.delegation_id: "c" is the delegation_id of delegations\[2\] already/,
    /^delegations\[3\]\.acceptance_criteria\[1\]\.criterion_id: "c-1" is listed twice/,
    /^delegations\[4\]\.provided_inputs\[0\]: "chart" does not exist yet/,
    /^delegations\[4\]\.required_inputs\[1\]: "map" is not known/,
  ];
  for (const fault of expected) expect(faults).toContainEqual(expect.stringMatching(fault));
  expect(faults).toHaveLength(expected.length);
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
});

it('a plan of the planner keeps the same rules, and all its faults come back at once', async () => {
  const asked = question('Which region?');
  const bad = {
    ...plan([
      work('a', { agent_id: 'nobody' }),
      work('b', { depends_on: ['gone'], required_inputs: ['map'] }),
      work('x', { produces: ['same'] }),
      work('y', { produces: ['same'] }),
    ]),
    user_questions: [asked],
  };
  stage.rehearsal.script([
    plans(1, bad),
    plans(2, plan([work('a', { criteria: ['goal-1'] })])),
    works('a', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal,
    criteria: ['Restored once.'],
    limits: { max_delegations: 3 },
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const faults = newestText(planCalls(stage.rehearsal)[1]);
  for (const part of [
    'the plan has 4 delegations, the limit is 3',
    'needs_user_input is false but there are 1 user_questions',
    'there is no agent \\"nobody\\"',
    'there is no delegation \\"gone\\" in this plan',
    '\\"map\\" is not known',
    '\\"same\\" is produced by \\"x\\" too',
    'no delegation takes up an open criterion. Open: \\"goal-1\\"',
  ]) {
    expect(faults).toContain(part);
  }
  await expectPromisesKept(stage, run.workflowId);
});

it.each([
  { triads: true, told: 'members[0] of a dialectic triad is its proposer, not its critic' },
  { triads: false, told: 'this run does without triads' },
])(
  'a run with triads $triads tells its planner so, and holds it to that',
  async ({ triads, told }) => {
    const members = (['critic', 'proposer', 'synthesizer'] as const).map((role) => ({
      name: role,
      role,
      agent_id: 'writer',
    }));
    const triad = { type: 'dialectic', reason: 'It is hard to undo.', members } as const;
    stage.rehearsal.script([
      plans(1, plan([work('a', { agent_id: 'writer', triad })])),
      plans(2, plan([work('a')])),
      works('a', { json: completed('a-done') }),
    ]);
    const run = await stage.start('plannerRun', { goal, triads });
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
    const [asked, repair] = planCalls(stage.rehearsal);
    expect(newestText(asked).includes('<triads>')).toBe(triads);
    expect(newestText(repair)).toContain(told);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('asks the user when the planner keeps breaking a rule; retry begins anew, abandon ends', async () => {
  stage.rehearsal.script([{ match: { schema: 'plan' }, reply: { json: plan(cycle) } }]);
  const run = await stage.start('plannerRun', { goal });
  const stuck = await openQuestion(stage, run);
  expect(stuck).toMatchObject({ kind: 'planner_stuck', choices: ['retry', 'abandon'] });
  expect(stuck.text).toContain('No valid output in 3 attempts');
  expect(stuck.text).toContain('a→b→a');
  expect(planCalls(stage.rehearsal)).toHaveLength(3);
  await submit(run, { question_id: stuck.question_id, answer: 'retry' });
  const again = await openQuestion(stage, run, 'q2');
  expect(planCalls(stage.rehearsal)).toHaveLength(6);
  await submit(run, { question_id: again.question_id, answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned', criteria: [] });
  await expectPromisesKept(stage, run.workflowId);
});

it('a planner that asks gets its answers and plans in the same conversation', async () => {
  stage.rehearsal.script([
    plans(1, plan([], [question('Which region?'), question('Who pays?')])),
    plans(2, plan([work('host')])),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  const asked = await openQuestion(stage, run, 'q2');
  expect(asked).toMatchObject({ kind: 'planner', delegation_id: null, agent_id: 'planner' });
  await submit(run, { question_id: 'q2', answer: 'The client' });
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const text = newestText(planCalls(stage.rehearsal)[1]);
  expect(text.indexOf('eu-west')).toBeGreaterThan(-1);
  expect(text.indexOf('The client')).toBeGreaterThan(text.indexOf('eu-west'));
  await expectPromisesKept(stage, run.workflowId);
});
