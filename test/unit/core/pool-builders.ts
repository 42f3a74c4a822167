import * as fc from 'fast-check';
import type { Fact, ProposedFact } from '../../../contracts/agent-output.ts';

/** A fact that an agent of wave 1 states. */
export function stated(
  key: string | null,
  value: string | null,
  over: Partial<ProposedFact> = {},
): ProposedFact {
  return {
    key,
    value,
    statement: `${key} is ${value}.`,
    source_refs: ['wave-001/a'],
    confidence: 'high',
    is_assumption: false,
    origin: 'agent',
    ...over,
  };
}

/** The same in the pool. */
export function fact(
  n: number,
  key: string | null,
  value: string | null,
  over: Partial<Fact> = {},
): Fact {
  return { ...stated(key, value), fact_id: `f${n}`, superseded_by: null, recorded_at: 1, ...over };
}

/** Few keys and values, so that repeats and conflicts are many. */
export const anyStated: fc.Arbitrary<ProposedFact> = fc
  .record({
    key: fc.constantFrom('Price', 'price!', 'region', null, ' '),
    value: fc.constantFrom('10', '10.0', '12', 'EU', null),
    delegation: fc.constantFrom('a', 'b', 'c'),
    wave: fc.constantFrom(1, 2),
    origin: fc.constantFrom<Fact['origin']>('agent', 'user', 'planner'),
    is_assumption: fc.boolean(),
  })
  .map(({ key, value, delegation, wave, origin, is_assumption }) =>
    stated(key, value, {
      source_refs: [`wave-00${wave}/${origin === 'planner' ? 'planner_decision' : delegation}`],
      origin,
      is_assumption,
    }),
  );
