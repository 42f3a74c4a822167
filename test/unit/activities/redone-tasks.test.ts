import { planNextWave } from '../../../activities/design/plan-next-wave.ts';
import type { RunRecord, StoredWave } from '../../../contracts/run-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { outcome } from '../core/builders.ts';
import { createRun } from './prompt-bench.ts';

const [rates, redo] = ['rates_1727539200', 'rates-2_1727539200'] as const;

const waveOf = (wave: number, one: ReturnType<typeof outcome>): StoredWave => ({
  wave,
  status: 'decided',
  plan_ref: null,
  outcomes: [one],
  decision_ref: null,
  usage: noUsage,
  planned_at: 1,
  done_at: 2,
  shown: null,
});

const criteria: RunRecord['criteria'] = [
  {
    criterion_id: 'rates-done',
    state: 'met',
    delegation_id: rates,
    description: 'The rates are there.',
    note: '',
  },
];

/** Returns the delegations of the next wave, when the result of the only task no longer holds. */
async function nextAfter(waves: readonly StoredWave[], again: readonly string[] = []) {
  const stale = [{ delegation_id: rates, wave: 1, reasons: ['It was amended.'], redone_by: null }];
  const { bench } = await createRun({ criteria, stale, waves });
  const plan = { ...samplePlan(), tasks: [planTask('rates')] };
  const next = await planNextWave(bench.store, {
    plan_ref: await bench.store.put(JSON.stringify(plan)),
    record_ref: bench.record_ref,
    max_delegations: 9,
    delegation_ids: waves.flatMap(({ outcomes }) => outcomes.map((one) => one.delegation_id)),
    known_inputs: ['goal'],
    again,
  });
  return next.plan?.delegations.map(({ delegation_id, redoes }) => [delegation_id, redoes]) ?? [];
}

it('WN9: a redo that failed is made again only when the user wants it', async () => {
  const done = waveOf(1, outcome(rates));
  const failed = waveOf(2, outcome(redo, { status: 'failed', output_ref: null }));
  const skipped = waveOf(2, outcome(redo, { status: 'skipped', output_ref: null }));
  expect(await nextAfter([done])).toEqual([[redo, rates]]);
  expect(await nextAfter([done, failed])).toEqual([]);
  expect(await nextAfter([done, failed], [redo])).toEqual([['rates-3_1727539200', rates]]);
  // It never began.
  expect(await nextAfter([done, skipped])).toEqual([['rates-3_1727539200', rates]]);
});
