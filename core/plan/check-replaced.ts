/**
 * Checks the results that a plan replaces: each exists by then, is replaced once, and no other delegation builds on it.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { collectUpstream } from '../schedule/dependencies.ts';

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
