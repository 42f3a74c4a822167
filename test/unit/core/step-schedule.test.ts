import { isScheduleDone, describeWait } from '../../../core/schedule/schedule.ts';
import type { Job, ScheduleRules } from '../../../core/schedule/schedule.ts';
import { openSchedule, stepSchedule } from '../../../core/schedule/step-schedule.ts';
import type { ScheduleEvent, ScheduleStep } from '../../../core/schedule/step-schedule.ts';
import { delegation } from './builders.ts';

const rules = { known_inputs: ['goal'], max_parallel: 2, paused: false };

const open = (jobs: readonly Job[], over: Partial<ScheduleRules & { paused: boolean }> = {}) =>
  openSchedule(jobs, { ...rules, ...over }, 0);

/** Commands in short: `start d1`. */
const said = (step: ScheduleStep): string[] =>
  step.commands.map((command) => `${command.type} ${command.delegation_id}`);

const after = (step: ScheduleStep, ...events: readonly ScheduleEvent[]): ScheduleStep =>
  events.reduce((current, event) => stepSchedule(current.schedule, event, 0), step);

type Ended = Extract<ScheduleEvent, { type: 'ended' }>;

const ended = (delegation_id: string, over: Partial<Ended> = {}): Ended => ({
  type: 'ended',
  delegation_id,
  status: 'completed',
  reason: '',
  leaves_unmet: false,
  ...over,
});

const failed = (id: string, reason = 'no luck') => ended(id, { status: 'failed', reason });

const stateOf = ({ schedule }: ScheduleStep): string[] =>
  schedule.entries.map(({ state }) => state);

/** Tells what the n-th job waits for, or why it ended. */
const waitOf = ({ schedule }: ScheduleStep, n: number): string | undefined => {
  const entry = schedule.entries[n];
  return entry === undefined ? undefined : describeWait(entry, schedule);
};

const three = ['d1', 'd2', 'd3'].map((id) => delegation(id));
const chain = [
  delegation('d1', { produces: ['p'] }),
  delegation('d2', { depends_on: ['d1'], required_inputs: ['p'] }),
  delegation('d3', { depends_on: ['d2'] }),
];

