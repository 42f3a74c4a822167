import type { Usage } from '../../contracts/usage.ts';
import type { Recorder } from '../../core/metrics/create-recorder.ts';
import { metrics, type LabelsOf } from '../../core/metrics/metrics.ts';
import { isAnyUsage, noUsage } from '../../core/usage/add-usage.ts';
import {
  ModelAborted,
  ModelFailure,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
} from '../ports/model-client.ts';
import type { AgentTurnDeps } from './deps.ts';

type CallResult = LabelsOf<typeof metrics.modelCallDuration>['result'];

/** The end of one request, and what it used. */
interface CallEnd {
  readonly result: CallResult;
  readonly usage: Usage;
}

/**
 * Counts time and usage of each request to the model as soon as it ends. Uses the same rule as a run's own usage, so
 * that the sums agree; but when a worker is killed, its counts are lost and the run's usage is not.
 */
export function meterModel(model: ModelClient, recorder: Recorder, pricing: Pricing): ModelClient {
  return {
    async complete(request, options) {
      const startedAtMs = performance.now();
      const note = ({ result, usage }: CallEnd): void => {
        const seconds = (performance.now() - startedAtMs) / 1_000;
        recorder.observe(metrics.modelCallDuration, { model: request.model, result }, seconds);
        if (isAnyUsage(usage)) recordUsage(recorder, request.model, usage);
      };
      try {
        const reply = await model.complete(request, options);
        note({ result: 'replied', usage: usageOfAnswer(pricing, request, reply) });
        return reply;
      } catch (error) {
        note(readEnd(error, pricing, request));
        throw error;
      }
    },
  };
}

function readEnd(error: unknown, pricing: Pricing, request: ModelRequest): CallEnd {
  if (error instanceof ModelAborted) {
    return { result: 'aborted', usage: usageOfAbort(pricing, request, error) };
  }
  if (error instanceof ModelFailure) {
    return { result: error.type, usage: error.details.usage ?? noUsage };
  }
  return { result: 'Internal', usage: noUsage };
}

function recordUsage(recorder: Recorder, model: string, usage: Usage): void {
  const count = (kind: LabelsOf<typeof metrics.tokens>['kind'], tokens: number): void =>
    recorder.count(metrics.tokens, { model, kind }, tokens);
  count('input', usage.input_tokens);
  count('cache_creation', usage.cache_creation_input_tokens);
  count('cache_read', usage.cache_read_input_tokens);
  count('output', usage.output_tokens);
  const unknown = Math.max(usage.unpriced_calls, usage.unreported_calls);
  recorder.count(metrics.unpricedCalls, { model }, unknown);
  if (usage.unpriced_calls < usage.calls) {
    recorder.observe(metrics.cost, { model }, usage.cost_micro_usd / 1_000_000);
  }
}

export type Pricing = Pick<AgentTurnDeps, 'computeUsage' | 'computeWorst'>;

/** Returns the usage of a call with a reply. A reply without counts may have used as much as the worst case. */
export function usageOfAnswer(
  { computeUsage, computeWorst }: Pricing,
  request: ModelRequest,
  { model, tokens }: Pick<ModelReply, 'model' | 'tokens'>,
): Usage {
  if (tokens !== null) return computeUsage({ requested: request.model, answered: model }, tokens);
  return { ...computeWorst(request), calls: 1, unpriced_calls: 1, unreported_calls: 0 };
}

/** Returns the usage of a cancelled call. One whose reply had not begun may have been billed. */
export function usageOfAbort(
  { computeUsage, computeWorst }: Pricing,
  request: ModelRequest,
  { model, tokens }: Pick<ModelAborted, 'model' | 'tokens'>,
): Usage {
  if (tokens === null) return computeWorst(request);
  return computeUsage({ requested: request.model, answered: model }, tokens);
}
