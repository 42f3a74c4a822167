import type { StateCall } from '../../../contracts/state-call.ts';
import { findOpenDuties } from '../../../core/triad/find-open-duties.ts';
import { judgeCall, openWork } from '../../../core/triad/judge-call.ts';
import { resolveTriad } from '../../../core/triad/phase-state.ts';
import { setupOf } from '../../support/triad-play.ts';
import { briefOf, calls, claimed, conceded, settled } from './triad-scene.ts';
import type { Scene } from './triad-scene.ts';

function owed(scene: Scene, ...made: readonly StateCall[]): string[] {
  const brief = briefOf(scene);
  let work = openWork(brief);
  for (const call of made) {
    const judged = judgeCall(brief, work, call);
    if (judged.type === 'answered') ({ work } = judged);
  }
  return findOpenDuties(brief, work).map(({ reason }) => reason);
}

/** The synthesizer may sum up, and a claim is open. */
function lastOf(round: number): Scene {
  return {
    member: 'syn',
    phase: 'negotiate',
    events: [claimed],
    duties: { summary: true },
    round,
  };
}

describe('duties', () => {
  it('OD1: what was put to a member stays owed until it is in the records', () => {
    const claims: Scene = { member: 'pro', phase: 'deliberate', duties: { claim: ['api', 'db'] } };
    expect(owed(claims)).toEqual(['you have not claimed these sections: "api", "db"']);
    expect(owed(claims, calls.register_claim)).toEqual([
      'you have not claimed these sections: "db"',
    ]);
    const answers: Scene = {
      member: 'con',
      phase: 'negotiate',
      events: [claimed],
      duties: { answer: ['api.pro'] },
    };
    expect(owed(answers)).toEqual(['these claims wait for your answer: "api.pro"']);
    expect(owed(answers, calls.negotiate_response)).toEqual([]);
    const finishing: Scene = { member: 'pro', phase: 'execute', events: settled };
    expect(owed(finishing, calls.edit_section)).toEqual([
      'these sections are yours and not done: "api"',
    ]);
    expect(owed(finishing, { ...calls.edit_section, status: 'done' })).toEqual([]);
    const blind: Scene = {
      type: 'consensus',
      member: 'bob',
      phase: 'deliberate',
      duties: { claims_min: 1 },
    };
    expect(owed(blind)).toEqual(['you registered 0 claims, and owe 1']);
    expect(owed(blind, calls.register_claim)).toEqual([]);
  });

  it('OD2: a summary is owed when all is settled or no round is left', () => {
    expect(owed(lastOf(1))).toEqual([]);
    expect(owed(lastOf(3))).toEqual(['the summary of the phase is missing']);
    expect(owed({ ...lastOf(1), events: settled })).toEqual([
      'the summary of the phase is missing',
    ]);
  });

  it('OD2: a summary that was overtaken by a later call of its turn is owed again', () => {
    const scene: Scene = {
      member: 'syn',
      phase: 'negotiate',
      events: [claimed, ...conceded('con')],
      duties: { summary: true },
      round: 3,
    };
    const early: StateCall = {
      tool: 'submit_summary',
      summary: { summary_ref: 's', decided: [], open: ['api', 'db'] },
    };
    expect(owed(scene, early)).toEqual([]);
    expect(owed(scene, early, calls.negotiate_response)).toEqual([
      'these sections are settled, and no decision names them: "api"',
    ]);
  });

  it('OD3: an orchestrator that has something left to do gives somebody a turn', () => {
    const scene: Scene = {
      type: 'hierarchical',
      member: 'boss',
      phase: 'deliberate',
      duties: { assign: true, claim: ['api', 'db'] },
    };
    expect(owed(scene)).toEqual([
      'something is left to do, and you gave nobody a turn',
      'nobody has claimed these sections: "api", "db"',
    ]);
    expect(owed(scene, calls.assign_turn)).toEqual([]);
    expect(owed({ ...scene, at_work: ['ann'] })).toEqual([]);
  });

  it('OD4: whoever has not agreed to an open claim gets a turn in each round of it', () => {
    const scene: Scene = {
      type: 'hierarchical',
      member: 'boss',
      phase: 'negotiate',
      events: [{ ...claimed, member: 'ann', registered_by: 'ann' }],
    };
    const toBob = { ...calls.assign_turn, member: 'bob' };
    const unasked = ['claims wait for these workers: "bob"'];
    expect(owed(scene)).toEqual(unasked);
    expect(owed(scene, calls.assign_turn)).toEqual(unasked);
    expect(owed(scene, calls.assign_turn, toBob)).toEqual([]);
    expect(owed({ ...scene, at_work: ['bob'] }, calls.assign_turn)).toEqual([]);
    expect(owed({ ...scene, round: 4 })).toEqual([]);
  });
});

it('a plan that sets nothing gets every default', () => {
  const { type, reason, members, section_ids } = setupOf('dialectic', ['api']);
  const sections = section_ids.map((section_id) => ({ section_id }));
  expect(resolveTriad({ type, reason, members: [...members], sections })).toMatchObject({
    rounds_max: 3,
    timeouts: { turn_seconds: 1_800, phase_seconds: 14_400 },
  });
  const own = resolveTriad({
    type,
    reason,
    members: [...members],
    sections,
    rounds_max: 1,
    timeouts: { turn_seconds: 7 },
  });
  expect(own).toMatchObject({ rounds_max: 1, timeouts: { turn_seconds: 7, round_seconds: 5_400 } });
});
