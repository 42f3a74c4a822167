import type { Usage } from '../../../contracts/usage.ts';
import type { ModelRequest } from '../../ports/model-client.ts';
import { countBytes } from '../../text/bytes.ts';
import { computeWorstUsage } from '../prices.ts';
import { buildParams } from './build-params.ts';
import { RequestRefused } from './json-schemas.ts';

/** Tokens that the provider adds to a prompt with tools: its own instructions took up to 700. */
const providerTokens = 1_000;

/** Tokens of the results of one search. The provider names no limit; ten results of a page took less. */
const searchTokens = 10_000;

/**
 * Computes the most that one call may use. No text has more tokens than bytes, so the bytes of the request bound its
 * prompt: about four times too much, but never too little.
 */
export function computeWorst(request: ModelRequest): Usage {
  const { web, model, maxOutputTokens } = request;
  const foundTokens =
    web === undefined ? 0 : web.searchesMax * searchTokens + web.fetchesMax * web.pageTokensMax;
  const promptTokens = measureRequest(request) + providerTokens + foundTokens;
  return computeWorstUsage(model, promptTokens, maxOutputTokens, web?.searchesMax);
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
