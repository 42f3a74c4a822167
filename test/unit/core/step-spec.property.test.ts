import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import type { Claim, SpecState } from '../../../contracts/spec.ts';
import {
  agreedMembers,
  findClaim,
  findDissent,
  findOwed,
  findSection,
  findUnclaimed,
  findUnsettled,
  isOpen,
  openSpec,
  outputClaimId,
  ownClaimId,
} from '../../../core/spec/read-spec.ts';
import type { SpecEvent, SpecStep } from '../../../core/spec/spec-events.ts';
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
      reason_ref: anyRef,
    }),
  },
  { weight: 2, arbitrary: fc.constant<SpecEvent>({ type: 'round_over' }) },
  { weight: 1, arbitrary: fc.constant<SpecEvent>({ type: 'close' }) },
);

const anyEvents = fc.array(anyEvent, { minLength: 20, maxLength: 80 });

/** Fills in the current revision or version where an event has 0. */
function fit(spec: SpecState, event: SpecEvent): SpecEvent {
  const versionOf = (id: string): number => findSection(spec, id)?.version ?? 1;
  switch (event.type) {
    case 'respond': {
      const revision = findClaim(spec, event.claim_id)?.revision ?? 1;
      return { ...event, revision: event.revision || revision };
    }
    case 'edit':
      return { ...event, base_version: event.base_version || versionOf(event.section_id) };
    case 'dispute':
      return { ...event, version: event.version || versionOf(event.section_id) };
    case 'claim':
    case 'round_over':
    case 'close':
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

interface Seen extends SpecStep {
  readonly before: SpecState;
  readonly event: SpecEvent;
}

/** Every state on the way, with what led to it. */
function play(events: readonly SpecEvent[]): Seen[] {
  let before = openSpec(sections, members);
  return events.map((drawn) => {
    const event = fit(before, drawn);
    const step = stepSpec(before, event);
    const seen = { before, event, ...step };
    before = step.state;
    return seen;
  });
}

/** @returns the smallest example that breaks the rule; null when it always holds. */
function findBreach(holds: (seen: Seen) => boolean): unknown {
  const anyStart = fc.constantFrom<readonly SpecEvent[]>([], ahead);
  return fc.check(
    fc.property(anyStart, anyEvents, (start, events) => play([...start, ...events]).every(holds)),
    property,
  ).counterexample;
}

function isUnique(keys: readonly string[]): boolean {
  return new Set(keys).size === keys.length;
}

function hasAllAgreed(claim: Claim): boolean {
  return members.every((member) => agreedMembers(claim).includes(member));
}

it('SE1: a refused or stale event changes nothing and says why', () => {
  const breach = findBreach(({ before, state, result }) => {
    if (result.ok) return true;
    const { reason, hint } = result.fault;
    return state === before && reason !== '' && hint.startsWith('Try: ');
  });
  expect(breach).toBeNull();
});

it('SE2: a section keeps the owner that it got', () => {
  const breach = findBreach(({ before, state }) =>
    before.sections.every(({ owner }, at) => owner === null || state.sections[at]?.owner === owner),
  );
  expect(breach).toBeNull();
});

it('SE3: settled is what all negotiators agreed to, and what is closed never changes', () => {
  const breach = findBreach(({ before, state }) => {
    const isAgreed = state.claims.every(
      (claim) =>
        claim.state === 'withdrawn' ||
        claim.state === 'dissent' ||
        hasAllAgreed(claim) === (claim.state === 'settled'),
    );
    const closed = before.claims.filter((one) => !isOpen(one));
    const isKept = closed.every((one) =>
      state.claims.some((claim) => isDeepStrictEqual(claim, one)),
    );
    return isAgreed && isKept;
  });
  expect(breach).toBeNull();
});

it('SE4: of the claims on a section one at most is settled, and never are all withdrawn', () => {
  const breach = findBreach(({ state }) =>
    sections.every((section) =>
      (['ownership', 'output'] as const).every((about) => {
        const claims = state.claims.filter(
          (one) => one.section_id === section && one.about === about,
        );
        const settled = claims.filter((claim) => claim.state === 'settled').length;
        const isDecided = settled === 0 || !claims.some(isOpen);
        return (
          settled < 2 &&
          isDecided &&
          (claims.length === 0 || claims.some((one) => one.state !== 'withdrawn'))
        );
      }),
    ),
  );
  expect(breach).toBeNull();
});

it('SE5: a member answers a revision once a round, with a reason', () => {
  const breach = findBreach(({ state }) =>
    state.claims.every(
      ({ responses }) =>
        isUnique(
          responses.map(({ member, revision, round }) => `${member} ${revision} ${round}`),
        ) && responses.every(({ reason_ref }) => reason_ref !== ''),
    ),
  );
  expect(breach).toBeNull();
});

it('SE6: a text goes on from the version it was made against; else what stands now comes back', () => {
  const breach = findBreach(({ before, state, event, result }) => {
    const isStepwise = before.sections.every((section, at) => {
      const after = state.sections[at];
      return after?.text_ref === section.text_ref || after?.version === section.version + 1;
    });
    if (event.type !== 'edit') return isStepwise;
    const was = findSection(before, event.section_id);
    if (result.ok) return isStepwise && event.base_version === was?.version;
    return isStepwise && (!result.stale || result.current_ref === was?.text_ref);
  });
  expect(breach).toBeNull();
});

it('SE7: after the close no claim is open', () => {
  const breach = findBreach(
    ({ state, event }) => event.type !== 'close' || !state.claims.some(isOpen),
  );
  expect(breach).toBeNull();
});

it('SE8: an owned section is written by its owner, and not while its output is disputed', () => {
  const breach = findBreach(({ before, event, result }) => {
    if (event.type !== 'edit' || !result.ok) return true;
    const owner = findSection(before, event.section_id)?.owner ?? event.member;
    const output = findClaim(before, outputClaimId(event.section_id));
    return owner === event.member && output?.state !== 'open' && output?.state !== 'settled';
  });
  expect(breach).toBeNull();
});

it('RP1: owed is every open claim that the member has neither agreed to nor answered in this round', () => {
  const breach = findBreach(({ before, event, result }) => {
    if (event.type !== 'respond') return true;
    const isOwed = findOwed(before, event.member).includes(event.claim_id);
    const isFitting =
      findClaim(before, event.claim_id)?.revision === event.revision &&
      (event.decision === 'REVISE') === (event.revised_ref !== null);
    return result.ok === (isOwed && isFitting);
  });
  expect(breach).toBeNull();
});

it('RP2: dissent names everyone who did not agree, and nobody else', () => {
  const breach = findBreach(({ state }) => {
    const dissent = findDissent(state);
    const disputed = state.claims.filter((claim) => claim.state === 'dissent');
    return isDeepStrictEqual(
      dissent.map(({ claim_id, positions }) => [claim_id, positions.map(({ member }) => member)]),
      disputed.map((claim) => [
        claim.claim_id,
        members.filter((one) => !agreedMembers(claim).includes(one)),
      ]),
    );
  });
  expect(breach).toBeNull();
});

it('what nobody claims is unsettled as well', () => {
  const breach = findBreach(({ state }) => {
    const unsettled = findUnsettled(state);
    return findUnclaimed(state).every((id) => unsettled.includes(id));
  });
  expect(breach).toBeNull();
});

it('what is tried reaches every state of a claim, disputed outputs and stale records', () => {
  const reached = new Set<string>();
  findBreach(({ state, event, result }) => {
    for (const claim of state.claims) reached.add(`${claim.about} ${claim.state}`);
    if (!result.ok && result.stale) reached.add(`stale ${event.type}`);
    return true;
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
