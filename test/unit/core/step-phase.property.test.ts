import * as fc from 'fast-check';
import type { StateCall } from '../../../contracts/state-call.ts';
import {
  findUnagreed,
  findUnclaimed,
  findUnsettled,
  hasOpenClaims,
} from '../../../core/spec/read-spec.ts';
import { openPhase, stepPhase } from '../../../core/triad/step-phase.ts';
import { findOpenDuties } from '../../../core/triad/find-open-duties.ts';
import type { TurnWork } from '../../../core/triad/judged-call.ts';
import type { TurnOrder } from '../../../core/triad/phase-state.ts';
import { hears, rolesOf } from '../../../core/triad/roles.ts';
import { createPrng } from '../../support/prng.ts';
import type { Prng } from '../../support/prng.ts';
import {
  dutiful,
  membersOf,
  playPhase,
  playTurn,
  setupOf,
  specOf,
  triadTypes,
  writesLater,
} from '../../support/triad-play.ts';
import type { Played, Player } from '../../support/triad-play.ts';
import { property } from './builders.ts';
import type { TriadPhase, TriadType } from '../../../contracts/triad.ts';

const phases: readonly TriadPhase[] = ['deliberate', 'negotiate', 'execute'];
const sections = ['api', 'schema', 'tests'];

/** Members of all tempers: they answer as it comes, claim and edit beside what they owe, and dispute. */
function moody(chance: Prng): Player {
  const duty = dutiful(() => chance.pick(['CONCEDE', 'CONCEDE', 'REVISE', 'HOLD'] as const));
  const later = writesLater(duty);
  return (order, work) => {
    const wanted = (chance.chance(0.5) ? later : duty)(order, work);
    const { brief } = order;
    if (work.events.length > 0 || work.assignments.length > 0) return wanted;
    const extra: StateCall[] = brief.spec.sections
      .filter(() => chance.chance(0.4))
      .flatMap(({ section_id, version, text_ref }): StateCall[] => [
        { tool: 'register_claim', section_id, for_member: null, proposal_ref: `p-${order.turn}` },
        {
          tool: 'edit_section',
          section_id,
          base_version: version,
          status: 'in_progress',
          text_ref: `draft-${order.turn}`,
        },
        ...(text_ref === null
          ? []
          : [{ tool: 'open_negotiation', section_id, reason_ref: 'why' } as const]),
      ]);
    return [...extra, ...wanted];
  };
}

interface Triad {
  readonly type: TriadType;
  readonly seed: number;
  readonly rounds_max: number;
}

const anyTriad: fc.Arbitrary<Triad> = fc.record({
  type: fc.constantFrom(...triadTypes),
  seed: fc.nat(1_000_000),
  rounds_max: fc.integer({ min: 1, max: 4 }),
});

/** All three phases, one after the other, with members that are through in any order. */
function playTriad({ type, seed, rounds_max }: Triad): readonly Played[] {
  const chance = createPrng(seed);
  const setup = setupOf(type, sections, rounds_max);
  let spec = specOf(setup);
  return phases.map((phase) => {
    const played = playPhase(setup, phase, spec, moody(chance), chance);
    ({ spec } = played.state);
    return played;
  });
}

function holds(check: (played: Played, triad: Triad) => void): void {
  const perPhase = (triad: Triad): void => playTriad(triad).forEach((one) => check(one, triad));
  fc.assert(fc.property(anyTriad, perPhase), property);
}

/** Drafts every section at once. */
const eager: Player = (order, work) => {
  if (work.events.length > 0) return dutiful()(order, work);
  const drafts = work.spec.sections.map(({ section_id, version }): StateCall => ({
    tool: 'edit_section',
    section_id,
    base_version: version,
    status: 'in_progress',
    text_ref: `draft-of-${order.brief.member.name}`,
  }));
  return [...drafts, ...dutiful()(order, work)];
};

/** Does no more than it must: no turn of a member that holds to nothing has to be given. */
const grudging: Player = (order, work) => {
  const { brief } = order;
  if (brief.member.role !== 'orchestrator' || brief.phase === 'deliberate') {
    return dutiful()(order, work);
  }
  // Whoever owes nothing first.
  const [next] = findOpenDuties(brief, work).length === 0 ? [] : idleFirst(work);
  return next === undefined ? [] : [{ tool: 'assign_turn', member: next, instruction_ref: 'go' }];
};

