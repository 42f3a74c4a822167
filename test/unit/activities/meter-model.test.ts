import { computeWorst } from '../../../activities/adapters/anthropic/build-params.ts';
import { computeUsage } from '../../../activities/adapters/prices.ts';
import { meterModel } from '../../../activities/agent-turn/meter-model.ts';
import { ModelAborted, ModelFailure } from '../../../activities/ports/model-client.ts';
import type { ModelReply, ModelRequest } from '../../../activities/ports/model-client.ts';
import { createRecorder } from '../../../core/metrics/create-recorder.ts';
import { metrics } from '../../../core/metrics/metrics.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { createMemoryMeter } from '../../support/memory-meter.ts';

const tokens = {
  inputTokens: 10,
  cacheCreationInputTokens: 20,
  cacheReadInputTokens: 30,
  outputTokens: 40,
};

const request: ModelRequest = {
  model: 'claude-sonnet-5-5',
  maxOutputTokens: 100,
  system: [],
  messages: [],
  tools: [],
  callKey: 'run/key',
};

const reply: ModelReply = {
  content: [{ type: 'text', text: 'a secret' }],
  stopReason: 'end_turn',
  tokens,
  requestId: 'req',
  model: 'claude-sonnet-5-5-20261001',
};

const pricing = { computeUsage, computeWorst };

/** Counts one call and returns what the meter holds. */
async function countCall(answer: () => ModelReply) {
  const meter = createMemoryMeter();
  const model = meterModel({ complete: async () => answer() }, createRecorder(meter), pricing);
  const options = { signal: new AbortController().signal, onProgress: () => {} };
  const end = await model.complete(request, options).catch((error: unknown) => error);
  const results = meter
    .values()
    .filter(({ name }) => name === metrics.modelCallDuration.name)
    .map(({ labels }) => labels['result']);
  return { end, results, total: (name: string) => meter.total(name), values: meter.values() };
}

function fail(error: Error): () => never {
  return () => {
    throw error;
  };
}

function failure(usage: ModelFailure['details']['usage']): ModelFailure {
  return new ModelFailure('cut off', {
    type: 'ModelUnavailable',
    retryable: true,
    details: { status: null, type: null, error_code: null, request_id: null, model: 'm', usage },
  });
}

it('counts time, tokens and cost of a reply under the name of the model that was asked', async () => {
  const { end, results, total, values } = await countCall(() => reply);
  expect(end).toBe(reply);
  expect(results).toEqual(['replied']);
  expect(total(metrics.tokens.name)).toBe(100);
  expect(Math.round(total(metrics.cost.name) * 1_000_000)).toBe(
    computeUsage({ requested: request.model, answered: reply.model }, tokens).cost_micro_usd,
  );
  expect(total(metrics.unpricedCalls.name)).toBe(0);
  expect(new Set(values.map(({ labels }) => labels['model']))).toEqual(new Set([request.model]));
});

it('counts what an aborted call was billed', async () => {
  const { end, results, total } = await countCall(
    fail(new ModelAborted('claude-sonnet-5-5', tokens)),
  );
  expect(end).toBeInstanceOf(ModelAborted);
  expect(results).toEqual(['aborted']);
  expect(total(metrics.tokens.name)).toBe(100);
});

it('counts what a failed call was billed, and no cost where nobody knows one', async () => {
  const usage = { ...noUsage, calls: 1, input_tokens: 7, unpriced_calls: 1 };
  const { results, total, values } = await countCall(fail(failure(usage)));
  expect(results).toEqual(['ModelUnavailable']);
  expect(total(metrics.tokens.name)).toBe(7);
  expect(total(metrics.unpricedCalls.name)).toBe(1);
  expect(values.filter(({ name }) => name === metrics.cost.name)).toEqual([]);
});

it.each([
  ['a refused one', failure(null), 'ModelUnavailable'],
  ['a fault of our own', new TypeError('x'), 'Internal'],
])('of %s counts only that it was', async (_what, error, result) => {
  const { end, results, values } = await countCall(fail(error));
  expect(end).toBe(error);
  expect(results).toEqual([result]);
  expect(values).toHaveLength(1);
});
