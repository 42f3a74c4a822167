import * as fc from 'fast-check';
import { checkResolutions } from '../../../core/decision/check-resolutions.ts';
import { engineLimits } from '../../../core/limits.ts';
import { chooseConflicts, findConflicts, findDisputes } from '../../../core/pool/find-conflicts.ts';
import type { TriadDissent } from '../../../core/pool/find-conflicts.ts';
import { findDissent, openSpec } from '../../../core/spec/read-spec.ts';
import type { SpecEvent } from '../../../core/spec/spec-events.ts';
import { stepSpec } from '../../../core/spec/step-spec.ts';
import { decision } from '../../support/scripted-work.ts';
import { property, ref } from './builders.ts';
import { stated } from './pool-builders.ts';
import { answers, claims, specAfter } from './triad-builders.ts';

const triad = (
  delegation_id: string,
  sections: readonly string[],
  events: readonly SpecEvent[],
): TriadDissent => {
  const spec = specAfter(sections, [...events, { type: 'close' }]);
  return { delegation_id, claims: spec.claims, dissent: findDissent(spec) };
};

const sidesOf = (events: readonly SpecEvent[]): readonly (readonly [string, string])[] =>
  findDisputes(2, [triad('plan', ['prices'], events)]).flatMap(({ conflict }) =>
    conflict.sides.map(({ source, value }) => [source, value] as const),
  );

const annas = 'prices.anna';

describe('findDisputes', () => {
  it('TD1: the claimant against each member that did not agree', () => {
    const [dispute] = findDisputes(2, [
      triad(
        'plan',
        ['prices', 'risks'],
        [
          claims('anna', 'prices', ref),
          answers('ben', annas, 'HOLD', ref),
          answers('carl', annas, 'CONCEDE', ref),
        ],
      ),
    ]);
    expect(dispute?.conflict).toEqual({
      conflict_id: 'conflict:triad/plan/prices',
      key: 'triad/plan/prices',
      sides: [
        { source: 'wave-002/plan/anna', value: 'claim prices.anna', origin: 'agent' },
        { source: 'wave-002/plan/ben', value: 'HOLD prices.anna', origin: 'agent' },
      ],
    });
    expect(dispute?.dissent).toHaveLength(1);
  });

  it('TD1: who never answered is a side too, and who agreed to what was changed since', () => {
    expect(
      sidesOf([
        claims('anna', 'prices', ref),
        answers('carl', annas, 'CONCEDE', ref),
        answers('ben', annas, 'REVISE', ref, { revised_ref: ref }),
      ]),
    ).toEqual([
      ['wave-002/plan/ben', 'claim prices.anna'],
      ['wave-002/plan/anna', 'no answer to prices.anna'],
      ['wave-002/plan/carl', 'CONCEDE to an earlier prices.anna'],
    ]);
  });

  it('TD1: rivals on one section are one dispute, and each member is one side of it', () => {
    expect(
      sidesOf([
        claims('anna', 'prices', ref),
        claims('carl', 'prices', ref),
        answers('carl', annas, 'HOLD', ref),
        answers('anna', 'prices.carl', 'HOLD', ref),
      ]),
    ).toEqual([
      ['wave-002/plan/anna', 'claim prices.anna, HOLD prices.carl'],
      ['wave-002/plan/ben', 'no answer to prices.anna, no answer to prices.carl'],
      ['wave-002/plan/carl', 'HOLD prices.anna, claim prices.carl'],
    ]);
  });

  it('TD1: what was settled is no dispute', () => {
    expect(
      sidesOf([
        claims('anna', 'prices', ref),
        answers('ben', annas, 'CONCEDE', ref),
        answers('carl', annas, 'CONCEDE', ref),
      ]),
    ).toEqual([]);
  });

  it('TD2: the same disputes in the same order, whatever came first, and none that a fact could have', () => {
    const anyMember = fc.constantFrom('anna', 'ben', 'carl');
    const anySection = fc.constantFrom('prices', 'risks');
    const anyEvent = fc.oneof(
      fc.tuple(anyMember, anySection).map(([member, section]) => claims(member, section, ref)),
      fc
        .tuple(anyMember, anySection, anyMember, fc.constantFrom('CONCEDE', 'HOLD'))
        .map(([member, section, of, word]) => answers(member, `${section}.${of}`, word, ref)),
    );
    // Events that do not fit are refused, as in a phase.
    const anyTriad = fc
      .tuple(fc.constantFrom('a', 'b', 'c-1'), fc.array(anyEvent))
      .map(([delegation_id, events]): TriadDissent => {
        const begun = openSpec(['prices', 'risks'], ['anna', 'ben', 'carl']);
        const ends: readonly SpecEvent[] = [...events, { type: 'close' }];
        const spec = ends.reduce((state, event) => stepSpec(state, event).state, begun);
        return { delegation_id, claims: spec.claims, dissent: findDissent(spec) };
      });
    const anyTriads = fc.uniqueArray(anyTriad, { selector: (one) => one.delegation_id });
    let seen = 0;
    fc.assert(
      fc.property(anyTriads, fc.string(), (triads, key) => {
        const disputes = findDisputes(1, triads);
        seen += disputes.length;
        expect(findDisputes(1, triads.toReversed())).toEqual(disputes);
        const sections = triads.flatMap(({ delegation_id, dissent }) =>
          dissent.map(({ section_id }) => `conflict:triad/${delegation_id}/${section_id}`),
        );
        const ids = disputes.map(({ conflict }) => conflict.conflict_id);
        expect(new Set(ids)).toEqual(new Set(sections));
        const facts = findConflicts(
          [],
          [stated(`triad/a/${key}`, '1'), stated(`triad/a/${key}`, '2')],
        );
        for (const { conflict_id } of facts) expect(ids).not.toContain(conflict_id);
      }),
      property,
    );
    expect(seen).toBeGreaterThan(property.numRuns);
  });
});

