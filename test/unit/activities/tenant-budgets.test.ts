import { mkdir, rm, writeFile } from 'node:fs/promises';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import { computeWorst } from '../../../activities/adapters/anthropic/build-params.ts';
import { computeUsage } from '../../../activities/adapters/prices.ts';
import { createTenantBudgets, limitTenants } from '../../../activities/load/tenant-budgets.ts';
import { spendingOf } from '../../../core/budget/spending.ts';
import { ModelAborted, ModelFailure } from '../../../activities/ports/model-client.ts';
import type { ModelReply, ModelRequest } from '../../../activities/ports/model-client.ts';
import type { SharedValues } from '../../../activities/ports/shared-values.ts';
import { eventually } from '../../support/eventually.ts';
import { createTemporaryHome } from '../adapters/temporary-home.ts';
import type { TemporaryHome } from '../adapters/temporary-home.ts';

const request: ModelRequest = {
  model: 'claude-sonnet-5-5',
  maxOutputTokens: 10_000,
  system: [],
  messages: [],
  tools: [],
  callKey: 'run/key',
};
/** 0.1 US dollars of output. */
const worst = spendingOf(computeWorst(request)).cost_micro_usd;
const counts = { inputTokens: 0, cacheCreationInputTokens: 0, cacheReadInputTokens: 0 };
const reply: ModelReply = {
  content: [],
  stopReason: 'end_turn',
  // 0.01 US dollars.
  tokens: { ...counts, outputTokens: 1_000 },
  requestId: 'req',
  model: request.model,
};
const used = 10_000;

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const noon = Date.parse('2026-11-25T12:00:00Z');

/** A worker with a store of its own over the same home, whose calls all end like this. */
function worker(
  end: () => Promise<ModelReply> = async () => reply,
  values: SharedValues = openStores({ home: at.home }).shared,
) {
  let made = 0;
  const complete = (): Promise<ModelReply> => {
    made += 1;
    return end();
  };
  const model = limitTenants(
    { complete },
    { values, pricing: { computeUsage, computeWorst }, now: () => noon },
  );
  const call = (name: string, attempt = 1, tenant = 'acme') =>
    model
      .complete(request, {
        signal: new AbortController().signal,
        onProgress: () => {},
        payer: { tenant, call: name, attempt, worst_micro_usd: worst },
      })
      .catch((error: unknown) => error);
  return { call, made: () => made };
}

const budgets = () => createTenantBudgets(openStores({ home: at.home }).shared, () => noon);

it('LT1: many workers of one tenant spend no more than its limit, and the calls of others go on', async () => {
  await budgets().set('acme', 3 * worst);
  const workers = [worker(), worker(), worker()];
  let made = 0;
  for (let round = 0; ; round += 1) {
    const calls = workers.flatMap(({ call }, nth) =>
      [1, 2, 3, 4].map((one) => call(`${round}.${nth}.${one}`)),
    );
    // oxlint-disable-next-line no-await-in-loop
    const ends = await Promise.all(calls);
    made += ends.filter((end) => end === reply).length;
    if (ends.every((end) => end instanceof ModelFailure && !end.retryable)) break;
  }
  expect(await budgets().read('acme')).toMatchObject({
    spent_micro_usd: made * used,
    reserved_micro_usd: 0,
  });
  expect(made * used).toBeLessThanOrEqual(3 * worst);
  expect(made * used).toBeGreaterThan(2 * worst);
  expect(await worker().call('other', 1, 'umbrella')).toBe(reply);
});

it('LT1: every end of a call settles it with what was billed', async () => {
  await budgets().set('acme', 10 * worst);
  const spent = async () => {
    const day = await budgets().read('acme');
    return [day?.spent_micro_usd, day?.reserved_micro_usd];
  };
  const details = { status: 500, type: null, error_code: null, request_id: null };
  const failing = (usage: ModelFailure['details']['usage']) => async () => {
    const known = { ...details, model: request.model, usage };
    throw new ModelFailure('out', { type: 'ModelUnavailable', retryable: true, details: known });
  };
  await worker(failing(null)).call('a');
  expect(await spent()).toEqual([0, 0]);
  await worker(failing(computeWorst(request))).call('b');
  expect(await spent()).toEqual([worst, 0]);
  await worker(async () => {
    throw new ModelAborted(request.model, reply.tokens);
  }).call('c');
  expect(await spent()).toEqual([worst + used, 0]);
  await worker(async () => ({ ...reply, tokens: null })).call('d');
  expect(await spent()).toEqual([2 * worst + used, 0]);
  await worker(async () => {
    throw new TypeError('a fault of our own');
  }).call('e');
  expect(await spent()).toEqual([3 * worst + used, 0]);
});

