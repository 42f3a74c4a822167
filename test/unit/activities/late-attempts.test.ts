import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ModelTurnInput } from '../../../contracts/model-turn.ts';
import { restoreUsage } from '../../../core/turns/turn-call.ts';
import { lostUsage, noUsage } from '../../../core/usage/add-usage.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { eventually } from '../../support/eventually.ts';
import { lostAttempt } from '../../support/old-attempt.ts';
import { hang, sayJson, sayText, unavailable } from '../../support/scripted-model.ts';
import type { Script } from '../../support/scripted-model.ts';
import { createSuspension } from '../../support/suspension.ts';
import { recallRunSpent } from '../../../activities/agent-turn/attempt-ledger.ts';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { createTemporaryHome } from '../adapters/temporary-home.ts';
import { createBench, outputOf, runIn } from './bench.ts';

// An attempt of a model call whose worker is suspended goes on when others have been made of it.

const billed: Usage = { ...noUsage, calls: 1, input_tokens: 40 };

const failLate: Script = async (request, options) => {
  await hang()(request, options).catch(() => null);
  throw unavailable('The socket was closed.', { usage: billed });
};

const failUnbilled: Script = () => {
  throw unavailable('Too many requests.', { status: 429 });
};

const say = sayJson(outputOf());

/** Attempt 1 of a call is at the model, and then as if nobody had it any more. */
async function suspend(first: Script) {
  const { reached, here } = createSuspension();
  const atModel: Script = async (request, options) => {
    // It goes on: what its script does, the model does meanwhile.
    void here();
    return first(request, options);
  };
  const bench = await createBench({ scripts: [atModel, sayJson(outputOf())] });
  const { modelTurn } = bench.activities;
  const late = bench.env(1, 'a1');
  const turn = runIn(late, modelTurn, bench.input());
  await reached;
  const attempt = (n: number) => runIn(bench.env(n, 'a1'), modelTurn, bench.input());
  const giveUp = (): void =>
    late.cancel('NOT_FOUND', new ActivityCancellationDetails({ notFound: true }));
  return { bench, turn, attempt, giveUp };
}

it.each([
  ['is told that it has lost the work', hang(), 200],
  ['fails', failLate, 140],
])(
  'fault 5, M9: a suspended attempt that %s takes no recorded reply away',
  async (_how, script, inputTokens) => {
    const { bench, turn, attempt, giveUp } = await suspend(script);
    const second = await attempt(2);
    giveUp();
    await expect(turn).rejects.toMatchObject({ name: 'CancelledFailure' });

    // The worker of the second attempt died before it could report.
    const third = await attempt(3);

    expect(bench.model.requests).toHaveLength(2);
    expect(third).toEqual({ ...second, usage: third.usage });
    expect(third.usage).toMatchObject({ calls: 2, input_tokens: inputTokens });
  },
);

it('fault 5, M3, M9: of a suspended attempt and the one made of it, both with a reply, one reply is taken and both are counted', async () => {
  const socket = createSuspension();
  const { bench, turn, attempt } = await suspend(async (request, options) => {
    await socket.here();
    return sayJson(outputOf({ compact_md: 'Late words.' }))(request, options);
  });
  const second = await attempt(2);
  expect(second.usage.calls).toBe(1);
  socket.goOn();
  const first = await turn;

  const third = await attempt(3);

  expect(bench.model.requests).toHaveLength(2);
  expect(first).toMatchObject({ reply: { type: 'output' }, usage: { calls: 1 } });
  expect({ ...third, usage: null }).toEqual({ ...first, usage: null });
  expect(third.usage).toMatchObject({ calls: 2, input_tokens: 200 });
  expect(await attempt(4)).toEqual(third);
});

it('fault 5, M7: an attempt suspended between reservation and request takes the reservation back, and the run may have counted it', async () => {
  const reserved = createSuspension();
  const bench = await createBench({ scripts: [sayJson(outputOf())] });
  const { modelTurn } = bench.activities;
  const before = { ...bench.ledger };
  bench.ledger.put = async (...entry) => {
    await before.put(...entry);
    if (entry[1] === 1) await reserved.here();
  };
  const late = lostAttempt();
  const turn = runIn(late, modelTurn, bench.input());
  await reserved.reached;
  const { activityId } = late.context.info;
  const attempt = (n: number) => runIn(bench.env(n, activityId), modelTurn, bench.input());
  const second = await attempt(2);
  expect(second.usage).toMatchObject({ calls: 1, unreported_calls: 1 });
  reserved.goOn();
  await expect(turn).rejects.toMatchObject({ type: 'ModelUnavailable' });
  expect((await attempt(3)).usage).toMatchObject({ calls: 1 });
  expect(bench.model.requests).toHaveLength(1);
});

it('M6, M8: finding T2: an attempt that is killed is charged its worst case, the first one too', async () => {
  const bench = await createBench({ scripts: [hang(), hang(), sayJson(outputOf())] });
  const allowance = { calls: 2, tokens: null, cost_micro_usd: null };
  const input = bench.input({ allowance });
  const { modelTurn } = bench.activities;
  for (const n of [1, 2]) {
    // Nothing is heard of it again.
    void runIn(bench.env(n, 'a1'), modelTurn, input);
    // oxlint-disable-next-line no-await-in-loop
    await eventually(`request ${n}`, async () => bench.model.requests.length === n);
  }
  const third = await runIn(bench.env(3, 'a1'), modelTurn, input);
  expect(bench.model.requests).toHaveLength(2);
  expect(third.reply).toMatchObject({ type: 'unaffordable', needs: { calls: 1 } });
  const usage = restoreUsage(third.usage);
  expect(usage).toMatchObject({ calls: 0, unreported_calls: 2 });
  expect(usage.unreported_tokens).toBeGreaterThan(2 * input.max_output_tokens);
});

