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
