import type { StateCall, StateToolName } from '../../../contracts/state-call.ts';
import type { SpecEvent } from '../../../core/spec/spec-events.ts';
import { findDissent } from '../../../core/spec/read-spec.ts';
import { stepSpec } from '../../../core/spec/step-spec.ts';
import { engineLimits } from '../../../core/limits.ts';
import { judgeCall, openWork, takeCode } from '../../../core/triad/judge-call.ts';
import type { CallAnswer, TurnWork } from '../../../core/triad/judged-call.ts';
import {
  findWriter,
  hears,
  listNegotiators,
  listStateTools,
  rolesOf,
} from '../../../core/triad/roles.ts';
import { membersOf, triadTypes } from '../../support/triad-play.ts';
import { briefOf, calls, claimed, conceded, settled } from './triad-scene.ts';
import type { Scene } from './triad-scene.ts';
import type { TriadPhase, TriadRole } from '../../../contracts/triad.ts';

const phases: readonly TriadPhase[] = ['deliberate', 'negotiate', 'execute'];

function judge(scene: Scene, call: StateCall): { work: TurnWork; answer: CallAnswer } {
  const brief = briefOf(scene);
  const judged = judgeCall(brief, openWork(brief), call);
  if (judged.type !== 'answered') throw new Error('code is to be written first');
  return judged;
}

function toolsOf(role: TriadRole, phase: TriadPhase): StateToolName[] {
  return listStateTools({ role }, phase, false);
}

describe('roles', () => {
  it('RO1: a critic never writes, and nobody else than an orchestrator gives turns', () => {
    for (const phase of phases) {
      const critic = toolsOf('critic', phase);
      expect(critic).not.toContain('edit_section');
      expect(critic).not.toContain('generate_code');
      expect(critic).not.toContain('register_claim');
      for (const role of ['worker', 'proposer', 'critic', 'synthesizer', 'peer'] as const) {
        expect(toolsOf(role, phase)).not.toContain('assign_turn');
      }
      expect(toolsOf('orchestrator', phase)).not.toContain('negotiate_response');
      expect(toolsOf('orchestrator', phase)).not.toContain('edit_section');
      expect(listStateTools({ role: 'peer' }, phase, true).includes('submit_summary')).toBe(
        phase !== 'execute',
      );
    }
    expect(toolsOf('proposer', 'execute')).toContain('generate_code');
    expect(toolsOf('orchestrator', 'deliberate')).toContain('register_claim');
  });

  it('RO2: a worker hears nobody, and a proposer does not hear the synthesizer', () => {
    const roles = [...new Set(Object.values(rolesOf).flat())];
    const heard = (listener: TriadRole) => roles.filter((speaker) => hears(listener, speaker));
    expect(Object.fromEntries(roles.map((role) => [role, heard(role)]))).toEqual({
      orchestrator: ['worker'],
      worker: [],
      proposer: ['critic'],
      critic: ['proposer'],
      synthesizer: ['proposer', 'critic'],
      peer: ['peer'],
    });
  });

  it('RO3: a worker, the synthesizer or a peer writes; an orchestrator does not negotiate either', () => {
    const writers = triadTypes.map((type) => findWriter(type, membersOf[type])?.name);
    expect(writers).toEqual(['ann', 'syn', 'ann']);
    expect(listNegotiators(membersOf.hierarchical)).toEqual(['ann', 'bob']);
    expect(listNegotiators(membersOf.consensus)).toHaveLength(3);
  });
});

