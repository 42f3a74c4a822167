import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { ActivityCancellationDetails } from '@temporalio/common';
import type { FailureType } from '../../../contracts/errors.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { ArtifactStore } from '../../../activities/ports/artifact-store.ts';
import { ModelFailure } from '../../../activities/ports/model-client.ts';
import { restoreUsage } from '../../../core/turns/turn-call.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { oldAttempt } from '../../support/old-attempt.ts';
import { hang, sayJson, sayText } from '../../support/scripted-model.ts';
import type { Script } from '../../support/scripted-model.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createBench, outputOf, runIn } from './bench.ts';
import type { Bench } from './bench.ts';
import type { TurnProgress } from '../../../contracts/views.ts';

const fail =
  (
    type: FailureType,
    changes: { retryable?: boolean; retryAfterMs?: number; usage?: Usage } = {},
  ): Script =>
  () => {
    throw new ModelFailure(`${type} happened`, {
      type,
      retryable: changes.retryable ?? true,
      retryAfterMs: changes.retryAfterMs,
      details: {
        status: 500,
        type: 'api_error',
        error_code: null,
        request_id: 'req_9',
        model: 'rehearsal',
        usage: changes.usage ?? null,
      },
    });
  };

/** Does something before each text that is read. */
function beforeReads(store: ArtifactStore, work: () => Promise<void>): void {
  const before = { ...store };
  Object.assign(store, {
    getText: async (ref: Ref): Promise<string> => {
      await work();
      return before.getText(ref);
    },
  });
}

const failureOf = async (work: Promise<unknown>): Promise<ApplicationFailure> => {
  const error: unknown = await work.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApplicationFailure) return error;
  throw new Error(`expected an ApplicationFailure, got ${String(error)}`);
};

/** Creates a bench whose ledger fails so many times once the reply is there. */
async function createBenchThatFails(writes: number): Promise<Bench> {
  const bench: Bench = await createBench({
    scripts: [
      (request, options) => {
        bench.ledger.failingWrites = writes;
        return sayJson(outputOf())(request, options);
      },
    ],
  });
  return bench;
}

const oneCall: Usage = { ...noUsage, calls: 1, input_tokens: 40 };

