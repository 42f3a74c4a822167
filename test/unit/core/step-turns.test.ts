import * as fc from 'fast-check';
import type { TurnReply } from '../../../contracts/model-turn.ts';
import type { OutputFault } from '../../../contracts/output-fault.ts';
import { engineLimits } from '../../../core/limits.ts';
import { openTurns, stepTurns } from '../../../core/turns/step-turns.ts';
import type {
  ToolsVerdict,
  TurnsCommand,
  TurnsEvent,
  TurnsOptions,
  TurnsState,
} from '../../../core/turns/turns-state.ts';
import { output, property } from './builders.ts';

const options: TurnsOptions = { max_turns: 40, max_output_tokens: 16_000 };

const fault = (reason: string): OutputFault => ({ path: 'coverage', reason, hint: 'Try: more' });
const reply = (made: TurnReply): TurnsEvent => ({ type: 'reply', reply: made });
const toolCall = { tool_use_id: 't1', name: 'load_detail', input_ref: 'r' };

const good = reply({
  type: 'output',
  outline: { shape: 'agent_output', output: output() },
});
const malformed = reply({ type: 'malformed', faults: [fault('no JSON')] });
const tools = reply({ type: 'tools', calls: [toolCall] });
const done = (verdict: ToolsVerdict): TurnsEvent => ({ type: 'tool_results', count: 1, verdict });
const fine: TurnsEvent = { type: 'checked', faults: [] };
const broken: TurnsEvent = { type: 'checked', faults: [fault('c1 is missing')] };

/** The commands that a row of events brings. */
function play(events: readonly TurnsEvent[], over: Partial<TurnsOptions> = {}): TurnsCommand[] {
  let state = openTurns({ ...options, ...over });
  return events.map((event) => {
    const step = stepTurns(state, event);
    state = step.state;
    return step.command;
  });
}

const last = (events: readonly TurnsEvent[], over: Partial<TurnsOptions> = {}): TurnsCommand =>
  play(events, over).at(-1) ?? openTurns({ ...options, ...over }).command;

const call = { type: 'call', max_output_tokens: 16_000, compact: false, note: [], from: 'head' };

const anyReply: fc.Arbitrary<TurnReply> = fc.oneof(
  fc.constantFrom<TurnReply>(
    { type: 'output', outline: { shape: 'agent_output', output: output() } },
    { type: 'malformed', faults: [fault('no JSON')] },
    { type: 'tools', calls: [toolCall] },
    { type: 'tools', calls: [] },
    { type: 'truncated' },
    { type: 'context_exceeded' },
    { type: 'empty' },
    { type: 'paused' },
  ),
  fc.constantFrom<TurnReply>(
    { type: 'refused', text: 'No.' },
    { type: 'unknown_stop', stop_reason: 'tea' },
    { type: 'aborted' },
  ),
);

const anyEvent: fc.Arbitrary<TurnsEvent> = fc.oneof(
  { weight: 5, arbitrary: anyReply.map(reply) },
  { weight: 3, arbitrary: fc.constantFrom(fine, broken) },
  { weight: 3, arbitrary: fc.nat(2).map((count): TurnsEvent => ({ type: 'tool_results', count })) },
  fc.constant<TurnsEvent>({ type: 'resumed' }),
);

const anyOptions = fc.record({
  max_turns: fc.integer({ min: 1, max: 12 }),
  max_output_tokens: fc.integer({ min: 1, max: 70_000 }),
  attempts_max: fc.integer({ min: 1, max: 4 }),
});

