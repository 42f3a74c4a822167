import { readJson } from '../../../activities/stages/read-json.ts';
import { composeLoneDelegation, composePlan } from '../../../activities/run-record/compose-plan.ts';
import { writeDelegation } from '../../../core/executor.ts';
import { design } from './team-samples.ts';
import { offerTriad } from './triad-samples.ts';
import { StoredPlan, WavePlan } from '../../../contracts/wave-plan.ts';
import type { Executor } from '../../../contracts/delegation.ts';

const lone = composeLoneDelegation({
  agent_id: 'writer',
  title: 'x',
  task_description: 'Write it.',
});
const planOf = (delegation_id: string, depends_on: readonly string[] = []) =>
  composePlan([{ ...lone, delegation_id, depends_on: [...depends_on] }]);

it('tasks of a team have ids that no planner may write', () => {
  const task = planOf('design.d2.d1', ['design.d1']);
  expect(StoredPlan.parse(task)).toEqual(task);
  const asWritten = { ...task, delegations: task.delegations.map(writeDelegation) };
  expect(WavePlan.safeParse(asWritten).error?.issues.map(({ path }) => path)).toContainEqual([
    'delegations',
    0,
    'delegation_id',
  ]);
  expect(StoredPlan.parse(planOf('design'))).toEqual(planOf('design'));
});

it('a task needs what other tasks and teams around it have made', () => {
  const longest = Array.from({ length: 4 }, () => 'x'.repeat(40)).join('.');
  const needing = { ...lone, delegation_id: longest, required_inputs: [longest] };
  expect(StoredPlan.safeParse(composePlan([needing])).success).toBe(true);
});

it.each(['', 'a.', '.a', 'a..b', 'a/b', 'A.b', 'a.b.c.d.e', `a.${'x'.repeat(41)}`])(
  'the id %j is refused also in a stored plan',
  (id) => {
    expect(StoredPlan.safeParse(planOf(id)).success).toBe(false);
  },
);

it('a stored plan is as strict in all else', () => {
  expect(StoredPlan.safeParse({ ...planOf('a'), more: 1 }).success).toBe(false);
  const odd = composePlan([Object.assign({ more: 1 }, lone)]);
  expect(StoredPlan.safeParse(odd).success).toBe(false);
});

const executors: readonly Executor[] = [
  { kind: 'agent' },
  { kind: 'triad', ...offerTriad },
  design.executor,
  { kind: 'team', team_id: 'desk' },
];

it.each(executors)(
  'what a planner wrote of an executor is stored and read as one: %j',
  (executor) => {
    const plan = composePlan([{ ...lone, executor }]);
    const text = JSON.stringify({ ...plan, delegations: plan.delegations.map(writeDelegation) });
    expect(readJson(WavePlan, text)).toEqual({ ok: true, value: plan });
    expect(StoredPlan.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  },
);

it('PTS2: nobody is a triad and a team', () => {
  const both = { ...writeDelegation(lone), triad: offerTriad, team: { team_id: 'desk' } };
  const plan = { ...planOf('a'), delegations: [writeDelegation(lone), both] };
  expect(readJson(WavePlan, JSON.stringify(plan))).toEqual({
    ok: false,
    faults: [
      {
        path: 'delegations[1].team',
        reason: 'a delegation is done by a triad or by a team, not by both.',
        hint: 'Try: leave one of them out',
      },
    ],
  });
});

it('a stored plan names the kind of each executor', () => {
  const { executor: _executor, ...rest } = lone;
  const plan = { ...planOf('a'), delegations: [rest] };
  expect(StoredPlan.safeParse(plan).success).toBe(false);
  const odd = { ...plan, delegations: [{ ...rest, executor: { kind: 'quartet' } }] };
  expect(StoredPlan.safeParse(odd).success).toBe(false);
});
