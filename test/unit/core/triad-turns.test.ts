/** Turns of triads that agree, and the fate of the agreed texts. */
import type { SpecState } from '../../../contracts/spec.ts';
import { outputClaimId, ownClaimId } from '../../../core/spec/read-spec.ts';
import { dutiful, playPhase, setupOf, specOf, writesLater } from '../../support/triad-play.ts';
import type { Played, Player } from '../../support/triad-play.ts';
import { noDuties } from '../../../core/triad/phase-state.ts';
import type { TriadPhase } from '../../../contracts/triad.ts';

const phases: readonly TriadPhase[] = ['deliberate', 'negotiate', 'execute'];

function names({ orders }: Played): string[] {
  return orders.map(({ brief }) => `${brief.member.name} ${brief.round}`);
}

/** The synthesizer revises the claim while it deliberates. */
const revises: Player = (order, work) => {
  const { member, phase } = order.brief;
  const [claim] = work.spec.claims;
  if (phase !== 'deliberate' || member.name !== 'syn' || claim?.revision !== 1) {
    return dutiful()(order, work);
  }
  const { claim_id } = claim;
  const answer = {
    claim_id,
    decision: 'REVISE',
    reason_ref: 'cure',
    revised_ref: 'cured',
  } as const;
  return [{ tool: 'negotiate_response', ...answer }];
};

/** The critic disputes the first text that it is given to judge. */
const strict: Player = (order, work) => {
  const { member, phase, duties } = order.brief;
  if (phase === 'execute' && member.name === 'con' && duties.check.length > 0) {
    if (work.events.length > 0) return [];
    const claim_id = outputClaimId('api');
    const answer = {
      claim_id,
      decision: 'REVISE',
      reason_ref: 'r',
      revised_ref: 'mended',
    } as const;
    return [
      { tool: 'open_negotiation', section_id: 'api', reason_ref: 'A reading is lost.' },
      { tool: 'negotiate_response', ...answer },
    ];
  }
  return dutiful()(order, work);
};