describe('stepTurns', () => {
  it('the first call is outstanding from the beginning', () => {
    expect(openTurns(options)).toMatchObject({ type: 'calling', turns: 1, command: call });
  });

  it('an output that keeps its rule finishes', () => {
    expect(play([good, fine])).toEqual([{ type: 'check' }, { type: 'finish' }]);
  });

  it('fault 24: tools are run, and their results go back', () => {
    expect(play([tools, { type: 'tool_results', count: 1 }])).toEqual([
      { type: 'run_tools', calls: [toolCall] },
      call,
    ]);
  });

  it('TU1: an event that does not fit gets the outstanding command again', () => {
    const state = openTurns(options);
    const unfit: readonly TurnsEvent[] = [
      fine,
      broken,
      { type: 'resumed' },
      { type: 'tool_results', count: 1 },
    ];
    for (const event of unfit) {
      expect(stepTurns(state, event)).toEqual({ state, command: state.command });
    }
    const check = { type: 'check' };
    expect(play([good, good, tools])).toEqual([check, check, check]);
  });

  it('TU1: every state takes every event', () => {
    const states = new Map<string, TurnsState>();
    fc.assert(
      fc.property(anyOptions, fc.array(anyEvent, { maxLength: 30 }), (made, events) => {
        let state = openTurns(made);
        for (const event of events) {
          const step = stepTurns(state, event);
          expect(step.command).toEqual(step.state.command);
          state = step.state;
          states.set(state.type, state);
        }
      }),
      property,
    );
    expect([...states.keys()].toSorted()).toEqual(
      ['calling', 'checking', 'failed', 'finished', 'stopped', 'using_tools'].toSorted(),
    );
  });

  it('TU2: never more than max_turns calls', () => {
    fc.assert(
      fc.property(anyOptions, fc.array(anyEvent, { maxLength: 60 }), (made, events) => {
        let state = openTurns(made);
        let calls = 1;
        for (const event of events) {
          const step = stepTurns(state, event);
          if (step.state !== state && step.command.type === 'call') calls += 1;
          state = step.state;
          expect(state.turns).toBe(calls);
        }
        expect(calls).toBeLessThanOrEqual(made.max_turns);
      }),
      property,
    );
  });

  it('TU2: the limit is named, and calls of an earlier run of the workflow count', () => {
    const results: TurnsEvent = { type: 'tool_results', count: 1 };
    expect(last([tools, results, tools, results], { max_turns: 2 })).toEqual({
      type: 'fail',
      why: 'turns_spent',
      reason: 'The limit of 2 turns (max_turns) is reached.',
    });
    expect(last([malformed], { max_turns: 40, turns_done: 39 })).toMatchObject({
      type: 'fail',
      why: 'turns_spent',
      reason: expect.stringContaining('no JSON'),
    });
    expect(openTurns({ ...options, turns_done: 40 }).type).toBe('failed');
  });

  it('TU3: fault 27: broken JSON and a broken rule are repaired, three attempts in all', () => {
    expect(play([malformed, good, broken, malformed])).toEqual([
      { ...call, note: [fault('no JSON')] },
      { type: 'check' },
      { ...call, note: [fault('c1 is missing')] },
      {
        type: 'fail',
        why: 'invalid_output',
        reason: 'No valid output in 3 attempts. The last one: coverage: no JSON',
      },
    ]);
    expect(last([malformed], { attempts_max: 1 })).toMatchObject({ type: 'fail' });
  });

  it('TU3: tools in between do not buy more attempts, answers of the user do', () => {
    const results: TurnsEvent = { type: 'tool_results', count: 1 };
    const between = [malformed, tools, results, malformed, tools, results, malformed];
    expect(last(between)).toMatchObject({ type: 'fail' });
    expect(last([malformed, malformed, good, fine, { type: 'resumed' }, malformed])).toMatchObject({
      type: 'call',
    });
  });

  it('TU4: fault 24: an empty reply is not answered by the same call', () => {
    expect(last([reply({ type: 'empty' })])).toMatchObject({
      type: 'call',
      from: 'before',
      note: [{ reason: 'the reply was empty' }],
    });
    const empties = Array<TurnsEvent>(3).fill(reply({ type: 'empty' }));
    expect(last(empties)).toMatchObject({ type: 'fail' });
  });

  it('TU4: a reply that asks for tools and names none is told so', () => {
    expect(last([reply({ type: 'tools', calls: [] })])).toMatchObject({
      type: 'call',
      from: 'head',
      note: [{ reason: 'the reply asked for tools but named none' }],
    });
  });

  it('TU4: fault 24: a pause of the provider goes on from where it was', () => {
    expect(last([reply({ type: 'paused' })])).toEqual(call);
  });

  it('TU4: no other reply is answered by an unchanged call', () => {
    fc.assert(
      fc.property(anyOptions, fc.array(anyEvent, { maxLength: 30 }), (made, events) => {
        let state = openTurns(made);
        for (const event of events) {
          const before = state;
          const { state: next, command } = stepTurns(state, event);
          state = next;
          if (next === before || command.type !== 'call' || event.type !== 'reply') continue;
          if (event.reply.type === 'paused') continue;
          const isChanged =
            command.note.length > 0 ||
            command.compact ||
            command.max_output_tokens > before.max_output_tokens;
          expect(isChanged).toBe(true);
        }
      }),
      property,
    );
  });

  it('TU5: fault 24: a cut-off reply gets twice the tokens, twice', () => {
    const cut = reply({ type: 'truncated' });
    expect(play([cut, cut, cut])).toEqual([
      { ...call, max_output_tokens: 32_000, from: 'before' },
      { ...call, max_output_tokens: 64_000, from: 'before' },
      { type: 'fail', why: 'output_cut', reason: expect.stringContaining('64000 output tokens') },
    ]);
    expect(last([cut], { max_output_tokens: engineLimits.outputTokensCeiling })).toMatchObject({
      type: 'fail',
    });
    expect(last([cut], { max_output_tokens: 50_000 })).toMatchObject({ max_output_tokens: 64_000 });
  });

  it('TU5: later calls keep the raised tokens', () => {
    expect(last([reply({ type: 'truncated' }), malformed])).toMatchObject({
      max_output_tokens: 32_000,
    });
  });

  it('TU6: fault 24: a conversation that does not fit is compacted, twice at most', () => {
    const over = reply({ type: 'context_exceeded' });
    expect(play([over, over, over])).toEqual([
      { ...call, compact: true, from: 'before' },
      { ...call, compact: true, from: 'before' },
      { type: 'fail', why: 'context_full', reason: expect.stringContaining('after 2 compactions') },
    ]);
    expect(last([over, malformed])).toMatchObject({ compact: false });
  });

  it('TU7: fault 24: a refusal and an unknown stop end at once and say what happened', () => {
    expect(last([reply({ type: 'refused', text: 'I will not.' })])).toEqual({
      type: 'fail',
      why: 'refused',
      reason: 'The model refused: I will not.',
    });
    expect(last([reply({ type: 'unknown_stop', stop_reason: 'tea_time' })])).toMatchObject({
      reason: expect.stringContaining('"tea_time"'),
    });
    expect(last([tools, { type: 'tool_results', count: 0 }])).toMatchObject({ type: 'fail' });
  });

  it('TU8: finished goes on when answers came, failed and stopped never', () => {
    expect(last([good, fine, { type: 'resumed' }])).toEqual(call);
    expect(last([reply({ type: 'aborted' }), { type: 'resumed' }, good])).toEqual({
      type: 'stopped',
    });
    const refused = reply({ type: 'refused', text: 'No.' });
    expect(last([refused, { type: 'resumed' }, good])).toMatchObject({ type: 'fail' });
  });

  it('TU8: answers that only refuse the questions end it the third time in a row', () => {
    const refused: readonly TurnsEvent[] = [good, fine, { type: 'resumed', is_refused: true }];
    expect(last([...refused, ...refused])).toEqual(call);
    expect(last([...refused, ...refused, ...refused])).toMatchObject({
      type: 'fail',
      reason: expect.stringContaining('were refused 3 times in a row'),
    });
    const answered: readonly TurnsEvent[] = [good, fine, { type: 'resumed' }];
    expect(last([...refused, ...refused, ...answered, ...refused])).toEqual(call);
  });

  it('TU8: an agent reads a refusal, however many bad outputs it made before', () => {
    const refused: readonly TurnsEvent[] = [good, fine, { type: 'resumed', is_refused: true }];
    expect(last([malformed, malformed, ...refused])).toEqual(call);
    expect(last([malformed, malformed, ...refused, malformed, malformed])).toMatchObject({
      type: 'call',
    });
  });

  it('TU9: tools may end the turn, and the results wait', () => {
    const over = done({ type: 'finished' });
    expect(last([tools, over])).toEqual({ type: 'finish', by: 'tools' });
    expect(last([tools, over, { type: 'resumed' }])).toEqual(call);
  });

  it('TU9: refused calls spend attempts together with bad output, three in all', () => {
    const refused = done({ type: 'invalid', faults: [fault('no such claim')] });
    expect(play([tools, refused])[1]).toEqual(call);
    expect(last([tools, refused, malformed, tools, refused])).toMatchObject({
      type: 'fail',
      why: 'invalid_output',
      reason: expect.stringContaining('no such claim'),
    });
  });

  it('TU9: a tool that could not do its work fails the turn at once', () => {
    const failed = done({ type: 'failed', why: 'refused', reason: 'no code' });
    expect(last([tools, failed])).toEqual({ type: 'fail', why: 'refused', reason: 'no code' });
  });

  it('TU9: calls that tools made count as turns', () => {
    const results: TurnsEvent = { type: 'tool_results', count: 1, calls_made: 3 };
    expect(last([tools, results], { max_turns: 4 })).toMatchObject({ why: 'turns_spent' });
    expect(last([tools, results], { max_turns: 5 })).toEqual(call);
  });
});