function idleFirst({ spec, assignments }: TurnWork): string[] {
  const waited = findUnagreed(spec);
  const rest = ['ann', 'bob'].filter((name) => !assignments.some(({ member }) => member === name));
  return rest.toSorted((a, b) => Number(waited.includes(a)) - Number(waited.includes(b)));
}

function draftApi(order: TurnOrder): StateCall {
  return {
    tool: 'edit_section',
    section_id: 'api',
    base_version: 1,
    status: 'in_progress',
    text_ref: `draft-of-${order.brief.member.name}`,
  };
}

it('TP1: a turn that is not outstanding changes nothing', () => {
  holds(({ state, orders }) => {
    for (const order of orders) {
      const late = playTurn(order, dutiful());
      expect(stepPhase(state, late)).toEqual({ state, start: [] });
    }
  });
});

it.each(triadTypes)(
  'TP2: in a %s triad it changes nothing who of those at work is through first',
  (type) => {
    const setup = setupOf(type, sections);
    const ends = Array.from({ length: 20 }, (_, seed) => {
      const { state } = playPhase(setup, 'deliberate', specOf(setup), eager, createPrng(seed));
      return { spec: state.spec, returned: state.returned };
    });
    for (const end of ends) expect(end).toEqual(ends[0]);
  },
);

it('TP3: of two drafts of one section in a blind round one is taken, and the other comes back with what stands', () => {
  const setup = setupOf('consensus', ['api']);
  const { state, orders } = playPhase(setup, 'deliberate', specOf(setup), (order, work) =>
    order.brief.round === 1 && work.events.length === 0
      ? [draftApi(order)]
      : dutiful()(order, work),
  );
  expect(state.spec.sections[0]).toMatchObject({ text_ref: 'draft-of-ann', version: 2 });
  const again = orders.filter(({ brief }) => brief.round === 2 && brief.returned.length > 0);
  expect(again.map(({ brief }) => brief.member.name)).toEqual(['bob', 'cid']);
  for (const { brief } of again) {
    expect(brief.returned).toEqual([
      { reason: expect.stringContaining('is at version 2 now'), current_ref: 'draft-of-ann' },
    ]);
  }
});

it('TP3: a worker that was overtaken gets a turn for it, which its orchestrator is told to give', () => {
  const setup = setupOf('hierarchical', ['api']);
  const { state, orders } = playPhase(setup, 'deliberate', specOf(setup), (order, work) =>
    order.brief.member.role === 'worker' && order.brief.round === 1 && work.events.length === 0
      ? [draftApi(order)]
      : dutiful()(order, work),
  );
  expect(state.spec.sections[0]).toMatchObject({ text_ref: 'draft-of-ann', version: 2 });
  const directs = orders.filter(({ brief }) => brief.member.role === 'orchestrator');
  const told = directs.filter(({ brief }) => brief.returned.length > 0);
  const current = { current_ref: 'draft-of-ann' };
  expect(told.map(({ brief }) => [brief.duties.assign, brief.returned])).toEqual([
    [true, [{ ...current, reason: expect.stringMatching(/^Of bob: .+is at version 2 now/u) }]],
  ]);
  const again = orders.filter(({ brief }) => brief.member.name === 'bob' && brief.round === 2);
  expect(again.map(({ brief }) => brief.returned)).toEqual([
    [{ ...current, reason: expect.stringContaining('is at version 2 now') }],
  ]);
  expect(state.returned).toEqual([]);
});

/** Whether a phase has what it is for. An agreement of the first round needs no summary. */
function isSummedUp({ phase, output, summary, spec, round }: Played['state']): boolean {
  if (phase === 'execute') return output !== null;
  const isAgreed = phase === 'negotiate' && round <= 1 && findUnsettled(spec).length === 0;
  return summary !== null || isAgreed;
}

it('TP4 and TP5: a phase ends with what it is for, whatever its members say', () => {
  holds(({ state, orders }, { rounds_max }) => {
    expect(state.stage).toBe('ended');
    expect(state.round).toBeLessThanOrEqual(rounds_max);
    // A hierarchical triad: two workers a round, their orchestrator after each, owners that were never told, the writer.
    expect(orders.length).toBeLessThanOrEqual(4 * rounds_max + 5);
    expect(isSummedUp(state)).toBe(true);
    expect(state.phase !== 'deliberate' && hasOpenClaims(state.spec)).toBe(false);
    expect(findUnclaimed(state.spec)).toEqual([]);
  });
});

