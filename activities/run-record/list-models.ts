import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { RunBudget } from '../../contracts/budget.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import { reliesOnPrices } from '../../core/budget/resolve-budget.ts';
import type { RecordDeps } from './deps.ts';

/**
 * Lists models that members of triads may get: an invented model would fail only when it is called. `checkBudget`
 * checks the prices of models that agents and members name.
 *
 * @param members Members of the triads in the input: a typed model may belong to an unknown provider.
 */
export function listModels(
  { models, isPriced }: Pick<RecordDeps, 'models' | 'isPriced'>,
  budget: RunBudget | null,
  agents: readonly AgentDefinition[],
  members: readonly Pick<TriadMember, 'model'>[],
): readonly string[] {
  const named = [...agents, ...members].flatMap(({ model }) => model ?? []);
  const listed = budget !== null && reliesOnPrices(budget) ? models.filter(isPriced) : models;
  return [...new Set([...named, ...listed])];
}
