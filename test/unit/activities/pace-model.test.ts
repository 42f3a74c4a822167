import { mkdir, writeFile } from 'node:fs/promises';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import { paceModel } from '../../../activities/load/pace-model.ts';
import { ModelFailure } from '../../../activities/ports/model-client.ts';
import type { ModelReply, ModelRequest } from '../../../activities/ports/model-client.ts';
import { createSuspension } from '../../support/suspension.ts';
import { createTemporaryHome } from '../adapters/temporary-home.ts';
import type { TemporaryHome } from '../adapters/temporary-home.ts';

const request: ModelRequest = {
  model: 'claude-sonnet-5-5',
  maxOutputTokens: 100,
  system: [],
  messages: [],
  tools: [],
  callKey: 'run/key',
};
const reply: ModelReply = {
  content: [],
  stopReason: 'end_turn',
  tokens: null,
  requestId: 'req',
  model: request.model,
};

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

function limited(retryAfterMs: number | undefined, status = 429): ModelFailure {
  const nothing = { type: null, error_code: null, request_id: null, usage: null };
  return new ModelFailure('limited', {
    type: 'ModelUnavailable',
    retryable: true,
    retryAfterMs,
    details: { ...nothing, status, model: request.model },
  });
}

type End = ModelFailure | ModelReply;

/** A worker with a store of its own over the same home, whose model gives these ends one after the other. */
function worker(clock: { now: number }, ends: (End | (() => Promise<End>))[], account = 'a') {
  const made: number[] = [];
  const complete = async (): Promise<ModelReply> => {
    made.push(clock.now);
    const next = ends.shift() ?? reply;
    const end = typeof next === 'function' ? await next() : next;
    if (end instanceof ModelFailure) throw end;
    return end;
  };
  const values = openStores({ home: at.home }).shared;
  const model = paceModel(
    { complete },
    { values, account, now: () => clock.now, random: () => 0.4 },
  );
  const options = { signal: new AbortController().signal, onProgress: () => {} };
  const call = () => model.complete(request, options).catch((error: unknown) => error);
  return { call, made };
}

it('PM1: a 429 of one worker stops the calls of all others to the same account until its time', async () => {
  const clock = { now: 1_000_000 };
  const first = worker(clock, [limited(4_000)]);
  const second = worker(clock, []);
  expect(await first.call()).toMatchObject({ message: 'limited' });
  clock.now += 1_000;
  for (const one of [first, second]) {
    // 3 s are left, and a tenth of them spreads the calls that follow.
    expect(await one.call()).toMatchObject({
      type: 'ModelUnavailable',
      retryable: true,
      retryAfterMs: 3_300,
      details: { status: 429, usage: null },
      message: expect.stringContaining('tried again by itself in 4 s'),
    });
  }
  expect([first.made, second.made]).toEqual([[1_000_000], []]);
  expect(await worker(clock, [], 'another').call()).toBe(reply);
  clock.now += 3_000;
  expect(await second.call()).toBe(reply);
});

it('PM1: a 429 that names no time stops the calls of all for five seconds, other failures stop none', async () => {
  const clock = { now: 1_000_000 };
  const first = worker(clock, [limited(60_000, 529), limited(undefined)]);
  const second = worker(clock, []);
  await first.call();
  expect(await second.call()).toBe(reply);
  await first.call();
  expect(await second.call()).toMatchObject({ retryAfterMs: 5_500 });
  clock.now += 5_000;
  expect(await second.call()).toBe(reply);
});

it('PM2: an earlier time replaces no later one', async () => {
  const clock = { now: 1_000_000 };
  // Both are in flight at the same time: no reply comes before both calls are there.
  let there = 0;
  const met = createSuspension();
  const limitedTogether = async (retryAfterMs: number): Promise<End> => {
    there += 1;
    if (there < 2) await met.here();
    else met.goOn();
    return limited(retryAfterMs);
  };
  const late = worker(clock, [() => limitedTogether(60_000)]);
  const early = worker(clock, [() => limitedTogether(5_000)]);
  const [, first] = await Promise.all([late.call(), early.call()]);
  expect(first).toMatchObject({ message: 'limited' });
  clock.now += 6_000;
  expect(await early.call()).toMatchObject({ retryAfterMs: 59_400 });
  // A clock that is far ahead holds nobody up for more than a quarter of an hour and the spread.
  clock.now -= 10_000_000;
  expect(await early.call()).toMatchObject({ retryAfterMs: 990_000 });
});

it('PM3: a store that can not be read stops no call', async () => {
  await mkdir(at.home, { recursive: true });
  await writeFile(`${at.home}/shared`, 'no folder');
  const one = worker({ now: 1 }, [limited(60_000)]);
  expect(await one.call()).toMatchObject({ message: 'limited' });
  expect(await one.call()).toBe(reply);
});

it('PM4: a worker whose clock is ahead holds the others up no longer than it was asked to wait', async () => {
  const ahead = { now: 5_000_000 };
  const clock = { now: 1_000_000 };
  const first = worker(ahead, [limited(4_000)]);
  const [second, third] = [worker(clock, [reply, limited(2_000)]), worker(clock, [])];
  await first.call();
  for (const one of [second, third])
    expect(await one.call()).toMatchObject({ retryAfterMs: 4_400 });
  clock.now += 4_000;
  expect([await second.call(), await third.call()]).toEqual([reply, reply]);
  // What a right clock says now counts, although it is earlier.
  expect(await second.call()).toMatchObject({ message: 'limited' });
  expect(await third.call()).toMatchObject({ retryAfterMs: 2_200 });
  clock.now += 2_000;
  expect(await third.call()).toBe(reply);
});
