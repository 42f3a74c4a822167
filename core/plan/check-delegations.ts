/** Checks a plan one delegation after the other: executor, id, criteria. */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

/** Pattern of `Slug` in the contracts, repeated here because `core` does not load zod. */
const slugPattern = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export function checkDelegations(
  delegations: readonly DelegationOutline[],
  context: {
    readonly agents: readonly AgentSummary[];
    readonly delegation_ids: readonly string[];
  },
): OutputFault[] {
  const earlier = new Set(context.delegation_ids);
  const first = new Map<string, number>();
  return delegations.flatMap((delegation, i) => {
    const path = `delegations[${i}]`;
    const before = first.get(delegation.delegation_id);
    if (before === undefined) first.set(delegation.delegation_id, i);
    return [
      ...checkExecutor(delegation.agent_id, `${path}.agent_id`, context.agents),
      ...checkId(delegation.delegation_id, path, { before, earlier }),
      ...checkCriteria(delegation, path),
    ];
  });
}

/** Checks that the executor is an agent of the registry, and not the planner. */
export function checkExecutor(
  id: string,
  path: string,
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): OutputFault[] {
  const executors = agents.map((agent) => agent.agent_id).filter((one) => one !== plannerAgentId);
  if (executors.includes(id)) return [];
  return [
    {
      path,
      reason:
        id === plannerAgentId
          ? 'the planner plans and decides; it is no executor'
          : `there is no agent "${cutText(id, 60)}"`,
      hint: `Try: one of ${listNames(executors)}`,
    },
  ];
}

function checkId(
  id: string,
  path: string,
  used: { readonly before: number | undefined; readonly earlier: ReadonlySet<string> },
): OutputFault[] {
  const faults: OutputFault[] = [];
  const fault = (reason: string, hint: string): void => {
    faults.push({ path: `${path}.delegation_id`, reason, hint });
  };
  if (!slugPattern.test(id)) {
    fault(
      `"${cutText(id, 60)}" is no valid delegation_id: 1 to 40 lower-case letters, digits, "-" or "_"`,
      `Try: "${toSlug(id)}"`,
    );
  }
  if (used.before !== undefined) {
    fault(
      `"${cutText(id, 60)}" is the delegation_id of delegations[${used.before}] already`,
      'Try: an id of its own for each delegation',
    );
  }
  if (used.earlier.has(id)) {
    fault(
      `"${id}" was used in an earlier wave`,
      `Try: a new id, such as "${toSlug(`${id}-again`)}"`,
    );
  }
  return faults;
}

function checkCriteria(delegation: DelegationOutline, path: string): OutputFault[] {
  const ids = delegation.criterion_ids;
  const at = `${path}.acceptance_criteria`;
  if (ids.length === 0) {
    return [
      {
        path: at,
        reason:
          'the delegation has no acceptance criteria, so nobody could tell whether it is done',
        hint: 'Try: at least one statement that can be checked',
      },
    ];
  }
  return ids.flatMap((id, i) => {
    const itemPath = `${at}[${i}].criterion_id`;
    if (ids.indexOf(id) !== i) {
      const reason = `"${cutText(id, 60)}" is listed twice in this delegation`;
      return [{ path: itemPath, reason, hint: 'Try: keep it once' }];
    }
    if (slugPattern.test(id)) return [];
    const reason = `"${cutText(id, 60)}" is no valid criterion_id: 1 to 40 lower-case letters, digits, "-" or "_"`;
    return [{ path: itemPath, reason, hint: `Try: "${toSlug(id)}"` }];
  });
}

/** Returns the nearest valid id, for a hint. */
function toSlug(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 40)
    .replace(/(?<![-_])[-_]+$/, '');
  return slug === '' ? 'market-research' : slug;
}
