/**
 * Applies the Rule of Two to a plan: work that reads untrusted text, has private data and acts outside is asked about,
 * because a text could make it carry the data out.
 *
 * Invariants:
 *   RTW1. A delegation has the properties of every agent that may work in it: its own, a triad's members, a team's leader
 *        and members. A team whose agents are unknown counts as all agents.
 *   RTW2. Untrusted text and private data travel with results: along dependencies and required inputs, over any number of
 *        delegations, and from every earlier wave, because the planner and the facts carry those on. Acting outside
 *        does not travel.
 *   RTW3. A delegation is guarded exactly when it has all three properties. The reason names a source of each.
 *   RTW4. A cycle ends, and a name that nothing produces leads nowhere.
 */
import type {
  AgentSummary,
  Brought,
  Taint,
  ToolProperty,
} from '../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { GuardedDelegation, PlannedDelegation } from '../../contracts/messages.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { TeamSummary } from '../../contracts/team.ts';
import { collectUpstream } from '../schedule/dependencies.ts';
import { agentsOfDelegation } from '../team/summarise-teams.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';

/** Facts against which the rule is applied. */
export interface RuleContext {
  readonly agents: readonly AgentSummary[];
  readonly teams: readonly TeamSummary[] | null;
  /** Properties of the results of earlier waves. Absent when they have none. */
  readonly taint?: Taint;
}

/** A plan whose guarded delegations are marked, and the properties of all results after it. */
export interface RuledPlan {
  readonly plan: WavePlanOutline;
  /** Absent when no result has one. */
  readonly taint?: Taint;
}

export function applyRuleOfTwo(plan: WavePlanOutline, context: RuleContext): RuledPlan {
  const { taint: earlier = {} } = context;
  const { delegations } = plan;
  const own = new Map(delegations.map((d) => [d.delegation_id, bringsOf(d, context)]));
  const linked = new Map(
    delegations.map((d) => [d.delegation_id, { ...d, depends_on: sourcesOf(d, delegations) }]),
  );
  const brought = delegations.map((delegation): Brought => {
    const upstream = collectUpstream(linked.get(delegation.delegation_id) ?? delegation, linked);
    const results = upstream.map(({ delegation_id }) => nameSource(own, delegation_id));
    return { ...earlier, ...mergeFirst(results), ...own.get(delegation.delegation_id) };
  });
  const sources = delegations.map(({ delegation_id }) => nameSource(own, delegation_id));
  const taint = { ...mergeFirst(sources), ...earlier };
  return {
    plan: {
      ...plan,
      delegations: delegations.map((delegation, i) => {
        const reason = explainGuard(brought[i] ?? {});
        return reason === null ? delegation : { ...delegation, rule_of_two: reason };
      }),
    },
    ...(Object.keys(taint).length > 0 && { taint }),
  };
}

export function listGuarded(
  planned: readonly Pick<PlannedDelegation, 'delegation_id' | 'rule_of_two'>[],
): GuardedDelegation[] {
  return planned.flatMap(({ delegation_id, rule_of_two }) =>
    rule_of_two === undefined ? [] : [{ delegation_id, rule_of_two }],
  );
}

/** Words for people who see a guarded delegation. */
export function describeGuarded({ delegation_id, rule_of_two }: GuardedDelegation): string {
  return `${delegation_id} needs your approval for each call that changes something: it ${rule_of_two}`;
}

/** Returns why all three properties are there, as the end of a sentence; null when one is missing. */
function explainGuard({ untrusted_text, private_data, acts_outside }: Brought): string | null {
  if (untrusted_text === undefined || private_data === undefined || acts_outside === undefined) {
    return null;
  }
  return `reads untrusted text (${untrusted_text}), has private data (${private_data}) and acts outside (${acts_outside})`;
}

function bringsOf(delegation: DelegationOutline, { agents, teams }: RuleContext): Brought {
  const ids =
    agentsOfDelegation(delegation, teams) ??
    agents.map(({ agent_id }) => agent_id).filter((id) => id !== plannerAgentId);
  return mergeFirst(
    ids.flatMap((id) => agents.find((agent) => agent.agent_id === id)?.brings ?? []),
  );
}

/** Lists what a delegation gets results of: its dependencies, and those that produce what it requires. */
function sourcesOf(
  { depends_on, required_inputs }: DelegationOutline,
  delegations: readonly DelegationOutline[],
): string[] {
  const required = new Set(required_inputs);
  const producers = delegations.filter(
    ({ delegation_id, produces }) =>
      required.has(delegation_id) || produces.some((name) => required.has(name)),
  );
  return [...depends_on, ...producers.map(({ delegation_id }) => delegation_id)];
}

/** Returns what travels with the result of a delegation. */
function nameSource(own: ReadonlyMap<string, Brought>, delegationId: string): Taint {
  const { untrusted_text, private_data } = own.get(delegationId) ?? {};
  return {
    ...(untrusted_text !== undefined && { untrusted_text: `${untrusted_text} of ${delegationId}` }),
    ...(private_data !== undefined && { private_data: `${private_data} of ${delegationId}` }),
  };
}

/** Merges properties. The first source of each counts. */
function mergeFirst(all: readonly Brought[]): Brought {
  return Object.assign({}, ...all.toReversed());
}

/** Returns the properties of an agent with these tools, each with the first tool that brings it. */
export function bringsOfTools(
  tools: readonly string[],
  properties: Readonly<Record<string, readonly ToolProperty[]>>,
): Brought {
  const each = tools.map((tool) =>
    Object.fromEntries((properties[tool] ?? []).map((property) => [property, tool])),
  );
  return mergeFirst(each);
}
