import * as fc from 'fast-check';
import type { QuestionsEscalation } from '../../../contracts/messages.ts';
import type { AskedQuestion, PlannerVerdict, Question } from '../../../contracts/question.ts';
import type { InboxEffect, InboxEvent } from '../../../core/questions/inbox-event.ts';
import { openInbox, stepInbox } from '../../../core/questions/step-inbox.ts';
import type { InboxState } from '../../../core/questions/step-inbox.ts';
import { asked, escalation, property, question, usualRules } from './builders.ts';
import {
  findSameQuestion,
  askersOf,
  joinQuestion,
  leaveQuestion,
  listWaiting,
} from '../../../core/questions/check-asked-questions.ts';

const region = question({ text: 'Which region?' });
const awaited = (): boolean => true;

/** Escalations as a wave passes them on: from the wave, for a delegation. */
const of = (id: string, ...questions: readonly AskedQuestion[]): QuestionsEscalation =>
  escalation(`${id}#1`, questions, {
    from: 'run/wave-001',
    delegation_id: id,
    agent_id: `a-${id}`,
  });

const ask = (from: QuestionsEscalation): InboxEvent => ({
  type: 'ask',
  escalation: from,
  now: 1,
  use_defaults: false,
  autonomy: 'ask',
  rules: usualRules,
});

/** The nth member of one delegation asks for the region. */
const askRegion = (nth: number): InboxEvent =>
  ask({ ...of('d1', asked({ text: 'Which region?' })), escalation_id: `d1#${nth}` });

const answer = (question_id: string): InboxEvent => ({
  type: 'answer',
  payload: { question_id, answer: `to ${question_id}` },
  now: 2,
  default_answered_by: 'user',
});

const withdrawAll = (from: string): InboxEvent & { readonly type: 'withdraw' } => ({
  type: 'withdraw',
  from,
  delegation_id: null,
  now: 3,
});

const withdraw = (delegation_id: string): InboxEvent => ({
  type: 'withdraw',
  from: 'run/wave-001',
  delegation_id,
  now: 3,
});

