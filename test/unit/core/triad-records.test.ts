/** Invariants of a triad's records across turns, claims and phases. */
import type { StateCall } from '../../../contracts/state-call.ts';
import { findSection } from '../../../core/spec/read-spec.ts';
import type { SpecEvent } from '../../../core/spec/spec-events.ts';
import { stepSpec } from '../../../core/spec/step-spec.ts';
import { judgeCall, openWork } from '../../../core/triad/judge-call.ts';
import { openPhase } from '../../../core/triad/step-phase.ts';
import { viewPhase } from '../../../core/triad/phase-state.ts';
import { dutiful, playPhase, setupOf, specOf, writesLater } from '../../support/triad-play.ts';
import type { Player } from '../../support/triad-play.ts';
import { answers, claims, specAfter } from './triad-builders.ts';
import { briefOf, calls, claimed, conceded } from './triad-scene.ts';

const workers = ['ann', 'bob'];

function writes(member: string, base_version: number, status: 'in_progress' | 'done'): SpecEvent {
  const text_ref = `v${base_version + 1}`;
  const language = null;
  return { type: 'edit', member, section_id: 'api', base_version, status, text_ref, language };
}

const disputed = specAfter(
  ['api'],
  [
    claims('ann', 'api', 'p'),
    answers('bob', 'api.ann', 'CONCEDE', 'r'),
    writes('ann', 1, 'done'),
    { type: 'dispute', by: 'boss', section_id: 'api', version: 2, reason_ref: 'why' },
  ],
  workers,
);

it('SE6: an output that is agreed in another revision becomes that revision', () => {
  const revised = stepSpec(
    disputed,
    answers('bob', 'api.output', 'REVISE', 'r', { revised_ref: 'better' }),
  );
  expect(findSection(revised.state, 'api')).toMatchObject({ text_ref: 'v2', version: 2 });
  const agreed = stepSpec(
    revised.state,
    answers('ann', 'api.output', 'CONCEDE', 'r', { revision: 2 }),
  );
  expect(findSection(agreed.state, 'api')).toMatchObject({ text_ref: 'better', version: 3 });
});

it('SE9: what is settled is the text of its section, unless it is a plan', () => {
  const { write_later: _later, ...whole } = claimed;
  const agreed = [...conceded('con'), ...conceded('syn')];
  const done = specAfter(['api'], [whole, ...agreed], ['pro', 'con', 'syn']);
  expect(done.sections).toMatchObject([
    { owner: 'pro', status: 'done', text_ref: 'p', version: 2 },
  ]);
  const planned = specAfter(['api'], [claimed, ...agreed], ['pro', 'con', 'syn']);
  expect(planned.sections).toMatchObject([{ owner: 'pro', status: 'open', text_ref: null }]);
});

it('TC7: the turn that gives the output of a dialectic triad changes no section', () => {
  const events = [{ ...claimed, member: 'syn' }, ...conceded('pro', 'con')];
  const own = events.map((one) => ('claim_id' in one ? { ...one, claim_id: 'api.syn' } : one));
  const scene = { member: 'syn', phase: 'execute', events: own, duties: { output: true } } as const;
  const brief = briefOf(scene);
  for (const call of [calls.edit_section, calls.generate_code]) {
    const judged = judgeCall(brief, openWork(brief), call);
    expect(judged).toMatchObject({
      answer: { is_error: true, text: expect.stringContaining('the sections are final') },
    });
  }
});

it('SE8: nobody finishes a section that nobody owns', () => {
  const spec = specAfter(['api'], [], workers);
  expect(stepSpec(spec, writes('ann', 1, 'done'))).toMatchObject({
    state: spec,
    result: { ok: false, fault: { path: 'status' } },
  });
  expect(stepSpec(spec, writes('ann', 1, 'in_progress')).result).toEqual({ ok: true });
});

