import type { Usage } from '../../../contracts/usage.ts';
import type { ModelRequest } from '../../ports/model-client.ts';
import { countBytes } from '../../text/bytes.ts';
import { computeWorstUsage } from '../prices.ts';
import { buildParams } from './build-params.ts';
import { RequestRefused } from './json-schemas.ts';

/** Tokens that the provider adds to a prompt with tools: its own instructions took up to 700. */
const providerTokens = 1_000;

/**
 * Computes the most that one call may use. No text has more tokens than bytes, so the bytes of the request bound its
 * prompt: about four times too much, but never too little.
 */
export function computeWorst(request: ModelRequest): Usage {
  const promptTokens = measureRequest(request) + providerTokens;
  return computeWorstUsage(request.model, promptTokens, request.maxOutputTokens);
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
