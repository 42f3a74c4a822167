import * as fc from 'fast-check';
import { CoordinationPlan } from '../../../../contracts/coordination-plan.ts';
import type { PlanOperation } from '../../../../contracts/coordination-plan.ts';
import { changePlan } from '../../../../core/design/change-plan.ts';
import { findTask, nextWave } from '../../../../core/design/next-wave.ts';
import { planTask, samplePlan } from '../../../support/plans.ts';

const proof = samplePlan().tasks[0]?.proof_of_concept ?? null;
const name = (at: number): string => `t${at}_1727539200`;

/** Plans without a cycle, with proofs of concept anywhere. */
const plans: fc.Arbitrary<CoordinationPlan> = fc
  .array(fc.tuple(fc.array(fc.nat(24), { maxLength: 3 }), fc.boolean()), {
    minLength: 1,
    maxLength: 25,
  })
  .map((entries) => {
    const tasks = entries.map(([earlier, isProof], at) =>
      planTask(`t${at}`, {
        depends_on: [...new Set(earlier.filter((one) => one < at))].map(name),
        proof_of_concept: isProof ? proof : null,
      }),
    );
    return samplePlan({ tasks });
  });

it('WN1, WN2, WN3 and WN4: wave by wave every task is done once, also when some fail', () => {
  fc.assert(
    fc.property(
      plans,
      fc.integer({ min: 1, max: 10 }),
      fc.func(fc.boolean()),
      (plan, max, fails) => {
        const { tasks } = plan;
        const verified: string[] = [];
        const dispatched: string[] = [];
        for (let wave = 0; verified.length < tasks.length; wave += 1) {
          const done = new Set(verified.map((id) => findTask(tasks, id)?.task_id));
          const delegations = nextWave(plan, { verified, dispatched }, max);
          const here = delegations.map(({ delegation_id }) => findTask(tasks, delegation_id));
          expect(here.length).toBeGreaterThan(0);
          expect(here.length).toBeLessThanOrEqual(max);
          for (const [at, task] of here.entries()) {
            const before = here.slice(0, at);
            for (const id of task?.depends_on ?? []) {
              const source = before.find((one) => one?.task_id === id);
              expect(done.has(id) || source !== undefined).toBe(true);
              expect(source?.proof_of_concept ?? null).toBeNull();
            }
          }
          const ids = delegations.map(({ delegation_id }) => delegation_id);
          expect(ids.filter((id) => dispatched.includes(id))).toEqual([]);
          dispatched.push(...ids);
          // Every third wave is without failures, so that the work ends.
          verified.push(...ids.filter((id) => wave % 3 === 2 || !fails(id)));
        }
        expect(new Set(verified.map((id) => findTask(tasks, id))).size).toBe(tasks.length);
      },
    ),
    { numRuns: 60 },
  );
});

const taskId = fc.constantFrom(
  ...[0, 1, 2, 3, 99].map(name),
  'schema_1727539200',
  'api_1727539200',
);
const ids = fc.array(taskId, { minLength: 1, maxLength: 4 });
const task = fc
  .record({ at: fc.nat(3), depends_on: ids, isProof: fc.boolean() })
  .map(({ at, depends_on, isProof }) =>
    planTask(`t${at}`, { depends_on, proof_of_concept: isProof ? proof : null }),
  );
const agent = fc.constantFrom('database_agent', 'api_agent', 'ghost');
const operations: fc.Arbitrary<PlanOperation> = fc.oneof(
  fc.record({ operation: fc.constant('add_task' as const), task }),
  fc.record({ operation: fc.constant('remove_task' as const), task_id: taskId }),
  fc.record({ operation: fc.constant('reorder' as const), task_id: taskId, depends_on: ids }),
  fc.record({ operation: fc.constant('reassign' as const), task_id: taskId, agent }),
  fc.record({ operation: fc.constant('remove_agent' as const), agent_name: agent }),
  fc.record({
    operation: fc.constant('split_task' as const),
    task_id: taskId,
    into: fc.array(task, { minLength: 2, maxLength: 3 }),
  }),
  fc.record({
    operation: fc.constant('insert_proof_of_concept' as const),
    task,
    before: ids,
  }),
);

const hasOwnIds = ({ tasks }: CoordinationPlan): boolean =>
  new Set(tasks.map((one) => one.task_id)).size === tasks.length;

it('PO1 and PO5: whatever the operations are, the result is a plan, or all faults name an operation', () => {
  fc.assert(
    fc.property(fc.array(operations, { maxLength: 8 }), (list) => {
      const before = samplePlan();
      const changed = changePlan(before, list);
      expect(before).toEqual(samplePlan());
      const isRight = changed.ok
        ? CoordinationPlan.safeParse(changed.plan).success && hasOwnIds(changed.plan)
        : changed.faults.length > 0 &&
          changed.faults.every(({ path }) => /^operations\/[0-7]$/.test(path));
      expect(isRight).toBe(true);
    }),
  );
});
