/** Checks the inputs and outputs of a plan's delegations: each gets what it needs (seed 004 §3.1, §13). */
import type { Delegation, DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { collectUpstream, findCycle } from '../schedule/dependencies.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

export function checkInputs(
  delegations: readonly DelegationOutline[],
  knownInputs: readonly string[],
): OutputFault[] {
  const known = new Set(knownInputs);
  const byId = new Map(delegations.map((d) => [d.delegation_id, d]));
  return [
    ...delegations.flatMap((delegation, i) => [
      ...checkProvided(delegation, `delegations[${i}]`, knownInputs),
      ...checkRequired(delegation, `delegations[${i}]`, { known, byId }),
    ]),
    ...checkProducers(delegations),
  ];
}

function checkProvided(
  delegation: DelegationOutline,
  path: string,
  knownInputs: readonly string[],
): OutputFault[] {
  return delegation.provided_inputs.flatMap((name, i) =>
    knownInputs.includes(name)
      ? []
      : [
          {
            path: `${path}.provided_inputs[${i}]`,
            reason: `"${cutText(name, 120)}" does not exist yet, so it cannot be provided`,
            hint: `Try: leave it out and depend on who produces it. Known inputs: ${listNames(knownInputs)}`,
          },
        ],
  );
}

interface Sources {
  readonly known: ReadonlySet<string>;
  readonly byId: ReadonlyMap<string, DelegationOutline>;
}

function checkRequired(
  delegation: DelegationOutline,
  path: string,
  sources: Sources,
): OutputFault[] {
  const upstream = collectUpstream(delegation, sources.byId);
  const given = new Set([
    ...sources.known,
    ...delegation.provided_inputs,
    ...upstream.flatMap((d) => [d.delegation_id, ...d.produces]),
  ]);
  return delegation.required_inputs.flatMap((name, i) =>
    given.has(name)
      ? []
      : [
          {
            path: `${path}.required_inputs[${i}]`,
            ...explainMissing(name, delegation.delegation_id, sources),
          },
        ],
  );
}

/** Explains how to repair the plan, depending on who could produce the input. */
function explainMissing(
  name: string,
  self: string,
  { known, byId }: Sources,
): Omit<OutputFault, 'path'> {
  const shown = `"${cutText(name, 120)}"`;
  const producer = [...byId.values()].find(
    (d) => d.delegation_id !== self && (d.delegation_id === name || d.produces.includes(name)),
  );
  if (producer !== undefined) {
    return {
      reason: `${shown} is produced by "${producer.delegation_id}", but depends_on does not lead there`,
      hint: `Try: add "${producer.delegation_id}" to depends_on`,
    };
  }
  return {
    reason: `${shown} is not known, and no other delegation produces it`,
    hint: `Try: a delegation that produces it, or leave it out. Known inputs: ${listNames([...known])}`,
  };
}

/**
 * Checks that no delegation which needs its inputs met builds on a result of an earlier wave that leaves criteria open: it
 * would start at once.
 *
 * @param unmetInputs Names of such results.
 */
export function checkNeeds(
  delegations: readonly NeedingInputs[],
  unmetInputs: readonly string[],
): OutputFault[] {
  const byId = new Map(delegations.map((d) => [d.delegation_id, d]));
  return delegations.flatMap((delegation, i) => {
    if (delegation.needs !== 'met') return [];
    const upstream = collectUpstream(delegation, byId);
    const newer = new Set(upstream.flatMap((d) => [...d.produces, d.replaces]));
    const unmet = delegation.required_inputs.filter(
      (name) => unmetInputs.includes(name) && !newer.has(name),
    );
    if (unmet.length === 0) return [];
    return [
      {
        path: `delegations[${i}].needs`,
        reason: `needs is "met", but these results of earlier waves leave criteria open: ${listNames(unmet)}`,
        hint: 'Try: depend on a delegation of this wave that replaces the result, or needs "completed"',
      },
    ];
  });
}

type NeedingInputs = Pick<
  Delegation,
  'delegation_id' | 'required_inputs' | 'depends_on' | 'produces' | 'replaces' | 'needs'
>;

/** Checks that each name has one producer. A delegation_id names its output, so it counts as produced. */
function checkProducers(delegations: readonly DelegationOutline[]): OutputFault[] {
  const producerOf = new Map(delegations.map((d) => [d.delegation_id, d.delegation_id]));
  return delegations.flatMap((delegation, i) =>
    delegation.produces.flatMap((name, j) => {
      const other = producerOf.get(name);
      // A version that replaces another produces the same names.
      if (other === undefined || [delegation.delegation_id, delegation.replaces].includes(other)) {
        producerOf.set(name, delegation.delegation_id);
        return [];
      }
      return [
        {
          path: `delegations[${i}].produces[${j}]`,
          reason: `"${cutText(name, 120)}" is produced by "${other}" too`,
          hint: 'Try: a name of its own for each result',
        },
      ];
    }),
  );
}

/**
 * Checks of a plan's dependencies: that they exist, and that they have an order.
 */

/** @param earlierIds delegation_ids of earlier waves. */
export function checkDependencies(
  delegations: readonly DelegationOutline[],
  earlierIds: readonly string[],
): OutputFault[] {
  const ids = delegations.map((d) => d.delegation_id);
  const faults = delegations.flatMap((delegation, i) =>
    delegation.depends_on.flatMap((id, j) => {
      const fault = checkDependency(id, delegation.delegation_id, { ids, earlierIds });
      return fault === null ? [] : [{ path: `delegations[${i}].depends_on[${j}]`, ...fault }];
    }),
  );
  return [...faults, ...checkCycle(delegations)];
}

function checkDependency(
  id: string,
  self: string,
  known: { readonly ids: readonly string[]; readonly earlierIds: readonly string[] },
): Omit<OutputFault, 'path'> | null {
  if (id === self) return { reason: `"${id}" depends on itself`, hint: 'Try: leave it out' };
  if (known.ids.includes(id)) return null;
  if (known.earlierIds.includes(id)) {
    return {
      reason: `"${id}" is a delegation of an earlier wave`,
      hint: `Try: leave it out of depends_on, and list "${id}" in required_inputs and provided_inputs if its output is needed and known`,
    };
  }
  const others = known.ids.filter((other) => other !== self);
  return {
    reason: `there is no delegation "${cutText(id, 60)}" in this plan`,
    hint: `Try: one of ${listNames(others)}, or leave it out`,
  };
}

/** Self-dependencies have a fault of their own. */
function checkCycle(delegations: readonly DelegationOutline[]): OutputFault[] {
  const edges = new Map(
    delegations.map((d) => [d.delegation_id, d.depends_on.filter((id) => id !== d.delegation_id)]),
  );
  const cycle = findCycle(edges);
  if (cycle === null) return [];
  const index = delegations.findIndex((d) => d.delegation_id === cycle[0]);
  return [
    {
      path: `delegations[${index}].depends_on`,
      reason: `the dependencies form a cycle: ${cycle.join('→')}`,
      hint: 'Try: remove one of these dependencies, or merge the delegations',
    },
  ];
}

/**
 * Fills in what follows from the names in a plan, so that a planner need not say it twice.
 *
 * Invariants:
 *   LI1. What a plan says stays; names are only added, each once.
 *   LI2. A required input that the run knows is provided.
 *   LI3. A required input that the run does not know, and that another delegation of the plan produces, makes that one a
 *        dependency.
 *   LI4. A name that two delegations produce, as a result and the one that replaces it, links to neither.
 */

type Linked = Pick<
  Delegation,
  'delegation_id' | 'required_inputs' | 'provided_inputs' | 'depends_on' | 'produces'
>;

/** @param knownInputs Names that the run knows before the wave. */
export function linkInputs<D extends Linked>(
  delegations: readonly D[],
  knownInputs: readonly string[],
): D[] {
  const known = new Set(knownInputs);
  const producers = (name: string): string[] =>
    delegations
      .filter(({ delegation_id, produces }) => delegation_id === name || produces.includes(name))
      .map(({ delegation_id }) => delegation_id);
  return delegations.map((delegation) => {
    const { delegation_id, required_inputs, provided_inputs, depends_on } = delegation;
    const added = required_inputs
      .filter((name) => !known.has(name))
      .map(producers)
      .flatMap((ids) => (ids.length === 1 ? ids : []))
      .filter((id) => id !== delegation_id);
    return {
      ...delegation,
      provided_inputs: join(
        provided_inputs,
        required_inputs.filter((name) => known.has(name)),
      ),
      depends_on: join(depends_on, added),
    };
  });
}

function join(said: readonly string[], added: readonly string[]): string[] {
  return [...said, ...new Set(added.filter((name) => !said.includes(name)))];
}
