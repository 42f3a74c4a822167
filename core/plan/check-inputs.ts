/** Checks the inputs and outputs of a plan's delegations: each gets what it needs (seed 004 §3.1, §13). */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { collectUpstream } from '../schedule/dependencies.ts';

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
