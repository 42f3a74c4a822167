import { readCalls } from '../../../activities/run-record/read-calls.ts';
import { addUsage, noUsage } from '../../../core/usage/add-usage.ts';
import { sayJson, unavailable } from '../../support/scripted-model.ts';
import type { Script } from '../../support/scripted-model.ts';
import { createBench, outputOf, recordOf, runIn, type Bench } from './bench.ts';

const billed = { ...noUsage, calls: 1, input_tokens: 40 };

const failBilled: Script = () => {
  throw unavailable('The stream broke off.', { usage: billed });
};

/** Reads the calls that the bench has made, of a run of this place. */
async function read({ store, ledger, registry_ref }: Bench, run_id: string) {
  const record = { ...recordOf(registry_ref), run_id };
  const placed = await readCalls({ store, ledger }, record, new Map());
  return placed.flatMap(({ conversations }) => conversations);
}

it('each attempt at a call is shown with what it used itself', async () => {
  const bench = await createBench({ scripts: [failBilled, sayJson(outputOf())] });
  const attempt = (n: number) =>
    runIn(bench.env(n, 'a1'), bench.activities.modelTurn, bench.input());
  await expect(attempt(1)).rejects.toMatchObject({ type: 'ModelUnavailable' });
  await attempt(2);
  const { workflowId = '' } = bench.env().context.info.workflowExecution ?? {};
  const turns = (await read(bench, workflowId)).flatMap((one) => one.turns);
  expect(turns.map(({ attempt: nth }) => nth)).toEqual([1, 2]);
  expect(turns[0]?.usage).toEqual(billed);
  expect(addUsage(...turns.map((turn) => turn.usage)).calls).toBe(2);
});

it('an answer of `ask` is no work of the run', async () => {
  const bench = await createBench({ scripts: [] });
  const key = { workflow_id: 'my-run', run_id: 'one', activity_id: '1' };
  const call = { agent_id: 'writer', head: null, crashes: 0 };
  const entry = { version: 1, result: null, spent: billed, scheduled_at: Date.now() };
  await bench.ledger.put(key, 1, { ...entry, call: { ...call, stage: 'explanation' } });
  expect(await read(bench, 'my-run')).toEqual([]);
  await bench.ledger.put(key, 2, { ...entry, call: { ...call, stage: 'delegation' } });
  expect(await read(bench, 'my-run')).toMatchObject([{ stage: 'delegation' }]);
});