describe('the reply ledger', () => {
  it('M1: a retry takes the recorded reply and calls no model', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    const first = await runIn(bench.env(1, 'a1'), bench.activities.modelTurn, bench.input());
    const again = await runIn(bench.env(2, 'a1'), bench.activities.modelTurn, bench.input());
    expect(again).toEqual(first);
    expect(bench.model.requests).toHaveLength(1);
  });

  it('M1: a first attempt looks nothing up, another activity finds nothing', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    await runIn(bench.env(1, 'a1'), bench.activities.modelTurn, bench.input());
    expect(bench.ledger.finds).toBe(0);
    await runIn(bench.env(2, 'a2'), bench.activities.modelTurn, bench.input());
    expect(bench.model.requests).toHaveLength(2);
  });

  it('M2: nothing is returned that the ledger does not hold', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    bench.ledger.failingWrites = 99;
    const failure = await failureOf(bench.turn());
    expect(failure).toMatchObject({ type: 'StoreUnavailable', nonRetryable: false });
  });

  it('M2: a hiccup of store or ledger does not lose a reply that is paid for', async () => {
    const bench = await createBenchThatFails(2);
    expect((await bench.turn()).reply.type).toBe('output');
    expect(bench.model.requests).toHaveLength(1);
  });

  it('a full disk is found before the first call of a conversation is paid for', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    bench.store.failingWrites = 99;
    await expect(bench.turn()).rejects.toMatchObject({ type: 'StoreUnavailable' });
    expect(bench.model.requests).toHaveLength(0);
  });

  it('M2: a reply waits for the ledger, and who looks at it sees why', async () => {
    const bench = await createBenchThatFails(30);
    const env = bench.env();
    const words = new Set<string>();
    env.on('heartbeat', (details: TurnProgress) => words.add(details.last_words));
    await runIn(env, bench.activities.modelTurn, bench.input());
    expect(bench.model.requests).toHaveLength(1);
    expect(bench.ledger.failingWrites).toBe(0);
    expect([...words].join()).toContain('The disk is full.');
  });

  it('M2: a reply does not wait for the ledger once its attempt is taken back', async () => {
    const bench = await createBenchThatFails(50);
    const env = bench.env();
    env.on('heartbeat', ({ last_words }: TurnProgress) => {
      if (last_words.includes('The disk is full.')) env.cancel();
    });
    const failure = await failureOf(runIn(env, bench.activities.modelTurn, bench.input()));
    expect(failure).toMatchObject({ type: 'StoreUnavailable' });
    expect(bench.ledger.failingWrites).toBeGreaterThan(0);
  });

  it('M6: a later attempt calls the model only where its reply could be kept', async () => {
    const bench = await createBench({ scripts: [fail('ModelUnavailable'), sayJson(outputOf())] });
    const attempt = (n: number) =>
      runIn(bench.env(n, 'a1'), bench.activities.modelTurn, bench.input());
    await failureOf(attempt(1));
    bench.ledger.failingWrites = 2;
    for (const n of [2, 3]) {
      expect(await failureOf(attempt(n))).toMatchObject({ type: 'StoreUnavailable' });
    }
    expect(bench.model.requests).toHaveLength(1);
    expect((await attempt(4)).reply.type).toBe('output');
    expect(bench.model.requests).toHaveLength(2);
  });

  it('M3: what failed attempts used is in the result', async () => {
    const bench = await createBench({
      scripts: [
        fail('ModelUnavailable', { usage: oneCall }),
        fail('ModelUnavailable'),
        sayJson(outputOf()),
      ],
    });
    const attempt = (n: number) =>
      runIn(bench.env(n, 'a1'), bench.activities.modelTurn, bench.input());
    await failureOf(attempt(1));
    const second = await failureOf(attempt(2));
    expect(second.details?.[0]).toMatchObject({ usage: { calls: 1, input_tokens: 40 } });
    const third = await attempt(3);
    expect(third.usage).toMatchObject({ calls: 2, input_tokens: 140 });
  });
});

describe('failures', () => {
  it('carry type, message and details, and what the provider asked to wait', async () => {
    const bench = await createBench({
      scripts: [fail('ModelUnavailable', { retryAfterMs: 2_500 })],
    });
    const failure = await failureOf(bench.turn());
    expect(failure).toMatchObject({
      type: 'ModelUnavailable',
      nonRetryable: false,
      nextRetryDelay: 2_500,
      details: [
        { status: 500, type: 'api_error', request_id: 'req_9', model: 'rehearsal', usage: null },
      ],
    });
    expect(failure.message).toBe('ModelUnavailable happened');
  });

  it.each([
    [1, 8],
    [2, 16],
    [5, 128],
    [40, 120_000],
  ])('attempt %i: back-off of %i ms', async (attempt, delay) => {
    const bench = await createBench({ scripts: [fail('ModelUnavailable')] });
    expect((await failureOf(bench.turn({}, attempt))).nextRetryDelay).toBe(delay);
  });

  it.each(['ModelAuth', 'ModelBilling', 'ModelGone', 'ModelSpendCap', 'ModelRequest'] as const)(
    '%s is not retried',
    async (type) => {
      const bench = await createBench({ scripts: [fail(type, { retryable: false })] });
      expect(await failureOf(bench.turn())).toMatchObject({ type, nonRetryable: true });
    },
  );

  it.each([
    [1, false],
    [2, false],
    [3, true],
    [4, true],
  ])('part of fault 23: no message, attempt %i: final %s', async (attempt, nonRetryable) => {
    const bench = await createBench({ scripts: [fail('ModelProtocol')] });
    const failure = await failureOf(bench.turn({}, attempt));
    expect(failure).toMatchObject({ type: 'ModelProtocol', nonRetryable });
  });

  it('a damaged artifact stops, an unknown agent says which there are', async () => {
    const bench = await createBench({ scripts: [sayText('')] });
    const missing = await failureOf(bench.turn({ head: '0'.repeat(64) }));
    expect(missing).toMatchObject({ type: 'ArtifactMissing', nonRetryable: true });
    const unknown = await failureOf(bench.turn({ agent_id: 'nobody' }));
    expect(unknown.message).toContain('planner, reviewer, writer');
  });
});

