import * as fc from 'fast-check';
import type { Claim, SpecState } from '../../../contracts/spec.ts';
import {
  agreedMembers,
  findDissent,
  findOwed,
  findUnclaimed,
  findUnsettled,
  isOpen,
  openSpec,
  outputClaimId,
  ownClaimId,
} from '../../../core/spec/read-spec.ts';
import type { SpecEvent } from '../../../core/spec/spec-events.ts';
import { stepSpec } from '../../../core/spec/step-spec.ts';
import { property } from './builders.ts';

const members = ['ann', 'bob', 'cid'];
const sections = ['a', 'b'];
const anyMember = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...members) },
  fc.constant('stranger'),
);
const anySection = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...sections) },
  fc.constant('nowhere'),
);
const anyClaimId = fc.oneof(
  fc.tuple(anySection, anyMember).map(([section, member]) => ownClaimId(section, member)),
  anySection.map(outputClaimId),
);
const anyRef = fc.nat(30).map((n) => `ref-${n}`);
/** 0: whatever stands when the event comes. */
const standing = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 }));

/** Mostly with what belongs to the decision. */
const anyDecision = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ decision: 'CONCEDE' as const, revised_ref: null }) },
  {
    weight: 3,
    arbitrary: anyRef.map((ref) => ({ decision: 'REVISE' as const, revised_ref: ref })),
  },
  { weight: 2, arbitrary: fc.constant({ decision: 'HOLD' as const, revised_ref: null }) },
  { weight: 1, arbitrary: fc.constant({ decision: 'REVISE' as const, revised_ref: null }) },
  { weight: 1, arbitrary: anyRef.map((ref) => ({ decision: 'HOLD' as const, revised_ref: ref })) },
);

const anyResponse: fc.Arbitrary<SpecEvent> = fc
  .tuple(anyMember, anyClaimId, standing, anyRef, anyDecision)
  .map(([member, claim_id, revision, reason_ref, decided]) => ({
    type: 'respond',
    member,
    claim_id,
    revision,
    reason_ref,
    ...decided,
  }));

const anyEvent: fc.Arbitrary<SpecEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('claim' as const),
      member: anyMember,
      registered_by: fc.constantFrom(...members, 'boss'),
      section_id: anySection,
      proposal_ref: anyRef,
    }),
  },
  {
    weight: 12,
    arbitrary: anyResponse,
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('edit' as const),
      member: anyMember,
      section_id: anySection,
      base_version: standing,
      status: fc.constantFrom('in_progress' as const, 'done' as const),
      text_ref: anyRef,
      language: fc.constant(null),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('dispute' as const),
      by: fc.constant('boss'),
      section_id: anySection,
      version: standing,
    }),
  },
  { weight: 2, arbitrary: fc.constant<SpecEvent>({ type: 'round_over' }) },
  { weight: 1, arbitrary: fc.constant<SpecEvent>({ type: 'close' }) },
);

const anyEvents = fc.array(anyEvent, { minLength: 20, maxLength: 80 });

function fit(spec: SpecState, event: SpecEvent): SpecEvent {
  const section = (id: string) => spec.sections.find(({ section_id }) => section_id === id);
  switch (event.type) {
    case 'respond': {
      const claim = spec.claims.find(({ claim_id }) => claim_id === event.claim_id);
      return event.revision === 0 ? { ...event, revision: claim?.revision ?? 1 } : event;
    }
    case 'edit':
      if (event.base_version !== 0) return event;
      return { ...event, base_version: section(event.section_id)?.version ?? 1 };
    case 'dispute':
      if (event.version !== 0) return event;
      return { ...event, version: section(event.section_id)?.version ?? 1 };
    default:
      return event;
  }
}

/** Ann owns section a and has finished it. */
const ahead: readonly SpecEvent[] = [
  { type: 'claim', member: 'ann', registered_by: 'ann', section_id: 'a', proposal_ref: 'p' },
  ...['bob', 'cid'].map((member): SpecEvent => ({
    type: 'respond',
    member,
    claim_id: ownClaimId('a', 'ann'),
    revision: 1,
    decision: 'CONCEDE',
    reason_ref: 'r',
    revised_ref: null,
  })),
  {
    type: 'edit',
    member: 'ann',
    section_id: 'a',
    base_version: 1,
    status: 'done',
    text_ref: 't',
    language: null,
  },
];

/** Every state on the way, with what led to it. */
function play(events: readonly SpecEvent[]) {
  let before = openSpec(sections, members);
  return events.map((drawn) => {
    const event = fit(before, drawn);
    const step = stepSpec(before, event);
    const seen = { before, event, ...step };
    before = step.state;
    return seen;
  });
}

type Seen = ReturnType<typeof play>;

function holds(check: (seen: Seen) => void): void {
  const anyStart = fc.constantFrom<readonly SpecEvent[]>([], ahead);
  fc.assert(
    fc.property(anyStart, anyEvents, (start, events) => check(play([...start, ...events]))),
    property,
  );
}

function claimsOf({ claims }: SpecState, sectionId: string): Claim[] {
  return claims.filter(({ section_id }) => section_id === sectionId);
}

it('SE1: a refused or stale event changes nothing and says why', () => {
  holds((seen) => {
    for (const { before, state, result } of seen) {
      if (result.ok) continue;
      expect(state).toBe(before);
      expect(result.fault.reason).not.toBe('');
      expect(result.fault.hint).toMatch(/^Try: /);
    }
  });
});

it('SE1: an event of no known type is refused', () => {
  const spec = openSpec(sections, members);
  const unknown = JSON.parse('{"type":"burn"}') as SpecEvent;
  expect(stepSpec(spec, unknown)).toMatchObject({ state: spec, result: { ok: false } });
});

