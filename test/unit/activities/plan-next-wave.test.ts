import { planNextWave } from '../../../activities/design/plan-next-wave.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { RunRecord, StoredWave } from '../../../contracts/run-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { someRef } from '../../support/factories.ts';
import { samplePlan } from '../../support/plans.ts';
import { outcome } from '../core/builders.ts';
import { createRun } from './prompt-bench.ts';

const id = (name: string): string => `${name}_1727539200`;
const schema = id('schema');
const schemaAgain = 'schema-again';

const waveOf = (wave: number, outcomes: readonly DelegationOutcome[]): StoredWave => ({
  wave,
  status: 'decided',
  plan_ref: null,
  outcomes,
  decision_ref: null,
  usage: noUsage,
  planned_at: 1,
  done_at: 2,
  shown: null,
});

/** The next wave of the sample plan after these outcomes, when the criteria were last reported on by these delegations. */
async function planAfter(
  outcomes: readonly DelegationOutcome[],
  metBy: Readonly<Record<string, string>>,
) {
  const criteria: RunRecord['criteria'] = Object.entries(metBy).map(
    ([criterion_id, delegation_id]) => ({
      criterion_id,
      state: 'met',
      delegation_id,
      description: criterion_id,
      note: '',
    }),
  );
  const { bench } = await createRun({
    criteria,
    waves: outcomes.map((one, at) => waveOf(at + 1, [one])),
  });
  const { plan } = await planNextWave(bench.store, {
    plan_ref: await bench.store.put(JSON.stringify(samplePlan())),
    record_ref: bench.record_ref,
    max_delegations: 9,
    delegation_ids: outcomes.map(({ delegation_id }) => delegation_id),
    known_inputs: ['goal', ...outcomes.map(({ delegation_id }) => delegation_id)],
  });
  return plan?.delegations ?? [];
}

const begun = [outcome(id('try-index')), outcome(id('docs'))];
const metBegun = { 'try-index-done': id('try-index'), 'docs-done': id('docs') };

it.each([
  ['failed', outcome(schema, { status: 'failed' })],
  ['left its evidence open', outcome(schema, { criteria_unmet: ['schema-done'] })],
])('a task gets the work that replaced one that %s', async (_how, ended) => {
  const outcomes = [...begun, ended, outcome(schemaAgain)];
  const next = await planAfter(outcomes, { ...metBegun, 'schema-done': schemaAgain });
  expect(next).toMatchObject([
    { delegation_id: id('api'), required_inputs: [schemaAgain], provided_inputs: [schemaAgain] },
  ]);
});

it('a task gets the result of the task itself, also where other work reported on its evidence later', async () => {
  const outcomes = [...begun, outcome(schema), outcome(schemaAgain)];
  const next = await planAfter(outcomes, { ...metBegun, 'schema-done': schemaAgain });
  expect(next).toMatchObject([{ delegation_id: id('api'), required_inputs: [schema] }]);
});

const session = (delegation_id: string) => ({
  delegation_id,
  agent_id: 'database_agent',
  status: 'working' as const,
  at: 1,
  count: 1,
  unresolved: 1,
  session_ref: someRef,
});

it('a task that a lost wave had begun goes on with its session; no other task has one', async () => {
  const docs = id('docs');
  const sessions = [session(id('try-index')), session(docs)];
  const waves = [waveOf(1, [outcome(docs)]), { ...waveOf(2, []), status: 'lost' as const }];
  const { bench } = await createRun({ criteria: [], waves, sessions });
  const next = await planNextWave(bench.store, {
    plan_ref: await bench.store.put(JSON.stringify(samplePlan())),
    record_ref: bench.record_ref,
    max_delegations: 9,
    delegation_ids: [docs],
    known_inputs: ['goal', docs],
  });
  expect(next.sessions).toEqual({ [id('try-index')]: someRef });
});
