import { refusedInput } from '../../support/input-refusal.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  newestText,
  plan,
  planCalls,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const message = 'Compare three ways to store sensor data';

/** The faults are these and no others, in any order. */
function expectFaults(faults: readonly string[], expected: readonly RegExp[]): void {
  for (const fault of expected) expect(faults).toContainEqual(expect.stringMatching(fault));
  expect(faults).toHaveLength(expected.length);
}

it("fault 28: a planner's team goes back to it with all its faults, and is mended", async () => {
  const team = { members: [{ id: 'nobody' }, { id: 'writer' }, { id: 'writer' }], timeout: 0 };
  stage.rehearsal.script([
    plans(1, plan([{ ...work('a'), team }])),
    plans(2, plan([work('a')])),
    works('a', { json: completed('a-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal: message });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const [, repair] = planCalls(stage.rehearsal);
  const told = newestText(repair);
  expect(told).toContain('there is no agent \\"nobody\\"');
  expect(told).toContain('delegations[0].team.members[2].id');
  expect(told).toContain('delegations[0].team.timeout');
  await expectPromisesKept(stage, run.workflowId);
}, 60_000);

it('fault 28: an empty team, and one without an enabled member, are refused before any call', async () => {
  const run = await stage.start('team', {
    message,
    members: [],
    teams: [{ team_id: 'idle', members: [{ id: 'writer', enabled: false }] }],
  });
  expectFaults(await refusedInput(run), [
    /^members: the team has no members, so nobody could do a task\. Try: /,
    /^teams\[0\]\.members: every member is disabled/,
  ]);
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
}, 60_000);

it('fault 28: duplicate, unknown and unclear members are listed at once, with every other fault', async () => {
  const run = await stage.start('team', {
    message: '',
    members: [
      'writer',
      { id: 'writer', agent_id: 'reviewer' },
      'nobody',
      { id: 'ann', agent_id: null },
      { id: 'bob', agent_id: 'writer', team_id: 'desk' },
      { id: 'boss', agent_id: 'planner' },
    ],
    max_delegations: 0,
    member_timeout: -1,
    guardrails: { input: ['none_such'] },
  });
  expectFaults(await refusedInput(run), [
    /^message: expected a message/,
    /^members\[1\]\.id: "writer" is the id of members\[0\] already/,
    /^members\[2\]: there is no agent "nobody"\. Try: one of "analyst"/,
    /^members\[3\]\.agent_id: .*received null/,
    /^members\[4\]: a member is an agent, a triad or a team/,
    /^members\[4\]\.team_id: there is no team "desk"\. Try: one of "team"/,
    /^members\[5\]\.agent_id: the planner plans and decides/,
    /^max_delegations: expected a whole number from 1 to 50 \(tasks\), received 0\. Try: 10/,
    /^member_timeout: expected a number above 0/,
    /^guardrails\.input\[0\]: the worker has no guardrail "none_such"/,
  ]);
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
}, 60_000);

it('fault 29: teams that contain each other are refused before any call, shown A→B→A', async () => {
  const run = await stage.start('plannerRun', {
    goal: message,
    teams: [
      { team_id: 'desk', members: [{ id: 'below', team_id: 'news' }] },
      { team_id: 'news', members: [{ id: 'above', team_id: 'desk' }] },
    ],
  });
  expectFaults(await refusedInput(run), [
    /^teams\[1\]\.members\[0\]\.team_id: these teams contain each other: desk→news→desk\. Try: /,
  ]);
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
}, 60_000);