const start = async (scripts: readonly Script[] = [hang()]) => {
  const bench = await createBench({ scripts });
  const env = bench.env(1, 'a1');
  const turn = runIn(env, bench.activities.modelTurn, bench.input());
  while (bench.model.requests.length === 0) {
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return { bench, env, turn };
};

describe('cancellation', () => {
  it('part of fault 26, M4: a cancelled call returns what was used until then', async () => {
    const { bench, env, turn } = await start();
    env.cancel();
    const { reply, usage, head } = await turn;
    expect(reply).toEqual({ type: 'aborted' });
    expect(usage).toMatchObject({ calls: 1, input_tokens: 100, output_tokens: 10 });
    expect((await bench.node(head)).messages.map((message) => message.role)).toEqual(['user']);
  });

  it('M4: a call that fails while it is being cancelled was cancelled', async () => {
    const { env, turn } = await start([
      async (request, options) => {
        await hang()(request, options).catch(() => null);
        return fail('ModelUnavailable')(request, options);
      },
    ]);
    env.cancel();
    expect((await turn).reply).toEqual({ type: 'aborted' });
  });

  it('M4: an activity that is cancelled before its call makes none', async () => {
    const bench = await createBench({ scripts: [hang()] });
    const env = bench.env();
    env.cancel();
    const { reply, usage } = await runIn(env, bench.activities.modelTurn, bench.input());
    expect([reply, restoreUsage(usage)]).toEqual([{ type: 'aborted' }, noUsage]);
    expect(bench.model.requests).toHaveLength(0);
  });

  it('part of fault 4, M4: a shutdown fails the attempt retryably, and the next one knows what it used', async () => {
    const { bench, env, turn } = await start([hang(), sayJson(outputOf())]);
    env.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
    expect(await failureOf(turn)).toMatchObject({ type: 'ModelUnavailable', nonRetryable: false });
    const next = await runIn(bench.env(2, 'a1'), bench.activities.modelTurn, bench.input());
    expect(next.reply.type).toBe('output');
    expect(next.usage).toMatchObject({ calls: 2, input_tokens: 200 });
  });

  it('M4: an attempt that timed out or lost its workflow ends as cancelled', async () => {
    const { env, turn } = await start();
    env.cancel('NOT_FOUND', new ActivityCancellationDetails({ notFound: true }));
    await expect(turn).rejects.toMatchObject({ name: 'CancelledFailure' });
  });

  it('a reply that came in spite of the cancellation counts', async () => {
    const { env, turn } = await start([
      async (request, options) => {
        await hang()(request, options).catch(() => null);
        return sayJson(outputOf())(request, options);
      },
    ]);
    env.cancel();
    expect((await turn).reply.type).toBe('output');
  });
});

it('M7: an attempt that was blocked for longer than its heartbeat timeout buys nothing', async () => {
  const bench = await createBench({ scripts: [sayJson(outputOf())] });
  beforeReads(bench.store, async () => {
    const endMs = performance.now() + 60;
    while (performance.now() < endMs);
  });
  const env = new MockActivityEnvironment({ attempt: 1, heartbeatTimeoutMs: 50 });
  const failure = await failureOf(runIn(env, bench.activities.modelTurn, bench.input()));
  expect(failure).toMatchObject({ type: 'ModelUnavailable', nonRetryable: false });
  expect(bench.model.requests).toHaveLength(0);
});

it.each([
  ['ActivityNotFoundError', 0],
  ['ServiceError', 1],
])('M7: an old attempt asks the server, which says %s: %i calls', async (name, calls) => {
  const bench = await createBench({ scripts: [sayJson(outputOf())] });
  let asked = 0;
  const refuse = async (): Promise<void> => {
    asked += 1;
    throw Object.assign(new Error('said the server'), { name });
  };
  const env = oldAttempt(refuse);
  await runIn(env, bench.activities.modelTurn, bench.input()).catch(() => null);
  expect(asked).toBe(1);
  expect(bench.model.requests).toHaveLength(calls);
});

it('M7: an attempt that is slow, with heartbeats all the while, makes its call', async () => {
  const bench = await createBench({ scripts: [sayJson(outputOf())] });
  // In all longer than the timeout, which is long enough for a timer that comes late on a busy machine.
  const heartbeatTimeoutMs = 2_000;
  let sleptMs = 0;
  beforeReads(bench.store, async () => {
    sleptMs += 800;
    await sleep(800);
  });
  const env = new MockActivityEnvironment({ attempt: 1, heartbeatTimeoutMs });
  const { reply } = await runIn(env, bench.activities.modelTurn, bench.input());
  expect(reply.type).toBe('output');
  expect(sleptMs).toBeGreaterThan(heartbeatTimeoutMs);
});

const worst: Usage = {
  ...noUsage,
  unreported_calls: 1,
  unreported_tokens: 100,
  unreported_cost_micro_usd: 9,
};

it('M8: a call is made only when its worst case, with what was spent before, is allowed', async () => {
  const bench = await createBench({
    scripts: [sayJson(outputOf()), sayJson(outputOf())],
    deps: { computeWorst: () => worst },
  });
  const allowance = { calls: 1, tokens: 100, cost_micro_usd: null };
  const small = await bench.turn({ allowance: { ...allowance, tokens: 99 } });
  expect(small.reply).toEqual({
    type: 'unaffordable',
    needs: { calls: 1, tokens: 100, cost_micro_usd: 9 },
  });
  expect(small.usage.calls).toBe(0);
  expect(bench.model.requests).toHaveLength(0);
  const enough = await bench.turn({ allowance });
  expect(enough.reply.type).toBe('output');
  expect(bench.model.requests).toHaveLength(1);
});

it('heartbeats come on a timer from the beginning, with what is known so far', async () => {
  const bench = await createBench({ scripts: [hang()] });
  beforeReads(bench.store, () => sleep(20));
  const env = bench.env();
  const beats: TurnProgress[] = [];
  const enough = new Promise<void>((resolve) => {
    env.on('heartbeat', (details: TurnProgress) => {
      beats.push(details);
      if (details.output_tokens > 0) resolve();
    });
  });
  const turn = runIn(env, bench.activities.modelTurn, bench.input({ delegation_id: 'task.d1' }));
  await enough;
  env.cancel();
  await turn;
  expect(beats[0]).toEqual({
    agent_id: 'writer',
    delegation_id: 'task.d1',
    stage: 'delegation',
    output_tokens: 0,
    last_words: '',
  });
  expect(beats.at(-1)).toEqual({
    agent_id: 'writer',
    delegation_id: 'task.d1',
    stage: 'delegation',
    turn: 1,
    output_tokens: 7,
    last_words: 'so far so good',
  });
  const count = beats.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(beats).toHaveLength(count);
});

it('storeText stores a text under its hash', async () => {
  const bench = await createBench();
  const { ref } = await runIn(bench.env(), bench.activities.storeText, { text: 'long' });
  expect(await bench.store.getText(ref)).toBe('long');
  bench.store.failingWrites = 1;
  const failure = await failureOf(runIn(bench.env(), bench.activities.storeText, { text: 'x' }));
  expect(failure).toMatchObject({ type: 'StoreUnavailable', nonRetryable: false });
});