it('SE2: a section keeps the owner that it got', () => {
  holds((seen) => {
    for (const { before, state } of seen) {
      for (const [at, section] of before.sections.entries()) {
        if (section.owner !== null) expect(state.sections[at]?.owner).toBe(section.owner);
      }
    }
  });
});

it('SE3: settled is what all negotiators agreed to, and what is closed never changes', () => {
  holds((seen) => {
    for (const { before, state } of seen) {
      for (const claim of state.claims) {
        const agreed = members.every((member) => agreedMembers(claim).includes(member));
        if (isOpen(claim)) expect(agreed).toBe(false);
        if (claim.state === 'settled') expect(agreed).toBe(true);
      }
      for (const claim of before.claims.filter((one) => !isOpen(one))) {
        expect(state.claims).toContainEqual(claim);
      }
    }
  });
});

it('SE4: of the claims on a section one at most is settled, and never are all withdrawn', () => {
  holds((seen) => {
    for (const { state } of seen) {
      for (const section of sections) {
        for (const about of ['ownership', 'output'] as const) {
          const claims = claimsOf(state, section).filter((claim) => claim.about === about);
          const settled = claims.filter((claim) => claim.state === 'settled');
          expect(settled.length).toBeLessThan(2);
          if (settled.length > 0) expect(claims.some(isOpen)).toBe(false);
          if (claims.length > 0) expect(claims.some((one) => one.state !== 'withdrawn')).toBe(true);
        }
      }
    }
  });
});

it('SE5: a member answers a revision once a round, with a reason', () => {
  holds((seen) => {
    for (const { state } of seen) {
      for (const { responses } of state.claims) {
        const keys = responses.map(
          ({ member, revision, round }) => `${member} ${revision} ${round}`,
        );
        expect(new Set(keys).size).toBe(keys.length);
        expect(responses.every(({ reason_ref }) => reason_ref !== '')).toBe(true);
      }
    }
  });
});

it('SE6: a text goes on from the version it was made against; else what stands now comes back', () => {
  holds((seen) => {
    for (const { before, state, event, result } of seen) {
      for (const [at, section] of before.sections.entries()) {
        const after = state.sections[at];
        const isEdited = after !== undefined && after.text_ref !== section.text_ref;
        if (isEdited) expect(after.version).toBe(section.version + 1);
        if (event.type !== 'edit' || event.section_id !== section.section_id || result.ok) continue;
        if (result.stale) expect(result.current_ref).toBe(section.text_ref);
      }
      if (event.type === 'edit' && result.ok) {
        const was = before.sections.find(({ section_id }) => section_id === event.section_id);
        expect(event.base_version).toBe(was?.version);
      }
    }
  });
});

it('SE7: after the close no claim is open', () => {
  holds((seen) => {
    for (const { state, event } of seen) {
      if (event.type === 'close') expect(state.claims.some(isOpen)).toBe(false);
    }
  });
});

it('SE8: an owned section is written by its owner, and not while its output is disputed', () => {
  holds((seen) => {
    for (const { before, event, result } of seen) {
      if (event.type !== 'edit' || !result.ok) continue;
      const was = before.sections.find(({ section_id }) => section_id === event.section_id);
      if (was?.owner !== null) expect(was?.owner).toBe(event.member);
      const output = before.claims.find(
        ({ claim_id }) => claim_id === outputClaimId(event.section_id),
      );
      expect(output?.state).not.toBe('open');
    }
  });
});

it('RP1: owed is every open claim that the member has neither agreed to nor answered in this round', () => {
  holds((seen) => {
    for (const { before, event, result } of seen) {
      if (event.type !== 'respond') continue;
      const owed = findOwed(before, event.member);
      const claim = before.claims.find(({ claim_id }) => claim_id === event.claim_id);
      const isWellMade =
        claim?.revision === event.revision &&
        (event.decision === 'REVISE') === (event.revised_ref !== null);
      if (isWellMade) expect(result.ok).toBe(owed.includes(event.claim_id));
      if (result.ok) expect(owed).toContain(event.claim_id);
    }
  });
});

it('RP2: dissent names everyone who did not agree, and nobody else', () => {
  holds((seen) => {
    for (const { state } of seen) {
      for (const { claim_id, positions } of findDissent(state)) {
        const claim = state.claims.find((one) => one.claim_id === claim_id);
        if (claim === undefined) throw new Error('dissent on no claim');
        const agreed = agreedMembers(claim);
        const others = members.filter((one) => !agreed.includes(one));
        expect(positions.map(({ member }) => member)).toEqual(others);
        expect(positions.length).toBeGreaterThan(0);
      }
      const owned = state.sections.filter(({ owner }) => owner !== null);
      const unsettled = findUnsettled(state);
      expect(findUnclaimed(state).every((id) => unsettled.includes(id))).toBe(true);
      expect(unsettled.length + owned.length).toBeGreaterThanOrEqual(sections.length);
    }
  });
});

it('what is tried reaches every state of a claim, disputed outputs and stale records', () => {
  const reached = new Set<string>();
  holds((seen) => {
    for (const { state, event, result } of seen) {
      for (const claim of state.claims) reached.add(`${claim.about} ${claim.state}`);
      if (!result.ok && result.stale) reached.add(`stale ${event.type}`);
    }
  });
  expect([...reached].toSorted()).toEqual([
    'output dissent',
    'output open',
    'output settled',
    'ownership dissent',
    'ownership open',
    'ownership settled',
    'ownership withdrawn',
    'stale dispute',
    'stale edit',
    'stale respond',
  ]);
});