/** A dispute of each triad, `a0` and so on. */
const disputesOf = (count: number) =>
  findDisputes(
    2,
    Array.from({ length: count }, (_, n) =>
      triad(
        `a${n}`,
        ['prices'],
        [claims('anna', 'prices', ref), answers('ben', annas, 'HOLD', ref)],
      ),
    ),
  ).map(({ conflict }) => conflict);

const resolving = (entries: readonly (readonly [string, string, string])[]) => {
  const made = decision();
  const conflicts_resolved = entries.map(([conflict, origin, superseded]) => ({
    conflict,
    resolution: 'so it is',
    origin,
    superseded,
  }));
  return { ...made, planner_decision: { ...made.planner_decision, conflicts_resolved } };
};

describe('checkResolutions, of disputes', () => {
  const context = { pool: [], stated: [], disputes: disputesOf(1) };
  const id = 'conflict:triad/a0/prices';

  it('DR1: a dispute is resolved by its id, with two members that differ', () => {
    const [fault] = checkResolutions(resolving([]), context);
    expect(fault).toEqual({
      path: 'planner_decision.conflicts_resolved',
      reason:
        'conflict:triad/a0/prices is not resolved: "claim prices.anna" (wave-002/a0/anna) against "HOLD prices.anna" (wave-002/a0/ben) against "no answer to prices.anna" (wave-002/a0/carl)',
      hint: 'Try: say which side stands, such as {"conflict":"conflict:triad/a0/prices","resolution":"…","origin":"wave-002/a0/anna","superseded":"wave-002/a0/ben"}',
    });
    const faultsOf = (origin: string, superseded: string) =>
      checkResolutions(resolving([[id, origin, superseded]]), context);
    expect(faultsOf('wave-002/a0/ben', 'wave-002/a0/anna')).toEqual([]);
    expect(faultsOf('ben', 'anna')).toHaveLength(1);
    expect(faultsOf('wave-002/a0/anna', 'wave-002/a0/anna')).toHaveLength(1);
  });

  it('DR1: after its wave nobody asks for it, and its id is no conflict any more', () => {
    const later = { ...context, disputes: [] };
    expect(checkResolutions(resolving([]), later)).toEqual([]);
    expect(
      checkResolutions(resolving([[id, 'wave-002/a0/ben', 'wave-002/a0/anna']]), later),
    ).toMatchObject([{ path: 'planner_decision.conflicts_resolved[0].conflict' }]);
  });

  it('CO3: disputes and conflicts between facts are bounded together', () => {
    const many = disputesOf(engineLimits.conflictsShownMax + 3);
    const facts = findConflicts([], [stated('price', '1'), stated('price', '2')]);
    expect(facts).toHaveLength(1);
    expect(chooseConflicts(facts, many)).toEqual(many.slice(0, engineLimits.conflictsShownMax));
    const both = { pool: [], stated: [stated('price', '1'), stated('price', '2')], disputes: many };
    expect(checkResolutions(resolving([]), both)).toHaveLength(engineLimits.conflictsShownMax);
  });
});