it('TP5: an orchestrator that would pass over who has to answer can not: what both agree to is settled', () => {
  const setup = setupOf('hierarchical', sections);
  const { spec } = playPhase(setup, 'deliberate', specOf(setup), dutiful()).state;
  const { state } = playPhase(setup, 'negotiate', spec, grudging);
  expect(state.spec.claims.map((claim) => claim.state)).toEqual(['settled', 'settled', 'settled']);
});

it('TP6: everybody is told each text of its lane once, and no other', () => {
  holds(({ state, orders }) => {
    const roleOf = new Map(state.setup.members.map(({ name, role }) => [name, role]));
    const heard = new Map<string, string[]>();
    for (const { brief } of orders) {
      const { name, role } = brief.member;
      const sumsUp = role === 'worker' && (brief.duties.summary || brief.duties.output);
      for (const { member, said_ref } of brief.heard) {
        const speaker = roleOf.get(member);
        if (speaker === undefined) throw new Error(`Nobody is called ${member}.`);
        expect(member).not.toBe(name);
        expect(hears(role, speaker) || (sumsUp && speaker === 'orchestrator')).toBe(true);
        expect(heard.get(name) ?? []).not.toContain(said_ref);
        heard.set(name, [...(heard.get(name) ?? []), said_ref]);
      }
    }
  });
});

it('TP6: the first round of a consensus is blind', () => {
  holds(({ orders }, { type }) => {
    if (type !== 'consensus') return;
    for (const { brief } of orders.filter((one) => one.dispatch === 1)) {
      expect(brief.heard).toEqual([]);
    }
  });
});

it('TP7: when the output is given, every owned section is done', () => {
  holds(({ state, orders }) => {
    if (state.phase !== 'execute') return;
    const owned = state.spec.sections.filter(({ owner }) => owner !== null);
    expect(owned.every(({ status }) => status === 'done')).toBe(true);
    expect(orders.at(-1)?.brief.duties.output).toBe(true);
  });
});

function assignBoth({ assignments }: TurnWork): StateCall[] {
  if (assignments.length > 0) return [];
  return ['ann', 'bob'].map((member) => ({ tool: 'assign_turn', member, instruction_ref: 'go' }));
}

/** Each worker claims the one section for itself. */
const both: Player = (order, work) => {
  const { member, duties } = order.brief;
  if (member.role === 'orchestrator') return duties.assign ? assignBoth(work) : [];
  const claims = work.spec.claims.some((claim) => claim.member === member.name);
  if (claims || duties.summary) return dutiful()(order, work);
  return [{ tool: 'register_claim', section_id: 'api', for_member: null, proposal_ref: 'mine' }];
};

it('part of fault 36: an orchestrator hears each worker as it arrives, and its records join in the order of members', () => {
  const setup = setupOf('hierarchical', ['api']);
  const specs = ['ann', 'bob'].map((first) => {
    let step = openPhase(setup, 'deliberate', { spec: specOf(setup), summary_ref: null });
    const heard: string[] = [];
    while (step.state.outstanding.length > 0) {
      const { outstanding } = step.state;
      const order =
        outstanding.find(({ brief }) => brief.member.role === 'orchestrator') ??
        outstanding.find(({ brief }) => brief.member.name === first) ??
        outstanding[0];
      if (order === undefined) throw new Error('nobody is at work');
      if (order.brief.member.role === 'orchestrator') {
        heard.push(...order.brief.heard.map(({ member }) => member));
      }
      step = stepPhase(step.state, playTurn(order, both));
    }
    return { spec: step.state.spec, heard };
  });
  expect(specs.map(({ heard }) => heard)).toEqual([
    ['ann', 'bob'],
    ['bob', 'ann'],
  ]);
  expect(specs[0]?.spec).toEqual(specs[1]?.spec);
  expect(specs[0]?.spec.claims.map(({ member }) => member)).toEqual(['ann', 'bob']);
});

it('the members of a test stand in the order of their roles', () => {
  for (const type of triadTypes) {
    expect(membersOf[type].map(({ role }) => role)).toEqual(rolesOf[type]);
  }
});
