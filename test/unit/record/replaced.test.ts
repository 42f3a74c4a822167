import { listPacketDetails } from '../../../activities/artifacts/packet-details.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import { useHarness } from './harness.ts';
import type { RunningRun } from './harness.ts';
import { decision, delegation, outcome, output, plan, usage, wave } from './samples.ts';

const harness = useHarness();

let run: RunningRun;
beforeEach(async () => {
  run = await harness.begin('my-run');
});

const textOf = (id: string): string => `# Text of ${id}\n\nWritten by ${id}.`;

async function play(at: number, ...delegations: readonly Delegation[]): Promise<void> {
  const outcomes = await Promise.all(
    delegations.map((one): Promise<DelegationOutcome> => {
      const { delegation_id, replaces } = one;
      const out = output({ compact_md: delegation_id, detailed_md: textOf(delegation_id) });
      return outcome(harness, one, out, replaces === undefined ? {} : { replaces });
    }),
  );
  await run.apply({
    type: 'wave_done',
    wave: wave(at, {
      plan_ref: await harness.put(plan(...delegations)),
      record_ref: run.ref(),
      outcomes,
      decision_ref: await harness.put(decision()),
    }),
    criteria: [],
  });
}

const draft = delegation('draft', { produces: ['text'] });
const review = delegation('review', { depends_on: ['draft'] });
const final = delegation('final', { depends_on: ['draft', 'review'], replaces: 'draft' });
const known = { required_inputs: ['text'], provided_inputs: ['text'] };

const refOf = ({ waves }: RunRecord, id: string): string | null | undefined =>
  waves.flatMap((one) => one.outcomes).find((one) => one.delegation_id === id)?.output_ref;

const detailsOf = (record: RunRecord): Readonly<Record<string, string>> =>
  Object.fromEntries(record.details.map((one) => [one.detail_id, one.output_ref]));

const staleIn = ({ stale }: RunRecord): readonly string[] =>
  stale.filter(({ redone_by }) => redone_by === null).map(({ delegation_id }) => delegation_id);

it('finding W5: after "mend after review" only the newer version is used and shown', async () => {
  await play(1, draft, review, final);
  const record = await run.record();
  expect(detailsOf(record)).toEqual({
    review: refOf(record, 'review'),
    final: refOf(record, 'final'),
    text: refOf(record, 'final'),
  });
  expect(staleIn(record)).toEqual([]);
  const ended = await run.apply({ type: 'ended', status: 'completed', usage: usage(1) });
  const { store } = harness.deps;
  const result = await store.getText(ended.result?.result_ref ?? '');
  const report = await store.getText(ended.result?.report_ref ?? '');
  expect(result).toContain('Written by final.');
  for (const text of [result, report]) expect(text).not.toContain('Written by draft.');
  expect(report).toContain('### Superseded versions\n\n- `draft` of wave 1, replaced by `final`:');
});

it('a result of an earlier wave is replaced, and who built on it is stale, but not its review', async () => {
  await play(1, draft, review, delegation('other', { depends_on: ['draft'] }));
  await play(
    2,
    delegation('final', {
      required_inputs: ['text', 'review'],
      provided_inputs: ['text', 'review'],
      replaces: 'draft',
    }),
  );
  const record = await run.record();
  expect(detailsOf(record)['text']).toBe(refOf(record, 'final'));
  expect(detailsOf(record)['draft']).toBeUndefined();
  expect(staleIn(record)).toEqual(['other']);
  expect(record.stale[0]?.reasons).toEqual(['wave-001/draft is replaced by wave-002/final']);
  await play(3, delegation('third', { ...known, replaces: 'final' }));
  const later = await run.record();
  expect(detailsOf(later)['text']).toBe(refOf(later, 'third'));
  expect(staleIn(later)).toEqual(['other']);
});

it('within its wave the newer version stands for every name of the older one', async () => {
  await play(1, draft);
  const record = await run.record();
  const upstream = [
    { delegation_id: 'final', output_ref: 'f'.repeat(64), replaces: ['draft'] },
  ] as const;
  const details = await listPacketDetails(harness.deps.store, record, upstream);
  expect([...details]).toEqual(
    ['draft', 'text', 'final'].map((id) => [
      id,
      { kind: 'output', ref: 'f'.repeat(64), files: [] },
    ]),
  );
});
