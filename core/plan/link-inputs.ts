/**
 * Fills in what follows from the names in a plan, so that a planner need not say it twice.
 *
 * Invariants:
 *   LI1. What a plan says stays; names are only added, each once.
 *   LI2. A required input that the run knows is provided.
 *   LI3. A required input that the run does not know, and that another delegation of the plan produces, makes that one a
 *        dependency.
 */
import type { Delegation } from '../../contracts/delegation.ts';

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
  const producerOf = new Map(
    delegations.flatMap(({ delegation_id, produces }) =>
      [delegation_id, ...produces].map((name) => [name, delegation_id] as const),
    ),
  );
  return delegations.map((delegation) => {
    const { delegation_id, required_inputs, provided_inputs, depends_on } = delegation;
    const producers = required_inputs
      .filter((name) => !known.has(name))
      .flatMap((name) => producerOf.get(name) ?? [])
      .filter((id) => id !== delegation_id);
    return {
      ...delegation,
      provided_inputs: join(
        provided_inputs,
        required_inputs.filter((name) => known.has(name)),
      ),
      depends_on: join(depends_on, producers),
    };
  });
}

function join(said: readonly string[], added: readonly string[]): string[] {
  return [...said, ...new Set(added.filter((name) => !said.includes(name)))];
}