it('LT1: the next attempt at a call whose worker was killed leaves its whole reservation charged', async () => {
  await budgets().set('acme', 10 * worst);
  void worker(() => new Promise(() => {})).call('a');
  await expectReserved(worst);
  expect(await worker().call('a', 2)).toBe(reply);
  expect(await budgets().read('acme')).toMatchObject({
    spent_micro_usd: worst + used,
    reserved_micro_usd: 0,
  });
});

it('LT1: a store that does not know that it has reserved charges nothing for that', async () => {
  const { shared } = openStores({ home: at.home });
  await budgets().set('acme', 10 * worst);
  let answers = 0;
  const values: SharedValues = {
    ...shared,
    replace: async (...args) => {
      answers += 1;
      // As when the connection is cut, and another worker has built on the new version.
      return (await shared.replace(...args)) && answers > 1;
    },
  };
  expect(await worker(undefined, values).call('a')).toBe(reply);
  expect(await budgets().read('acme')).toMatchObject({ spent_micro_usd: used });
});

async function expectReserved(amount: number): Promise<void> {
  await eventually('a reservation', async () => {
    const day = await budgets().read('acme');
    return day?.reserved_micro_usd === amount;
  });
}

it('LT2: a call that does not fit is not made; it is tried again soon only where calls in progress hold the money', async () => {
  await budgets().set('acme', 1.5 * worst);
  const first = worker(() => new Promise(() => {}));
  void first.call('a');
  await expectReserved(worst);
  const second = worker();
  expect(await second.call('b')).toMatchObject({
    type: 'TenantBudget',
    retryable: true,
    message: expect.stringContaining('budget set acme'),
    details: { status: null, usage: null, resume_at: noon + 30_000 },
  });
  await budgets().set('acme', 0.5 * worst);
  expect(await second.call('b')).toMatchObject({ type: 'TenantBudget', retryable: false });
  expect(second.made()).toBe(0);
  expect(await budgets().remove('acme')).toBe(true);
  expect(await second.call('b')).toBe(reply);
});

it('LT3: a budget that can not be read stops the call, and one that can not be settled loses no reply', async () => {
  await budgets().set('acme', 10 * worst);
  const losing = worker(async () => {
    await rm(`${at.home}/shared`, { recursive: true });
    await writeFile(`${at.home}/shared`, 'no folder');
    return reply;
  });
  expect(await losing.call('a')).toBe(reply);
  const next = worker();
  expect(await next.call('b')).toMatchObject({
    name: 'ModelFailure',
    type: 'StoreUnavailable',
    retryable: true,
    details: { usage: null },
  });
  expect(next.made()).toBe(0);
});

it('LT3: a value of another shape is no missing budget', async () => {
  const { shared } = openStores({ home: at.home });
  await mkdir(at.home, { recursive: true });
  await shared.replace('budget/acme', { limit_micro_usd: 5 }, 0);
  expect(await worker().call('a')).toMatchObject({
    type: 'StoreUnavailable',
    message: expect.stringContaining('update planwave'),
  });
  // Whoever sets it again after removing it has a budget as it should be.
  await budgets().remove('acme');
  await budgets().set('acme', worst);
  expect(await worker().call('a')).toBe(reply);
});

it('budgets are listed by tenant, without those that were removed', async () => {
  for (const tenant of ['umbrella', 'acme', 'gone']) {
    // oxlint-disable-next-line no-await-in-loop
    await budgets().set(tenant, worst);
  }
  expect(await budgets().remove('gone')).toBe(true);
  expect(await budgets().remove('gone')).toBe(false);
  expect((await budgets().list()).map(({ tenant }) => tenant)).toEqual(['acme', 'umbrella']);
  await worker().call('a');
  // A new limit forgets nothing.
  expect(await budgets().set('acme', 2 * worst)).toMatchObject({
    limit_micro_usd: 2 * worst,
    spent_micro_usd: used,
    ends_at: Date.parse('2026-11-26T00:00:00Z') / 1_000,
  });
});
