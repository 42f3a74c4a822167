import { StoredPlan, WavePlan } from '../../../contracts/wave-plan.ts';
import { composeLoneDelegation, composePlan } from '../../../activities/run-record/compose-plan.ts';

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
  expect(WavePlan.safeParse(task).success).toBe(false);
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
