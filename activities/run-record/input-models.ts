import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { RunBudget } from '../../contracts/budget.ts';
import { reliesOnPrices } from '../../core/budget/resolve-budget.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { RecordDeps } from './deps.ts';
import type { InputFault } from './describe-input-issues.ts';
import type { RunRequest } from './read-input.ts';
import type { TriadMember } from '../../contracts/triad.ts';

/** Members of all triads that came with an input: of its delegations, of its teams, and of its plan's verifiers. */
export function listTypedMembers({
  delegations,
  teams,
  plan,
}: Pick<RunRequest, 'delegations' | 'teams' | 'plan'>): readonly TriadMember[] {
  const executors = (delegations ?? []).map(({ executor }) => executor);
  const ofTriads = executors.flatMap((one) => (one.kind === 'triad' ? one.members : []));
  const planned = executors.flatMap((one) => (one.kind === 'team' ? [one] : []));
  const inTeams = [...planned, ...(teams ?? [])].flatMap(({ members = [] }) => members);
  const withTriads = [...inTeams, ...(plan?.agents ?? [])];
  return [...ofTriads, ...withTriads.flatMap(({ triad }) => triad?.members ?? [])];
}

/** Leaders that were given a model of their own, under the names of their teams. */
export function listTypedLeaders({
  teams,
}: Pick<RunRequest, 'teams'>): readonly { readonly name: string; readonly model: string }[] {
  return (teams ?? []).flatMap(({ team_id, model }) =>
    model === undefined ? [] : [{ name: team_id, model }],
  );
}

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