it('SP3: a call that is known at its worst case is not missed when its report comes late', async () => {
  const bench = await createBench({ scripts: [sayJson(outputOf())] });
  const { usage } = await bench.turn();
  const at = bench.env();
  const place = at.context.info.workflowExecution?.workflowId ?? '';
  const recall = (known: Usage) =>
    runIn(at, bench.activities.recallRunSpent, { place, since: 0, known });
  expect(await recall(noUsage)).toEqual({ missed: usage });
  const { missed } = await recall(lostUsage({ calls: 1, tokens: 1_000_000, cost_micro_usd: 9 }));
  expect(missed).toEqual(noUsage);
});

it('M6: finding T2: a request that is not sent after all is not charged', async () => {
  const bench = await createBench({ scripts: [failUnbilled, sayJson(outputOf())] });
  const attempt = (n: number) =>
    runIn(bench.env(n, 'a1'), bench.activities.modelTurn, bench.input());
  await expect(attempt(1)).rejects.toMatchObject({ type: 'ModelUnavailable' });
  const { usage } = await attempt(2);
  expect(restoreUsage(usage)).toMatchObject({ calls: 1, unreported_calls: 0 });
});

it('M3: finding T2: a reply without usage may have used as much as the worst case', async () => {
  const bench = await createBench({
    scripts: [async (request, options) => ({ ...(await say(request, options)), tokens: null })],
  });
  const { usage } = await bench.turn();
  expect(usage).toMatchObject({ calls: 1, unpriced_calls: 1, unreported_calls: 0 });
  expect(usage.unreported_tokens).toBeGreaterThan(1_000);
});

it('M12: a reply of a crashed attempt is taken over once, in its place, and costs nothing', async () => {
  const bench = await createBench({
    scripts: [sayText('no JSON'), sayText('no JSON either'), sayText('bought again')],
  });
  const turn = async (run: string, changes: Partial<ModelTurnInput>) => {
    const env = new MockActivityEnvironment(
      {
        activityId: `${run}-${changes.head ?? 'first'}`,
        workflowExecution: { workflowId: 'my-run/wave-001/write-report', runId: run },
      },
      { logger: new DefaultLogger('ERROR') },
    );
    const input = bench.input({ delegation_id: 'write-report', ...changes });
    const answer = await runIn(env, bench.activities.modelTurn, input);
    return { ...answer, usage: restoreUsage(answer.usage) };
  };
  const first = await turn('one', {});
  const second = await turn('one', { head: first.head, append: [] });
  const recall = { count: 1, place: 'my-run/wave-001/write-report', since: 0 };
  const again = await turn('two', { recall });
  expect(again).toEqual({ ...first, usage: noUsage, recalled: true });
  expect(await turn('two', { recall, head: first.head, append: [] })).toMatchObject({
    head: second.head,
    recalled: true,
  });
  expect(bench.model.requests).toHaveLength(2);
  // A third attempt takes over what the first had, and asks what none of them has asked.
  const twice = { ...recall, count: 2 };
  expect(await turn('three', { recall: twice })).toMatchObject({
    head: first.head,
    usage: noUsage,
  });
  const bought = await turn('three', { recall: twice, head: second.head, append: [] });
  expect(bought.recalled).toBeUndefined();
  expect(bench.model.requests).toHaveLength(3);
});

it('M12: what the user asked about a design is no part of what its run has spent', async () => {
  const { ledger } = await createBench();
  const put = (workflow_id: string, stage: ModelTurnInput['stage'], spent: Usage) =>
    ledger.put({ workflow_id, run_id: 'one', activity_id: '1' }, 1, {
      version: 1,
      result: null,
      spent,
      scheduled_at: 1,
      call: { agent_id: 'poc-designer', stage, head: null, crashes: 0 },
    });
  await put('my-run/wave-001', 'plan', billed);
  await put('my-run/design', 'design_review', billed);
  await put('my-run/ask-1727539200', 'explanation', { ...billed, calls: 7 });
  expect(await recallRunSpent(ledger, 'my-run', 0)).toMatchObject({ calls: 2 });
});

it('M12: what a run has spent is told by the clock of its workflow, not by that of the store', async () => {
  const at = await createTemporaryHome();
  onTestFinished(() => at.remove());
  const ledger = createFileReplyLedger({ home: at.home });
  const begunMs = Date.now();
  const put = (run_id: string, aheadMs: number, scheduled_at: number) => {
    const call = { agent_id: 'planner', stage: 'plan', head: null, crashes: 0 };
    const entry = { version: 1, result: null, spent: billed, call, scheduled_at };
    const time = begunMs + aheadMs;
    return ledger.put(
      { workflow_id: 'my-run', run_id, activity_id: '1' },
      1,
      entry,
      undefined,
      time,
    );
  };
  const recalled = () => recallRunSpent(ledger, 'my-run', begunMs);
  // The call of a worker that was killed, on a machine whose clock is late.
  await put('one', -20_000, begunMs + 100);
  expect(await recalled()).toMatchObject({ calls: 1 });
  // That of a run before, which had the same id, on a machine whose clock is early.
  await put('before', 20_000, begunMs - 100);
  expect(await recalled()).toMatchObject({ calls: 1 });
});

it('M12: a call is kept with the time at which its workflow scheduled it', async () => {
  const bench = await createBench({ scripts: [sayJson(outputOf())] });
  const at = bench.env();
  await runIn(at, bench.activities.modelTurn, bench.input());
  const [entry] = await bench.ledger.list('test', 0);
  expect(entry?.value).toMatchObject({ scheduled_at: at.context.info.scheduledTimestampMs });
});
