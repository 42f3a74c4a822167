import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { RunBudget } from '../../contracts/budget.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import { reliesOnPrices } from '../../core/budget/resolve-budget.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { InputFault } from './input-fault.ts';

/**
 * Checks that a limit on money alone has known prices; otherwise tokens must be limited.
 *
 * @param members Members of the triads in the input.
 */
export function checkBudget(
  budget: RunBudget | null,
  agents: readonly AgentDefinition[],
  members: readonly Pick<TriadMember, 'name' | 'model'>[],
  isPriced: (model: string | null) => boolean,
): readonly InputFault[] {
  if (budget === null || !reliesOnPrices(budget)) return [];
  const unpriced = [
    ...agents.filter(({ model }) => !isPriced(model)).map(({ agent_id }) => agent_id),
    ...members
      .filter(({ model }) => model !== undefined && !isPriced(model))
      .map(({ name }) => name),
  ];
  if (unpriced.length === 0) return [];
  return [
    {
      path: 'budget.usd',
      reason:
        `the price of the model is not known for ${listNames(unpriced)}, so money alone is no limit. ` +
        'Try: a limit in tokens wherever there is one in usd, as {"usd":5,"tokens":1000000}',
    },
  ];
}
