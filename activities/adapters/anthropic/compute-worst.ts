import type { Spending } from '../../../contracts/budget.ts';
import type { ModelRequest } from '../../ports/model-client.ts';
import { countBytes } from '../../tools/cut-bytes.ts';
import { computeWorstCostMicroUsd } from '../prices.ts';
import { buildParams } from './build-params.ts';
import { RequestRefused } from './json-schemas.ts';

/** Tokens that the provider adds to a prompt with tools: its own instructions took up to 700. */
const providerTokens = 1_000;

/**
 * Computes the most that one call may take. No text has more tokens than bytes, so the bytes of the request bound its
 * prompt: about four times too much, but never too little.
 */
export function computeWorst(request: ModelRequest): Spending {
  const promptTokens = measureRequest(request) + providerTokens;
  const { model, maxOutputTokens } = request;
  return {
    calls: 1,
    tokens: promptTokens + maxOutputTokens,
    cost_micro_usd: computeWorstCostMicroUsd(model, promptTokens, maxOutputTokens),
  };
}

function measureRequest(request: ModelRequest): number {
  try {
    return countBytes(JSON.stringify(buildParams(request)));
  } catch (error) {
    // An unsendable request costs nothing; the call reports the reason.
    if (error instanceof RequestRefused) return 0;
    throw error;
  }
}