describe('stepSchedule', () => {
  it('SC1: starts only as many as may run at the same time', () => {
    const first = open(three);
    expect(said(first)).toEqual(['start d1', 'start d2']);
    expect(waitOf(first, 2)).toBe('a free slot (2 of 2 at work)');
    expect(said(after(first, ended('d2')))).toEqual(['start d3']);
  });

  it('SC2: starts the moment its own dependencies are met, not when a batch ends', () => {
    const plan = [delegation('slow'), delegation('d1'), delegation('d2', { depends_on: ['d1'] })];
    const first = open(plan);
    expect(said(first)).toEqual(['start slow', 'start d1']);
    expect(said(after(first, ended('d1')))).toEqual(['start d2']);
  });

  it('SC3: waits for its input, says from whom, and starts once', () => {
    const first = open(chain);
    expect(said(first)).toEqual(['start d1']);
    expect(waitOf(first, 1)).toBe('input "p" from d1 (running)');
    const second = after(first, ended('d1'));
    expect(said(second)).toEqual(['start d2']);
    expect(said(after(second, ended('d1')))).toEqual([]);
  });

  it('SC4: those that resume go before new ones, otherwise the plan decides', () => {
    const plan = ['d1', 'd2', 'd3', 'd4'].map((id) => delegation(id));
    const first = open(plan, { max_parallel: 1 });
    const asked = after(first, { type: 'asked', delegation_id: 'd1' });
    expect(said(asked)).toEqual(['start d2']);
    const answered = after(asked, { type: 'answered', delegation_id: 'd1' });
    expect(said(answered)).toEqual([]);
    expect(stateOf(answered)).toEqual(['resuming', 'running', 'pending', 'pending']);
    expect(said(after(answered, ended('d2')))).toEqual(['resume d1']);
    expect(said(after(answered, ended('d2'), ended('d1')))).toEqual(['start d3']);
  });

  it('SC5: one that waits for answers holds no slot', () => {
    const first = open(three, { max_parallel: 1 });
    const asked = after(first, { type: 'asked', delegation_id: 'd1' });
    expect(said(asked)).toEqual(['start d2']);
    expect(stateOf(asked)[0]).toBe('waiting');
    expect(waitOf(asked, 0)).toBe('answers to its questions');
  });

  it.each([true, false])(
    'SC5: one that asks while it resumes waits, if no answers wait for it: %s',
    (unanswered) => {
      const resuming = after(
        open(three, { max_parallel: 1 }),
        { type: 'asked', delegation_id: 'd1' },
        { type: 'answered', delegation_id: 'd1' },
        { type: 'asked', delegation_id: 'd1', unanswered },
      );
      expect(stateOf(resuming)[0]).toBe(unanswered ? 'waiting' : 'resuming');
      expect(said(after(resuming, ended('d2')))).toEqual([unanswered ? 'start d3' : 'resume d1']);
    },
  );

  it('SC6: paused, nothing starts or resumes until it is resumed', () => {
    const first = open(three, { paused: true });
    expect(said(first)).toEqual([]);
    expect(waitOf(first, 0)).toBe('the run to be resumed');
    expect(said(after(first, { type: 'resume' }))).toEqual(['start d1', 'start d2']);
    const paused = after(
      open(three),
      { type: 'asked', delegation_id: 'd1' },
      { type: 'pause' },
      { type: 'answered', delegation_id: 'd1' },
      ended('d2'),
    );
    expect(said(paused)).toEqual([]);
    expect(said(after(paused, { type: 'resume' }))).toEqual(['resume d1']);
  });

  it('SC6: stopped, what was pending is stopped and nothing starts ever again', () => {
    const stopped = after(open(three), { type: 'stop' });
    expect(stateOf(stopped)).toEqual(['running', 'running', 'stopped']);
    expect(isScheduleDone(stopped.schedule)).toBe(false);
    const end = after(
      stopped,
      { type: 'resume' },
      ended('d1', { status: 'stopped' }),
      failed('d2'),
    );
    expect(said(end)).toEqual([]);
    expect(isScheduleDone(end.schedule)).toBe(true);
  });

  it('SC7: what cannot start any more is skipped with the reason, down the whole chain', () => {
    const end = after(open(chain), failed('d1'));
    expect(end.commands).toEqual([
      {
        type: 'skip',
        delegation_id: 'd2',
        reason: 'input "p" cannot come: d1 failed',
      },
      { type: 'skip', delegation_id: 'd3', reason: 'd2 was skipped' },
    ]);
    expect(isScheduleDone(end.schedule)).toBe(true);
  });

  it('finding F5: an output with a criterion unmet starts what depends on it', () => {
    const end = after(open(chain), ended('d1', { leaves_unmet: true }));
    expect(said(end)).toEqual(['start d2']);
    expect(stateOf(end)).toEqual(['completed', 'running', 'pending']);
  });

  it('SC7: a delegation that needs its upstream met is skipped when a criterion there is unmet', () => {
    const strict = chain.map((one) => ({ ...one, needs: 'met' as const }));
    const end = after(open(strict), ended('d1', { leaves_unmet: true }));
    expect(said(end)).toEqual(['skip d2', 'skip d3']);
    expect(stateOf(end)).toEqual(['completed', 'skipped', 'skipped']);
  });

  it('SC8: events that make no sense change nothing', () => {
    const first = open(chain);
    const senseless: readonly ScheduleEvent[] = [
      { type: 'answered', delegation_id: 'd1' },
      { type: 'asked', delegation_id: 'd2' },
      { type: 'asked', delegation_id: 'unknown' },
      ended('d3'),
      ended('unknown'),
      { type: 'retried', delegation_id: 'd2' },
      { type: 'add', jobs: [delegation('d2')] },
      { type: 'resume' },
    ];
    for (const event of senseless) {
      const step = stepSchedule(first.schedule, event, 0);
      expect(step.schedule).toBe(first.schedule);
      expect(step.commands).toEqual([]);
    }
  });

  it('SC9: a cycle that slipped through is skipped, not waited for', () => {
    const cyclic = [
      delegation('d1'),
      delegation('a', { depends_on: ['b'] }),
      delegation('b', { depends_on: ['a'] }),
    ];
    const end = after(open(cyclic), ended('d1'));
    expect(said(end)).toEqual(['skip a', 'skip b']);
    expect(isScheduleDone(end.schedule)).toBe(true);
  });

  it('SC9: a wave without delegations is done', () => {
    expect(isScheduleDone(open([]).schedule)).toBe(true);
  });

  it('SC6: stopped, added jobs are stopped too', () => {
    const end = after(open(three), { type: 'stop' }, { type: 'add', jobs: [delegation('d4')] });
    expect(stateOf(end)).toEqual(['running', 'running', 'stopped', 'stopped']);
    expect(said(end)).toEqual([]);
  });

  it('SC2: added jobs follow those that are there, and start as soon as they may', () => {
    const added = after(open([delegation('d1')]), {
      type: 'add',
      jobs: [delegation('d1', { title: 'Another' }), { delegation_id: 'd2', depends_on: [] }],
    });
    expect(said(added)).toEqual(['start d2']);
    expect(added.schedule.entries).toHaveLength(2);
  });

  it('SC2: a job that comes after another starts when that one has ended, whatever its end', () => {
    const pair: readonly Job[] = [delegation('d1'), { ...delegation('d2'), after: ['d1'] }];
    expect(said(open(pair))).toEqual(['start d1']);
    expect(said(after(open(pair), failed('d1')))).toEqual(['start d2']);
  });

  it('SC10: an ended job keeps its end', () => {
    const end = after(open(chain), failed('d1'));
    const late: readonly ScheduleEvent[] = [
      ended('d1'),
      ended('d2'),
      { type: 'asked', delegation_id: 'd1' },
      { type: 'retried', delegation_id: 'd1' },
      { type: 'halt', reason: 'too late' },
    ];
    for (const event of late) expect(after(end, event).schedule).toBe(end.schedule);
  });

  it('SC12: a halt skips what is pending; what is at work or waits goes on', () => {
    const asked = after(open(three, { max_parallel: 1 }), { type: 'asked', delegation_id: 'd1' });
    const halted = after(asked, { type: 'halt', reason: 'the budget is spent' });
    expect(halted.commands).toEqual([
      { type: 'skip', delegation_id: 'd3', reason: 'the budget is spent' },
    ]);
    const answered = after(halted, { type: 'answered', delegation_id: 'd1' }, ended('d2'));
    expect(said(answered)).toEqual(['resume d1']);
    expect(stateOf(answered)).toEqual(['running', 'completed', 'skipped']);
  });

  it('SC12: three failures for the same reason skip the rest before a slot is filled', () => {
    const many = ['d1', 'd2', 'd3', 'd4', 'd5'].map((id) => delegation(id));
    const failures = many.slice(0, 3).map((one, n) => failed(one.delegation_id, `HTTP 40${n}`));
    const first = open(many, { max_parallel: 1, same_failures_max: 3 });
    const end = after(first, ...failures);
    expect(end.commands.map((one) => ('reason' in one ? one.reason : one.type))).toEqual([
      '3 delegations failed for the same reason: HTTP 402',
      '3 delegations failed for the same reason: HTTP 402',
    ]);
    expect(isScheduleDone(end.schedule)).toBe(true);
    expect(said(after(open(many, { max_parallel: 1 }), ...failures))).toEqual(['start d4']);
  });

  it('SC8: SC12: another end afterwards does not skip jobs that were added since', () => {
    const many = ['d1', 'd2', 'd3', 'd4'].map((id) => delegation(id));
    const end = after(
      open(many, { max_parallel: 4, same_failures_max: 3 }),
      ...many.slice(0, 3).map((one) => failed(one.delegation_id)),
      { type: 'add', jobs: [delegation('mend', { depends_on: ['d4'] })] },
    );
    expect(after(end, failed('d1')).schedule).toBe(end.schedule);
    expect(said(after(end, ended('d4')))).toEqual(['start mend']);
  });
});