it('TC5: code is written by the proposal that was settled, whoever else had claimed the section', () => {
  const rival = { ...claimed, member: 'syn', registered_by: 'syn', proposal_ref: 'rival' };
  const brief = briefOf({
    member: 'pro',
    phase: 'execute',
    events: [rival, claimed, ...conceded('con', 'syn')],
  });
  const judged = judgeCall(brief, openWork(brief), calls.generate_code);
  expect(judged).toMatchObject({ type: 'write_code', order: { proposal_ref: 'p' } });
});

/** Both draft the one section in the first round, which only one of them can. */
const drafting: Player = (order, work) => {
  const { round } = order.brief;
  if (round > 1 || work.events.length > 0) return dutiful()(order, work);
  const draft: StateCall = { ...calls.edit_section, text_ref: `of-${order.brief.member.name}` };
  return [draft, ...dutiful()(order, work)];
};

it('TP3: what was overtaken comes back once', () => {
  const setup = setupOf('consensus', ['api'], 5);
  const { state, orders } = playPhase(setup, 'deliberate', specOf(setup), drafting);
  const returned = orders.filter(({ brief }) => brief.returned.length > 0);
  expect(returned.map(({ brief }) => brief.member.name)).toEqual(['bob', 'cid']);
  // Who has nothing left to do gets no turn: three in the first round, two in the second, the writer.
  expect(orders).toHaveLength(6);
  expect(state.returned).toEqual([]);
});

describe('a hierarchical triad', () => {
  const setup = setupOf('hierarchical', ['api', 'schema']);
  const { spec } = playPhase(setup, 'deliberate', specOf(setup), writesLater(dutiful())).state;

  it('negotiates a round by both workers before its orchestrator has to say more', () => {
    const once = dutiful((_, { brief }) => (brief.round === 1 ? 'HOLD' : 'CONCEDE'));
    const { orders } = playPhase(setup, 'negotiate', spec, once);
    expect(orders.map(({ brief }) => brief.member.name)).toEqual([
      'boss',
      'ann',
      'bob',
      'boss',
      'ann',
      'bob',
      'ann',
    ]);
  });

  it('counts the rounds of each phase anew, and finishes what its orchestrator forgot', () => {
    const negotiated = playPhase(setup, 'negotiate', spec, dutiful()).state.spec;
    const used = { ...negotiated, rounds: 3 };
    const forgetful: Player = (order, work) => {
      const { member, round } = order.brief;
      if (member.role !== 'orchestrator') return dutiful()(order, work);
      const toAnn = work.assignments.length === 0 && round <= setup.rounds_max;
      return toAnn ? [{ tool: 'assign_turn', member: 'ann', instruction_ref: 'go' }] : [];
    };
    const { state, orders } = playPhase(setup, 'execute', used, forgetful);
    expect(state.spec.rounds).toBe(0);
    expect(state.spec.sections.every(({ status }) => status === 'done')).toBe(true);
    const ofBob = orders.filter(({ brief }) => brief.member.name === 'bob');
    expect(ofBob.map(({ brief }) => [brief.duties.finish, brief.instruction_ref])).toEqual([
      [['schema'], null],
    ]);
  });

  it('has its first worker sum up with all that its orchestrator said, and nothing of the other', () => {
    const once = dutiful((_, { brief }) => (brief.round === 1 ? 'HOLD' : 'CONCEDE'));
    const { orders } = playPhase(setup, 'negotiate', spec, once);
    const last = orders.at(-1)?.brief;
    expect(last).toMatchObject({ member: { name: 'ann' }, duties: { summary: true } });
    expect(new Set(last?.heard.map(({ member }) => member))).toEqual(new Set(['boss']));
  });

  it('is in its first round before its orchestrator has given one out', () => {
    const { state } = openPhase(setup, 'deliberate', { spec: specOf(setup), summary_ref: null });
    expect(state.round).toBe(0);
    expect(viewPhase(state, 'running')).toMatchObject({ round: 1, at_work: ['boss'] });
  });
});
