import type { Usage } from '../../contracts/usage.ts';
import type { ModelAborted, ModelReply, ModelRequest } from '../ports/model-client.ts';
import type { AgentTurnDeps } from './deps.ts';

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
