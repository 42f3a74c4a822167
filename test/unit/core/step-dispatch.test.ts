import {
  isDispatchDone,
  openDispatch,
  stepDispatch,
} from '../../../core/dispatch/step-dispatch.ts';
import { viewDispatch } from '../../../core/dispatch/view-dispatch.ts';
import type { DispatchEvent, DispatchStep } from '../../../core/dispatch/step-dispatch.ts';
import { delegation, outcome } from './builders.ts';

const options = { known_inputs: ['goal'], max_parallel: 2, paused: false };

/** Commands in short: `start d1`. */
const said = (step: DispatchStep): string[] =>
  step.commands.map((command) => `${command.type} ${command.delegation_id}`);

const after = (step: DispatchStep, ...events: readonly DispatchEvent[]): DispatchStep =>
  events.reduce((current, event) => stepDispatch(current.state, event), step);

const ended = (id: string, over = {}): DispatchEvent => ({
  type: 'ended',
  outcome: outcome(id, over),
});

const failed = (id: string): DispatchEvent => ended(id, { status: 'failed', reason: 'no luck' });

const stateOf = (step: DispatchStep): string[] => viewDispatch(step.state).map((v) => v.state);

const three = ['d1', 'd2', 'd3'].map((id) => delegation(id));
const chain = [
  delegation('d1', { produces: ['p'] }),
  delegation('d2', { depends_on: ['d1'], required_inputs: ['p'] }),
  delegation('d3', { depends_on: ['d2'] }),
];

describe('stepDispatch', () => {
  it('D1: starts only as many as may run at the same time', () => {
    const first = openDispatch(three, options);
    expect(said(first)).toEqual(['start d1', 'start d2']);
    expect(viewDispatch(first.state)[2]?.reason).toBe('a free slot (2 of 2 at work)');
    expect(said(after(first, ended('d2')))).toEqual(['start d3']);
  });

  it('D2: starts the moment its own dependencies are met, not when a batch ends', () => {
    const plan = [delegation('slow'), delegation('d1'), delegation('d2', { depends_on: ['d1'] })];
    const first = openDispatch(plan, options);
    expect(said(first)).toEqual(['start slow', 'start d1']);
    expect(said(after(first, ended('d1')))).toEqual(['start d2']);
  });

  it('D3: waits for its input, says from whom, and starts once', () => {
    const first = openDispatch(chain, options);
    expect(said(first)).toEqual(['start d1']);
    expect(viewDispatch(first.state)[1]?.reason).toBe('input "p" from d1 (running)');
    const second = after(first, ended('d1'));
    expect(said(second)).toEqual(['start d2']);
    expect(said(after(second, ended('d1')))).toEqual([]);
  });

  it('D4: those that resume go before new ones, otherwise the plan decides', () => {
    const plan = ['d1', 'd2', 'd3', 'd4'].map((id) => delegation(id));
    const first = openDispatch(plan, { ...options, max_parallel: 1 });
    const asked = after(first, { type: 'asked', delegation_id: 'd1' });
    expect(said(asked)).toEqual(['start d2']);
    const answered = after(asked, { type: 'answered', delegation_id: 'd1' });
    expect(said(answered)).toEqual([]);
    expect(stateOf(answered)).toEqual(['resuming', 'running', 'pending', 'pending']);
    expect(said(after(answered, ended('d2')))).toEqual(['resume d1']);
    expect(said(after(answered, ended('d2'), ended('d1')))).toEqual(['start d3']);
  });

  it('D5: one that waits for answers holds no slot', () => {
    const first = openDispatch(three, { ...options, max_parallel: 1 });
    const asked = after(first, { type: 'asked', delegation_id: 'd1' });
    expect(said(asked)).toEqual(['start d2']);
    expect(viewDispatch(asked.state)[0]).toEqual({
      delegation_id: 'd1',
      state: 'waiting',
      reason: 'answers to its questions',
    });
  });

  it('D6: paused, nothing starts or resumes until it is resumed', () => {
    const first = openDispatch(three, { ...options, paused: true });
    expect(said(first)).toEqual([]);
    expect(viewDispatch(first.state)[0]?.reason).toBe('the run to be resumed');
    expect(said(after(first, { type: 'resume' }))).toEqual(['start d1', 'start d2']);
    const paused = after(
      openDispatch(three, options),
      { type: 'asked', delegation_id: 'd1' },
      { type: 'pause' },
      { type: 'answered', delegation_id: 'd1' },
      ended('d2'),
    );
    expect(said(paused)).toEqual([]);
    expect(said(after(paused, { type: 'resume' }))).toEqual(['resume d1']);
  });

  it('D6: stopped, what was pending is stopped and nothing starts ever again', () => {
    const stopped = after(openDispatch(three, options), { type: 'stop' });
    expect(stateOf(stopped)).toEqual(['running', 'running', 'stopped']);
    expect(isDispatchDone(stopped.state)).toBe(false);
    const end = after(
      stopped,
      { type: 'resume' },
      ended('d1', { status: 'stopped' }),
      failed('d2'),
    );
    expect(said(end)).toEqual([]);
    expect(isDispatchDone(end.state)).toBe(true);
  });

  it('D7: what cannot start any more is skipped with the reason, down the whole chain', () => {
    const end = after(openDispatch(chain, options), failed('d1'));
    expect(end.commands).toEqual([
      {
        type: 'skip',
        delegation_id: 'd2',
        reason: 'input "p" cannot come: d1 failed',
      },
      { type: 'skip', delegation_id: 'd3', reason: 'd2 was skipped' },
    ]);
    expect(isDispatchDone(end.state)).toBe(true);
  });

  it('finding F5: an output with a criterion unmet starts what depends on it', () => {
    const end = after(openDispatch(chain, options), ended('d1', { criteria_unmet: ['d1-done'] }));
    expect(said(end)).toEqual(['start d2']);
    expect(stateOf(end)).toEqual(['completed', 'running', 'pending']);
  });

  it('D7: a delegation that needs its upstream met is skipped when a criterion there is unmet', () => {
    const strict = chain.map((one) => ({ ...one, needs: 'met' as const }));
    const end = after(openDispatch(strict, options), ended('d1', { criteria_unmet: ['d1-done'] }));
    expect(said(end)).toEqual(['skip d2', 'skip d3']);
    expect(stateOf(end)).toEqual(['completed', 'skipped', 'skipped']);
  });

  it('D8: events that make no sense change nothing', () => {
    const first = openDispatch(chain, options);
    const senseless: readonly DispatchEvent[] = [
      { type: 'answered', delegation_id: 'd1' },
      { type: 'asked', delegation_id: 'd2' },
      { type: 'asked', delegation_id: 'unknown' },
      ended('d3'),
      ended('unknown'),
      { type: 'resume' },
    ];
    for (const event of senseless) {
      const step = stepDispatch(first.state, event);
      expect(step.state).toBe(first.state);
      expect(step.commands).toEqual([]);
    }
  });

  it('D9: a cycle that slipped through is skipped, not waited for', () => {
    const cyclic = [
      delegation('d1'),
      delegation('a', { depends_on: ['b'] }),
      delegation('b', { depends_on: ['a'] }),
    ];
    const end = after(openDispatch(cyclic, options), ended('d1'));
    expect(said(end)).toEqual(['skip a', 'skip b']);
    expect(isDispatchDone(end.state)).toBe(true);
  });

  it('D9: a wave without delegations is done', () => {
    expect(isDispatchDone(openDispatch([], options).state)).toBe(true);
  });
});