describe('a dialectic triad', () => {
  const setup = setupOf('dialectic', ['api']);
  const own = ownClaimId('api', 'pro');
  const deliberated = () => playPhase(setup, 'deliberate', specOf(setup), dutiful()).state.spec;
  const negotiate = (player: Player) => playPhase(setup, 'negotiate', deliberated(), player);

  it('deliberates in three turns: proposer, critic, synthesizer', () => {
    expect(names(playPhase(setup, 'deliberate', specOf(setup), dutiful()))).toEqual([
      'pro 1',
      'con 1',
      'syn 1',
    ]);
  });

  it('agrees at once in two turns, the last of which sums up', () => {
    const played = negotiate(dutiful());
    expect(names(played)).toEqual(['con 1', 'syn 1']);
    expect(played.state.spec.claims).toMatchObject([{ claim_id: own, state: 'settled' }]);
    expect(played.state.spec.sections).toMatchObject([{ owner: 'pro' }]);
  });

  it('agrees to a revision of the critic in three turns', () => {
    const played = negotiate(
      dutiful((_, { brief }) => (brief.member.name === 'con' ? 'REVISE' : 'CONCEDE')),
    );
    expect(names(played)).toEqual(['con 1', 'pro 1', 'syn 1']);
    expect(played.state.spec.claims).toMatchObject([{ revision: 2, state: 'settled' }]);
  });

  it('agrees in round 2 when the synthesizer holds once', () => {
    const played = negotiate(
      dutiful((_, { brief }) =>
        brief.member.name === 'syn' && brief.round === 1 ? 'HOLD' : 'CONCEDE',
      ),
    );
    expect(names(played)).toEqual(['con 1', 'syn 1', 'syn 2']);
    expect(played.state.spec.claims).toMatchObject([{ state: 'settled' }]);
  });

  it('part of fault 33: never agrees, and ends at the last round with dissent', () => {
    const played = negotiate(
      dutiful((_, { brief }) => (brief.member.name === 'con' ? 'HOLD' : 'CONCEDE')),
    );
    expect(names(played)).toEqual(['con 1', 'syn 1', 'con 2', 'con 3', 'syn 3']);
    expect(played.state.spec.claims).toMatchObject([{ state: 'dissent' }]);
    expect(played.state.spec.sections).toMatchObject([{ owner: null }]);
  });

  it('DI1: finding P5: a triad that agrees at once takes six turns, and writes its text once', () => {
    const deliberate = playPhase(setup, 'deliberate', specOf(setup), dutiful());
    const agree = playPhase(setup, 'negotiate', deliberate.state.spec, dutiful());
    expect(agree.state.spec.sections).toEqual([
      expect.objectContaining({ owner: 'pro', status: 'done', text_ref: 'proposal-api-pro' }),
    ]);
    const execute = playPhase(setup, 'execute', agree.state.spec, dutiful());
    expect([deliberate, agree, execute].flatMap(names)).toEqual([
      'pro 1',
      'con 1',
      'syn 1',
      'con 1',
      'syn 1',
      'syn 1',
    ]);
    expect(execute.orders[0]?.brief.duties).toEqual({ ...noDuties, output: true });
  });

  it('finding P5: what the synthesizer revises in deliberate is agreed without it, and nobody sums it up', () => {
    const { spec } = playPhase(setup, 'deliberate', specOf(setup), revises).state;
    const played = playPhase(setup, 'negotiate', spec, dutiful());
    expect(names(played)).toEqual(['con 1', 'pro 1']);
    expect(played.state).toMatchObject({ stage: 'ended', summary: null });
    expect(played.state.spec.sections).toMatchObject([{ owner: 'pro', text_ref: 'cured' }]);
  });

  const later = (): SpecState => {
    const { spec } = playPhase(setup, 'deliberate', specOf(setup), writesLater(dutiful())).state;
    return playPhase(setup, 'negotiate', spec, dutiful()).state.spec;
  };

  it('DI2: finding P5: the critic sees what was written after the agreement, and the output changes nothing', () => {
    const { orders } = playPhase(setup, 'execute', later(), dutiful());
    expect(orders.map(({ brief }) => [brief.member.name, brief.duties])).toEqual([
      ['pro', { ...noDuties, finish: ['api'] }],
      ['con', { ...noDuties, check: ['api'] }],
      ['syn', { ...noDuties, output: true }],
    ]);
    expect(orders[1]?.brief.spec.sections).toMatchObject([
      { status: 'done', text_ref: 'text-api' },
    ]);
  });

  it('DI2: finding P5: a text that the critic disputes is mended by all before the output', () => {
    const played = playPhase(setup, 'execute', later(), strict);
    expect(names(played)).toEqual(['pro 1', 'con 1', 'pro 2', 'syn 2', 'syn 2']);
    expect(played.state.spec.sections).toMatchObject([{ text_ref: 'mended' }]);
    expect(played.state.spec.claims.map(({ state }) => state)).toEqual(['settled', 'settled']);
  });
});

it.each(['consensus', 'hierarchical'] as const)(
  'finding P5: a %s triad that agrees at once writes nothing again, and nobody sums the agreement up',
  (type) => {
    const setup = setupOf(type, ['api', 'schema']);
    const play = (player: Player): Played[] => {
      let spec = specOf(setup);
      return phases.map((phase) => {
        const played = playPhase(setup, phase, spec, player);
        ({ spec } = played.state);
        return played;
      });
    };
    const [, negotiate, execute] = play(dutiful());
    expect(negotiate?.state).toMatchObject({ stage: 'ended', summary: null });
    // Only an orchestrator looks whether the parts of two owners contradict each other.
    const looks = type === 'hierarchical' ? ['boss 1'] : [];
    expect(execute && names(execute)).toEqual([...looks, 'ann 1']);
    const count = (all: readonly Played[]) => all.flatMap(names).length;
    expect(count(play(dutiful()))).toBeLessThan(count(play(writesLater(dutiful()))));
  },
);
