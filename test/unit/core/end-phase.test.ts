import * as fc from 'fast-check';
import { engineLimits } from '../../../core/limits.ts';
import { triadBytesMax } from '../../../core/record-sizes.ts';
import { readEnd } from '../../../core/executor.ts';
import { boundTriad } from '../../../core/triad/end-phase.ts';
import { property, ref } from './builders.ts';
import type { TriadOutcome } from '../../../contracts/triad-run.ts';

const slug = fc.constantFrom('a', 'a'.repeat(40));
/** No control characters: they are six bytes each in JSON, and no limit of this product counts them so. */
const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'é', '中', '😀'), minLength: 1, maxLength, size: 'max' });
const phase = fc.constantFrom('deliberate' as const, 'negotiate' as const, 'execute' as const);

const anyTriad: fc.Arbitrary<TriadOutcome> = fc.record({
  type: fc.constantFrom('hierarchical' as const, 'dialectic' as const, 'consensus' as const),
  reason: text(1_000),
  members: fc.array(
    fc.record({
      name: slug,
      role: fc.constantFrom('orchestrator' as const, 'synthesizer' as const),
      agent_id: slug,
      lens: text(500),
      model: text(120),
    }),
    { minLength: 3, maxLength: 3 },
  ),
  phases: fc.array(
    fc.record({
      phase,
      attempt: fc.constantFrom(1, 2),
      status: fc.constantFrom('done' as const, 'failed' as const),
      rounds: fc.integer({ min: 0, max: 5 }),
      report_ref: fc.constant(ref),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  dissent: fc.array(
    fc.record({
      section_id: slug,
      claim_id: fc.constant(`${'s'.repeat(40)}.${'m'.repeat(40)}`),
      member: slug,
      about: fc.constantFrom('ownership' as const, 'output' as const),
      revision: fc.integer({ min: 1, max: 99 }),
      proposal_ref: fc.constant(ref),
      dispute_ref: fc.constant(ref),
      positions: fc.array(
        fc.record({
          member: slug,
          decision: fc.constantFrom('CONCEDE' as const, null),
          reason_ref: fc.constantFrom(ref, null),
        }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 36 },
  ),
  failure: fc.option(fc.record({ agent: slug, phase, message: text(5_000) })),
});

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

it('BT1: what travels of a triad is bounded, whatever was written in it', () => {
  const largest = fc.sample(anyTriad, { ...property, numRuns: 1_000 }).map(bytesOf);
  // The bound is one that something passes.
  expect(Math.max(...largest)).toBeGreaterThan(triadBytesMax(engineLimits));
  fc.assert(
    fc.property(anyTriad, (triad) => {
      expect(bytesOf(boundTriad(triad))).toBeLessThanOrEqual(triadBytesMax(engineLimits));
    }),
    property,
  );
});

it('BT2: who did it, how each phase ended, why it failed and that something is disputed stays', () => {
  fc.assert(
    fc.property(anyTriad, (triad) => {
      const bound = boundTriad(triad);
      expect(bound.phases).toEqual(triad.phases);
      expect(bound.members.map(({ name }) => name)).toEqual(triad.members.map(({ name }) => name));
      for (const member of bound.members) expect(member).not.toHaveProperty('lens');
      expect(bound.failure?.agent).toBe(triad.failure?.agent);
      expect(bound.dissent).toEqual(triad.dissent.slice(0, engineLimits.dissentCarriedMax));
      expect(readEnd({ kind: 'triad', work: bound })).toMatchObject({
        dissent_ref: triad.dissent.length === 0 ? null : ref,
      });
      expect(boundTriad(bound)).toEqual(bound);
    }),
    property,
  );
});
