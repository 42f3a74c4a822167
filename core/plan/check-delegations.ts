/** Checks a plan one delegation after the other: executor, id, criteria. */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { collectUpstream } from '../schedule/dependencies.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { checkAgent } from '../triad/check-triad.ts';

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
      ...checkAgent(delegation.agent_id, `${path}.agent_id`, context.agents),
      ...checkId(delegation.delegation_id, path, { before, earlier }),
      ...checkCriteria(delegation, path),
    ];
  });
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

/**
 * Checks the results that a plan replaces: each exists by then, is replaced once, and no other delegation builds on it.
 */

/**
 * @param earlier Ids of earlier delegations whose results count.
 */
export function checkReplaced(
  delegations: readonly DelegationOutline[],
  earlier: readonly string[],
): OutputFault[] {
  const byId = new Map(delegations.map((one) => [one.delegation_id, one]));
  const planned: Planned[] = delegations.map((one, i) => ({
    delegation_id: one.delegation_id,
    replaces: one.replaces,
    path: `delegations[${i}]`,
    upstream: new Set(collectUpstream(one, byId).map(({ delegation_id }) => delegation_id)),
  }));
  return planned.flatMap((one) => {
    const { replaces, upstream } = one;
    if (replaces === undefined) return [];
    const path = `${one.path}.replaces`;
    const first = planned.find((other) => other.replaces === replaces);
    if (first !== undefined && first !== one) {
      const reason = `"${cutText(replaces, 60)}" is replaced by ${first.path} already`;
      return [{ path, reason, hint: 'Try: one delegation for each result that is replaced' }];
    }
    if (!byId.has(replaces)) {
      return earlier.includes(replaces) ? [] : [unknown(path, replaces, earlier)];
    }
    if (!upstream.has(replaces)) {
      const reason = `"${replaces}" is of this wave, and depends_on does not lead there, so nobody knows which of the two comes last`;
      return [{ path, reason, hint: `Try: add "${replaces}" to depends_on` }];
    }
    return planned.flatMap((other) => checkOther(other, one, replaces));
  });
}

/** A delegation of the plan with all its dependencies. */
interface Planned {
  readonly delegation_id: string;
  readonly replaces: string | undefined;
  readonly path: string;
  readonly upstream: ReadonlySet<string>;
}

/** Checks a delegation that builds on the older version: it must precede the newer one, or build on that too. */
function checkOther(other: Planned, newer: Planned, older: string): OutputFault[] {
  const isFine =
    other === newer ||
    !other.upstream.has(older) ||
    other.upstream.has(newer.delegation_id) ||
    newer.upstream.has(other.delegation_id);
  if (isFine) return [];
  return [
    {
      path: `${other.path}.depends_on`,
      reason: `it builds on "${older}", which "${newer.delegation_id}" replaces`,
      hint: `Try: depend on "${newer.delegation_id}"; or let "${newer.delegation_id}" depend on "${other.delegation_id}"`,
    },
  ];
}

function unknown(path: string, id: string, earlier: readonly string[]): OutputFault {
  return {
    path,
    reason: `"${cutText(id, 60)}" has no result that could be replaced`,
    hint:
      earlier.length === 0
        ? 'Try: leave it out, or name a delegation of this wave that it depends on'
        : `Try: leave it out, or one of ${listNames(earlier)}`,
  };
}
