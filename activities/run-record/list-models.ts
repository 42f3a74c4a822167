import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { RunBudget } from '../../contracts/budget.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import { reliesOnPrices } from '../../core/budget/resolve-budget.ts';
import type { RecordDeps } from './deps.ts';

/**
 * Models that members of triads may be given: a model that a planner makes up would fail only when it is called. That
 * those which agents and members name are priced, where they have to be, `checkBudget` sees to.
 *
 * @param members Of the triads that came with the input: what a person typed may be meant for a provider nobody knows.
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