function play(...events: readonly InboxEvent[]): { state: InboxState; effects: InboxEffect[] } {
  let state = openInbox(null);
  const effects: InboxEffect[] = [];
  for (const event of events) {
    const step = stepInbox(state, event);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const deliveredTo = (effects: readonly InboxEffect[]): string[] =>
  effects.flatMap((effect) => (effect.type === 'deliver' ? effect.escalation_id : []));

describe('a question of work that the run does once more', () => {
  const repeat: InboxEvent = { ...withdrawAll('run/wave-001'), is_repeated: true };
  const first = of('d1', asked({ text: 'Which region?' }));
  const again = { ...of('d9', asked({ text: 'which  REGION' })), from: 'run/wave-002', wave: 2 };

  it('SQ3: WQ3: stays open under its id, and whoever asks the same becomes its asker', () => {
    const { state, effects } = play(ask(first), repeat, ask(again));
    expect(state.open).toMatchObject([
      { question_id: 'q1', wave: 2, delegation_id: 'd9', also_asked_by: [] },
    ]);
    expect(effects.map(({ type }) => type)).toEqual(['opened', 'changed']);
    expect(deliveredTo(play(ask(first), repeat, ask(again), answer('q1')).effects)).toEqual([
      'd9#1',
    ]);
  });

  it('SQ4: WQ3: takes an answer while no one waits for it, which whoever asks the same gets at once', () => {
    const early = [ask(first), repeat, answer('q1')];
    const { state, effects } = play(...early);
    expect(state).toMatchObject({ open: [], pending: [], answered: { q1: { shown: 'to q1' } } });
    expect(effects.map(({ type }) => type)).toEqual(['opened', 'answered']);
    const beside = { ...of('d8', asked({ text: 'Which region?' })), wave: 2 };
    const taken = play(...early, ask(again), ask(beside));
    expect(taken.state).toMatchObject({ open: [], pending: [], next_question: 2 });
    expect(taken.effects.slice(2)).toMatchObject(
      ['d9#1', 'd8#1'].map((escalation_id) => ({
        type: 'deliver',
        escalation_id,
        answers: [{ question_id: 'q1', answer_text: 'to q1', answered_by: 'user', loop: false }],
      })),
    );
  });

  it('SQ4: one that asks the same in a later wave, or after the work has ended, is put to the user', () => {
    const early = [ask(first), repeat, answer('q1')];
    const later = { ...again, escalation_id: 'd9#2', wave: 3 };
    expect(play(...early, ask(again), ask(later)).state.open).toMatchObject([{ wave: 3 }]);
    expect(play(...early, { type: 'work_ended' }, ask(again)).state).toMatchObject({
      open: [{ question_id: 'q2' }],
    });
    expect(play(...early, { type: 'work_ended' }).state).not.toHaveProperty('left');
  });

  it('SQ4: an answer that the work got before it was ended is there for the work that follows', () => {
    const late = { ...answer('q1'), work_repeats: true };
    const { effects } = play(ask(first), late, repeat, ask(again));
    expect(deliveredTo(effects)).toEqual(['d1#1', 'd9#1']);
    const approval = { ...first, kind: 'approval' } as const;
    const approved = { ...late, payload: { question_id: 'q1', answer: 'approve' } };
    expect(play(ask(approval), approved, repeat).state).not.toHaveProperty('left');
  });

  it('SQ4: a long answer keeps its reference for whoever asks for it', () => {
    const long = { ...answer('q1'), payload: { question_id: 'q1', answer: 'x'.repeat(2_000) } };
    const answer_ref = 'a'.repeat(64);
    const { effects } = play(
      ask(first),
      repeat,
      long,
      { type: 'stored', question_id: 'q1', answer_ref },
      ask(again),
    );
    expect(effects.at(-1)).toMatchObject({ answers: [{ is_cut: true, answer_ref }] });
  });

  it('SQ3: asking once more is no loop, however often the work is done, and asking twice in it is one', () => {
    const times = Array.from({ length: 4 }, (_one, at) => at + 2);
    const asks = times.map((wave) => ask({ ...first, escalation_id: `d1#${wave}`, wave }));
    const repeated = play(ask(first), repeat, ...asks.flatMap((one) => [one, repeat]));
    expect(repeated.state.open).toMatchObject([{ question_id: 'q1' }]);
    expect(repeated.effects.map(({ type }) => type)).not.toContain('looped');
    const same = times.map((nth) => ask({ ...first, escalation_id: `d1#${nth}` }));
    const { effects } = play(ask(first), repeat, answer('q1'), ...same);
    expect(effects.map(({ type }) => type)).toContain('looped');
  });

  it('WQ3: is withdrawn when it is a decision about a call that is not made any more', () => {
    const approval = { ...first, kind: 'approval' } as const;
    expect(play(ask(approval), repeat).state).toMatchObject({ open: [], pending: [] });
  });
});

describe('the same question twice', () => {
  it('SQ1: is one, when it is of one task or blocks delegations of one wave', () => {
    const other = question({ text: '  which REGION', delegation_id: 'd2' });
    expect(findSameQuestion([region], other, awaited)).toBe(region);
    const planner = question({ kind: 'planner', delegation_id: null });
    expect(findSameQuestion([region, planner], { ...planner, wave: 2 }, awaited)).toBe(planner);
    const choice = question({ expected_answer_format: 'choice', choices: ['a', 'b'] });
    expect(findSameQuestion([choice], { ...choice, choices: ['b', 'a'] }, awaited)).toBe(choice);
  });

  it.each<[string, Partial<Question>]>([
    ['another wave', { wave: 2 }],
    ['another meaning', { text: 'Which regions?' }],
    ['another format', { expected_answer_format: 'number' }],
    ['other choices', { choices: ['a'] }],
    ['another kind', { kind: 'planner' }],
    ["the engine's", { kind: 'waves_spent' }],
  ])('SQ2: is another question: %s', (_what, over) => {
    const coming = question({ ...over, delegation_id: 'd2' });
    expect(findSameQuestion([region], coming, awaited)).toBeUndefined();
    expect(findSameQuestion([coming], coming, awaited) === undefined).toBe(
      coming.kind === 'waves_spent',
    );
  });

  it('JQ1: names everybody who asks once, and the next one when the first is gone', () => {
    const d2 = question({ delegation_id: 'd2', agent_id: 'writer' });
    const both = joinQuestion(joinQuestion(region, d2), d2);
    expect(askersOf(both)).toEqual([
      { delegation_id: 'd1', agent_id: 'researcher' },
      { delegation_id: 'd2', agent_id: 'writer' },
    ]);
    const left = leaveQuestion(both, (id) => id === 'd1');
    expect(left).toEqual({ ...region, delegation_id: 'd2', agent_id: 'writer' });
    expect(leaveQuestion(left, (id) => id === 'd1')).toBe(left);
    expect(joinQuestion(region, region)).toBe(region);
  });

  it('JQ2: is as urgent as the most urgent of those who ask', () => {
    const low = question({ priority: 'low', delegation_id: 'd2' });
    expect(joinQuestion(low, region).priority).toBe('high');
    expect(joinQuestion(region, low).priority).toBe('high');
  });

  it('JQ2: settles the fact that the first one named', () => {
    const joined = joinQuestion(region, question({ delegation_id: 'd2', fact_key: 'region' }));
    expect(joined.fact_key).toBe('region');
    const other = question({ delegation_id: 'd3', fact_key: 'place' });
    expect(joinQuestion(joined, other).fact_key).toBe('region');
  });

  it('IN12: is put to the user once, and everybody gets the answer', () => {
    const { state, effects } = play(
      ask(of('d1', asked(), asked({ text: 'Who pays?' }))),
      ask(of('d2', asked())),
      answer('q1'),
      answer('q2'),
    );
    expect(effects.map(({ type }) => type)).toEqual([
      'opened',
      'opened',
      'changed',
      'answered',
      'deliver',
      'answered',
      'deliver',
    ]);
    expect(deliveredTo(effects)).toEqual(['d2#1', 'd1#1']);
    expect(effects[4]).toMatchObject({ answers: [{ question_id: 'q1', answer_text: 'to q1' }] });
    expect(state).toMatchObject({ open: [], pending: [], next_question: 3 });
  });

  it('IN12: however many members of one delegation ask while it is open, none of them is refused as a loop', () => {
    const asks = [1, 2, 3, 4].map(askRegion);
    const { state, effects } = play(...asks, answer('q1'));
    expect(effects.map(({ type }) => type)).not.toContain('looped');
    expect(deliveredTo(effects)).toEqual(['d1#1', 'd1#2', 'd1#3', 'd1#4']);
    // Asking again after the answer counts as before.
    const types = (...events: readonly InboxEvent[]): string[] =>
      play(...asks, answer('q1'), ...events).effects.map(({ type }) => type);
    expect(types(askRegion(5), answer('q2'))).not.toContain('looped');
    expect(types(askRegion(5), answer('q2'), askRegion(6))).toContain('looped');
    expect(Object.values(state.asked)).toMatchObject([{ times: 1 }]);
  });

  it('IN12: one that is answered at once waits for nobody', () => {
    const known: PlannerVerdict = {
      verdict: 'answered',
      answer: 'eu',
      source_refs: ['f1'],
      reason: 'So.',
    };
    const { state, effects } = play(
      ask(of('d1', asked())),
      ask({ ...of('d2', asked()), verdicts: [known] }),
    );
    expect(effects.map(({ type }) => type)).toEqual(['opened', 'opened', 'answered', 'deliver']);
    expect(state.open).toMatchObject([{ question_id: 'q1', also_asked_by: [] }]);
  });

  it('WQ1: stays open for those who still wait, and closes with the last of them', () => {
    const open = [ask(of('d1', asked())), ask(of('d2', asked()))];
    const one = play(...open, withdraw('d1'));
    expect(one.effects.at(-1)).toMatchObject({
      type: 'changed',
      question: { delegation_id: 'd2' },
    });
    expect(one.state.open).toMatchObject([{ question_id: 'q1', also_asked_by: [] }]);
    const none = play(...open, withdraw('d1'), withdraw('d2'), answer('q1'));
    expect(none.effects.slice(-2)).toMatchObject([
      { type: 'withdrawn', question: { question_id: 'q1' } },
      { type: 'rejected' },
    ]);
    const end = play(...open, withdraw('d1'), answer('q1'));
    expect(deliveredTo(end.effects)).toEqual(['d2#1']);
  });

  it('IN12: in any order of asking, leaving and answering, each who stays is told once, and asked is once', () => {
    const ids = ['d1', 'd2', 'd3', 'd4'];
    const texts = ['Which region?', 'Who pays?'];
    const asks = fc.array(fc.subarray(texts, { minLength: 1 }), { minLength: 4, maxLength: 4 });
    const moves = fc.array(
      fc.oneof(
        fc.constantFrom(...ids).map((id) => ({ move: 'ask' as const, id })),
        fc.constantFrom(...ids).map((id) => ({ move: 'leave' as const, id })),
        fc.constantFrom('q1', 'q2', 'q3').map((id) => ({ move: 'answer' as const, id })),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(asks, moves, (wants, run) => {
        let state = openInbox(null);
        const effects: InboxEffect[] = [];
        const waiting = new Set<string>();
        for (const { move, id } of run) {
          if (move === 'ask' && waiting.has(id)) continue;
          const questions = (wants[ids.indexOf(id)] ?? []).map((text) => asked({ text }));
          const event = { ask: ask(of(id, ...questions)), leave: withdraw(id), answer: answer(id) };
          const step = stepInbox(state, event[move]);
          if (move === 'ask') waiting.add(id);
          if (move === 'leave') waiting.delete(id);
          const told = deliveredTo(step.effects).map((one) => one.replace('#1', ''));
          expect(told.every((one) => waiting.delete(one))).toBe(true);
          state = step.state;
          effects.push(...step.effects);
          // Nobody is asked the same twice at the same time, and whoever waits is named by what is open.
          const open = state.open.map(({ text }) => text);
          expect(new Set(open).size).toBe(open.length);
          const named = state.open.flatMap((one) => askersOf(one).map((a) => a.delegation_id));
          expect(new Set(named)).toEqual(waiting);
        }
        expect(new Set(state.pending.map((pending) => pending.delegation_id))).toEqual(waiting);
      }),
      property,
    );
  });
});

const planned = (delegation_id: string, ...depends_on: string[]) => ({
  delegation_id,
  agent_id: 'researcher',
  title: delegation_id,
  depends_on,
  executor: { kind: 'agent' as const },
});

const planOf = (...delegations: readonly ReturnType<typeof planned>[]) => ({
  wave: 1,
  summary: '',
  expected: null,
  delegations,
});

const plan = planOf(planned('c', 'b'), planned('a'), planned('b', 'a'), planned('x'));

describe('what waits for a question', () => {
  it('LW1: every delegation that asked, in the order of asking', () => {
    const joined = question({
      delegation_id: 'x',
      also_asked_by: [{ delegation_id: 'a', agent_id: 'writer' }],
    });
    expect(listWaiting(joined, null)).toEqual({ waiting: ['x', 'a'], blocked: [] });
    expect(listWaiting(question({ delegation_id: null }), plan)).toEqual({
      waiting: [],
      blocked: [],
    });
  });

  it('LW2: and everything that depends on them, however far, in the order of the plan', () => {
    expect(listWaiting(question({ delegation_id: 'a' }), plan).blocked).toEqual(['c', 'b']);
    expect(listWaiting(question({ delegation_id: 'x' }), plan).blocked).toEqual([]);
    expect(listWaiting(question({ delegation_id: 'a', wave: 2 }), plan).blocked).toEqual([]);
    const ring = planOf(planned('a', 'b'), planned('b', 'a'));
    expect(listWaiting(question({ delegation_id: 'a' }), ring).blocked).toEqual(['b']);
  });

  it('LW2: in any plan, a delegation is blocked when one that it depends on waits or is blocked', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const edges = fc.array(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)));
    fc.assert(
      fc.property(edges, (pairs) => {
        const delegations = ids.map((id) =>
          planned(id, ...pairs.filter(([from, to]) => from === id && to < id).map(([, to]) => to)),
        );
        const asking = question({ delegation_id: 'b' });
        const stuck = new Set(['b', ...listWaiting(asking, planOf(...delegations)).blocked]);
        for (const { delegation_id: id, depends_on } of delegations) {
          const dependsOnStuck = depends_on.some((one) => stuck.has(one));
          expect(stuck.has(id)).toBe(id === 'b' || dependsOnStuck);
        }
      }),
      property,
    );
  });
});
