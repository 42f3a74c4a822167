import type { Dissent, SpecState } from '../../contracts/spec.ts';

/** The spec as the plan gives it: nobody owns anything. */
export function openSpec(_sectionIds: readonly string[]): SpecState {
  throw new Error('not built');
}

/** What stayed disputed, in the order of the claims. */
export function findDissent(_spec: SpecState): Dissent[] {
  throw new Error('not built');
}