describe('calls', () => {
  it('TC1: a tool that was not offered is refused', () => {
    for (const type of triadTypes) {
      for (const { name, role } of membersOf[type]) {
        for (const phase of phases) {
          const scene = { type, member: name, phase };
          const { tools } = briefOf(scene);
          for (const call of Object.values(calls).filter(({ tool }) => !tools.includes(tool))) {
            const { work, answer } = judge(scene, call);
            expect(answer).toMatchObject({ is_error: true });
            expect(answer.text).toContain(
              `${call.tool} is not for a ${role} in ${phase}. Try: one of`,
            );
            expect(work.events).toEqual([]);
          }
        }
      }
    }
  });

  it.each<[string, Scene, StateCall, string]>([
    [
      'an unknown section',
      { member: 'pro', phase: 'deliberate' },
      { tool: 'register_claim', section_id: 'nowhere', for_member: null, proposal_ref: 'p' },
      'section_id: the spec has no section "nowhere". Try: one of "api", "db"',
    ],
    [
      "a section that is somebody else's",
      { member: 'pro', phase: 'execute', events: ownedBy('syn') },
      calls.edit_section,
      'section_id: section "api" belongs to syn, and only its owner writes it',
    ],
    [
      'a section that nobody owns',
      { member: 'pro', phase: 'execute' },
      calls.edit_section,
      'section_id: nobody owns section "api": it stayed unsettled. Try: go on without it',
    ],
    [
      'an unknown claim',
      { member: 'con', phase: 'negotiate' },
      calls.negotiate_response,
      'claim_id: there is no claim "api.pro". Try: one of none',
    ],
    [
      'a worker that is at work',
      { type: 'hierarchical', member: 'boss', phase: 'deliberate', at_work: ['ann'] },
      calls.assign_turn,
      'member: ann is at work. Try: wait for its result',
    ],
    [
      'a round that there is not',
      { type: 'hierarchical', member: 'boss', phase: 'deliberate', round: 4 },
      calls.assign_turn,
      'member: all 3 rounds of this phase were given out',
    ],
    [
      'somebody who is no worker',
      { type: 'hierarchical', member: 'boss', phase: 'deliberate' },
      { tool: 'assign_turn', member: 'boss', instruction_ref: 'i' },
      'member: "boss" is no worker of this triad. Try: one of "ann", "bob"',
    ],
    [
      'an output that is not there',
      { type: 'hierarchical', member: 'boss', phase: 'execute' },
      calls.open_negotiation,
      'section_id: section "api" has no output yet. Try: give its owner a turn first',
    ],
    [
      'a summary out of turn',
      { member: 'syn', phase: 'deliberate' },
      calls.submit_summary,
      'tool: it is not time for the summary',
    ],
    [
      'a summary while claims are open',
      { member: 'syn', phase: 'negotiate', events: [claimed], duties: { summary: true } },
      calls.submit_summary,
      'tool: claims are open, and rounds are left to settle them. Try: only your answers now',
    ],
  ])('TC2: %s is refused, and nothing is changed', (_what, scene, call, said) => {
    const { work, answer } = judge(scene, call);
    expect(answer.is_error).toBe(true);
    expect(answer.text).toContain(`Refused: ${said}`);
    expect(work).toEqual(openWork(briefOf(scene)));
  });

  it('TC2: a stale edit comes back with what stands', () => {
    const draft: SpecEvent = {
      type: 'edit',
      member: 'pro',
      section_id: 'api',
      base_version: 1,
      status: 'in_progress',
      text_ref: 'draft',
      language: null,
    };
    const { answer } = judge(
      { member: 'pro', phase: 'deliberate', events: [draft] },
      calls.edit_section,
    );
    expect(answer).toEqual({
      is_error: true,
      current_ref: 'draft',
      text: 'Refused: base_version: section "api" is at version 2 now, and you changed 1. Try: look at what stands now, and decide again. What stands now follows.',
    });
  });

  it('TC3: an answer to a claim comes back with decision, round, history and participants', () => {
    const scene: Scene = {
      member: 'syn',
      phase: 'negotiate',
      events: [claimed, ...conceded('con')],
    };
    const { answer } = judge(scene, { ...calls.negotiate_response });
    expect(JSON.parse(answer.text)).toEqual({
      decision: 'CONCEDE',
      claim_id: 'api.pro',
      section_id: 'api',
      member: 'pro',
      revision: 1,
      revised_by: 'pro',
      state: 'settled',
      round: 1,
      history: ['round 1: con CONCEDE revision 1', 'round 1: syn CONCEDE revision 1'],
      participants: ['pro', 'con', 'syn'],
    });
  });

  it('TC4: who is no orchestrator claims for itself, and an orchestrator for its workers alone', () => {
    const forOther: StateCall = { ...calls.register_claim, for_member: 'syn' };
    expect(judge({ member: 'pro', phase: 'deliberate' }, forOther).answer.text).toContain(
      'for_member: only an orchestrator claims for others',
    );
    const boss: Scene = { type: 'hierarchical', member: 'boss', phase: 'deliberate' };
    expect(judge(boss, calls.register_claim).answer.text).toContain('for its workers');
    const given = judge(boss, { ...calls.register_claim, for_member: 'bob' });
    expect(given.answer).toMatchObject({ is_error: false });
    expect(given.work.events).toMatchObject([{ member: 'bob', registered_by: 'boss' }]);
  });

  it('TC5: code is written for a section of its own, with the settled proposal, and becomes its text', () => {
    const scene: Scene = { member: 'pro', phase: 'execute', events: settled };
    const brief = briefOf(scene);
    const judged = judgeCall(brief, openWork(brief), calls.generate_code);
    if (judged.type !== 'write_code') throw new Error('no code was ordered');
    expect(judged.order).toEqual({
      section_id: 'api',
      language: 'sql',
      instructions_ref: 'i',
      proposal_ref: 'p',
      text_ref: null,
    });
    const taken = takeCode(brief, openWork(brief), judged.order, 'code');
    expect(taken).toMatchObject({
      answer: { text: '', current_ref: 'code', is_error: false },
      work: { events: [{ type: 'edit', text_ref: 'code', language: 'sql', status: 'done' }] },
    });
    const other = judge({ ...scene, member: 'syn' }, calls.generate_code);
    expect(other.answer.text).toContain('section "api" is not yours');
  });

  it.each([
    [['api'], [], 'not settled, and no open question names them: "db"'],
    [['api', 'db', 'ui'], [], 'decisions: the spec has no section "ui"'],
    [[], ['api', 'db'], 'settled, and no decision names them: "api"'],
    [['api', 'db'], [], 'not settled, and no open question names them: "db"'],
    [['api'], ['db'], null],
  ])(
    'TC6: after a negotiation a summary that decides %j and leaves %j open',
    (decided, open, fault) => {
      const scene: Scene = {
        member: 'syn',
        phase: 'negotiate',
        events: settled,
        duties: { summary: true },
      };
      const summary = { summary_ref: 's', decided, open };
      const { work, answer } = judge(scene, { tool: 'submit_summary', summary });
      expect(work.summary).toEqual(fault === null ? summary : null);
      expect(answer.text).toContain(fault ?? 'The summary is taken.');
      expect(answer.is_error).toBe(fault !== null);
    },
  );

  it('TC5: no code is ordered for a section whose output is disputed or agreed', () => {
    const scene: Scene = {
      type: 'hierarchical',
      member: 'ann',
      phase: 'execute',
      events: [
        ...ownedBy('ann'),
        written,
        { type: 'dispute', by: 'boss', section_id: 'api', version: 2, reason_ref: 'r' },
      ],
    };
    const { answer } = judge(scene, calls.generate_code);
    expect(answer.text).toContain('the output of section "api" is disputed');
  });

  it('TC2: a turn that has made all the records that one may make is told to end', () => {
    const brief = briefOf({ member: 'pro', phase: 'deliberate' });
    const max = engineLimits.turnRecordsMax;
    const events = Array.from({ length: max }, () => claimed);
    const judged = judgeCall(brief, { ...openWork(brief), events }, calls.register_claim);
    expect(judged).toMatchObject({ work: { events }, answer: { is_error: true } });
  });

  it('TC6: a summary is refused with every fault at once', () => {
    const scene: Scene = { member: 'syn', phase: 'deliberate', duties: { summary: true } };
    const summary = { summary_ref: 's', decided: ['ui'], open: [] };
    const { answer } = judge(scene, { tool: 'submit_summary', summary });
    expect(answer.text).toContain('the spec has no section "ui"');
    expect(answer.text).toContain('these sections are named nowhere: "api", "db"');
  });

  it('a disputed output says in the records what it contradicts', () => {
    const scene: Scene = {
      type: 'hierarchical',
      member: 'boss',
      phase: 'execute',
      events: [...ownedBy('ann'), written],
    };
    const { work } = judge(scene, calls.open_negotiation);
    expect(work.spec.claims.at(-1)).toMatchObject({ about: 'output', dispute_ref: 'r' });
    const closed = stepSpec(work.spec, { type: 'close' }).state;
    expect(findDissent(closed)).toMatchObject([{ claim_id: 'api.output', dispute_ref: 'r' }]);
  });

  it('queries tell the records, and change nothing', () => {
    const scene: Scene = { member: 'con', phase: 'negotiate', events: [claimed] };
    const all = judge(scene, calls.get_current_claims);
    expect(JSON.parse(all.answer.text)).toMatchObject([{ claim_id: 'api.pro', state: 'open' }]);
    const none = judge(scene, { tool: 'get_current_claims', section_id: 'db' });
    expect(JSON.parse(none.answer.text)).toEqual([]);
    const one = judge(scene, calls.get_negotiation_state);
    expect(JSON.parse(one.answer.text)).toMatchObject({ round: 1, history: [] });
    expect(one.work).toEqual(openWork(briefOf(scene)));
  });
});

const written: SpecEvent = {
  type: 'edit',
  member: 'ann',
  section_id: 'api',
  base_version: 1,
  status: 'done',
  text_ref: 't',
  language: null,
};

function ownedBy(member: string): SpecEvent[] {
  return [
    { ...claimed, member, registered_by: member },
    ...conceded('pro', 'con', 'syn', 'bob').map((event) => ({
      ...event,
      claim_id: `api.${member}`,
    })),
  ];
}
