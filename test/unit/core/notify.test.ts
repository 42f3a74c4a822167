import * as fc from 'fast-check';
import type { Notification, NotifiedState } from '../../../contracts/notification.ts';
import {
  isSamePark,
  notificationId,
  nothingNotified,
  parkKind,
  renderNotification,
  stepNotified,
} from '../../../core/run/notify.ts';
import { property, question } from './builders.ts';

const ask = (...ids: readonly string[]) => ids.map((question_id) => question({ question_id }));

/** Tells what a run waits for, one state after the other. Returns the texts of the messages, null for none. */
function tell(
  states: readonly {
    readonly parked?: string;
    readonly again?: boolean;
    readonly open?: readonly string[];
  }[],
  from: NotifiedState = nothingNotified,
): readonly (string | null)[] {
  let at = from;
  return states.map(({ parked = null, again = false, open = [] }) => {
    const { state, due } = stepNotified(at, { parked, again, open: ask(...open) });
    at = state;
    return due === null ? null : (/q\d+|parked/.exec(due.text)?.[0] ?? due.text);
  });
}

it('NT1: ten questions that come one after the other are one message', () => {
  const ids = Array.from({ length: 10 }, (_one, index) => `q${index + 1}`);
  const states = ids.map((_id, index) => ({ open: ids.slice(0, index + 1) }));
  expect(tell(states)).toEqual(['q1', ...Array(9).fill(null)]);
});

it('NT1: answering what was open beside the first question is no message', () => {
  expect(tell([{ open: ['q1'] }, { open: ['q1', 'q2'] }, { open: ['q2'] }, {}])).toEqual([
    'q1',
    null,
    null,
    null,
  ]);
});

it('NT2: a question that opens after an answer is a new message, also beside an old one', () => {
  expect(tell([{ open: ['q1', 'q2'] }, { open: ['q2'] }, { open: ['q2', 'q3'] }])).toEqual([
    'q1',
    null,
    'q3',
  ]);
  expect(tell([{ open: ['q1'] }, {}, { open: ['q2'] }])).toEqual(['q1', null, 'q2']);
});

it('NT3: a parked run is one message, however often it is looked at, and a new one after it was resumed', () => {
  const parked = { parked: 'the key is refused' };
  expect(tell([parked, { parked: 'the same, at another call' }, {}, parked])).toEqual([
    'parked',
    null,
    null,
    'parked',
  ]);
});

it('NT3: a run that tries by itself and parks again was told', () => {
  const parked = { parked: 'the budget of acme is used up' };
  const again = { ...parked, again: true };
  expect(tell([parked, {}, again, again, {}, again, {}, parked])).toEqual([
    'parked',
    ...Array<null>(6).fill(null),
    'parked',
  ]);
});

it('NT3: a run that parks again, and then no longer goes on by itself, is told', () => {
  const parked = { parked: 'the budget of acme is used up' };
  const again = { ...parked, again: true };
  const forGood = { parked: 'the key is refused' };
  expect(tell([parked, {}, again, forGood, forGood])).toEqual([
    'parked',
    null,
    null,
    'parked',
    null,
  ]);
});

it('NT3: a run that parks soon after it went on by itself has not worked since', () => {
  const minute = 60_000;
  expect(isSamePark(5 * minute, 6 * minute)).toBe(true);
  expect(isSamePark(5 * minute, 16 * minute)).toBe(false);
  expect(isSamePark(null, 6 * minute)).toBe(false);
});

function reason(state: string, spent: string): string {
  return `The day's budget of acme is ${state}: ${spent} of $5 are spent.`;
}

it('NT3: parks are of one kind whatever their amounts', () => {
  expect(parkKind(reason('reserved', '$4.20'))).toBe(parkKind(reason('reserved', '$4')));
  expect(parkKind(reason('reserved', '$4.20'))).not.toBe(parkKind(reason('used up', '$4.20')));
  expect(parkKind('May cost up to $1.5, which is too much')).toBe(
    parkKind('May cost up to $12, which is too much'),
  );
});

it('NT1, NT2, NT6: every question is told, or was open beside one that was', () => {
  const anyStates = fc.array(fc.subarray(['q1', 'q2', 'q3', 'q4', 'q5']));
  const check = fc.property(anyStates, (states) => {
    let at = nothingNotified;
    let known: readonly string[] = [];
    for (const open of states) {
      const { state, due } = stepNotified(at, { parked: null, again: false, open: ask(...open) });
      const isNew = open.some((id) => !known.includes(id));
      const allWait = known.length > 0 && known.every((id) => open.includes(id));
      expect(due !== null).toBe(isNew && !allWait);
      expect(state.count).toBe(at.count + (due === null ? 0 : 1));
      expect([known, open]).toContainEqual(state.told);
      if (due !== null || allWait || open.length === 0) known = open;
      at = state;
    }
  });
  fc.assert(check, property);
});

it('NT4: the same event has the same id, another event another one', () => {
  const at = { event: 'q1', calls: 4 };
  const id = notificationId('first', { kind: 'needs_user' }, 1, at);
  expect(notificationId('first', { kind: 'needs_user' }, 1, at)).toBe(id);
  expect(id).toMatch(/^msg_[0-9a-f]{16}$/);
  const others = [
    notificationId('other', { kind: 'needs_user' }, 1, at),
    notificationId('first', { kind: 'ended' }, 1, at),
    notificationId('first', { kind: 'needs_user' }, 2, at),
    notificationId('first', { kind: 'needs_user' }, 1, { ...at, event: 'q2' }),
    notificationId('first', { kind: 'needs_user' }, 1, { ...at, calls: 5 }),
  ];
  expect(new Set([id, ...others]).size).toBe(6);
});

const timestamp = '2026-11-25T17:00:00.000Z';
const notification: Notification = {
  id: 'msg_0123456789abcdef',
  kind: 'needs_user',
  run_id: 'backup',
  phase: 'waiting_for_user',
  goal: 'Host the backup',
  text: 'waiting for your answer to q1: Which region?',
  open_questions: 2,
  cost_micro_usd: 1_250_000,
  at: 1_764_090_000,
};

it('says what the run needs, what it costs and what to do, for programs and for people', () => {
  expect(renderNotification(notification, timestamp)).toEqual({
    id: 'msg_0123456789abcdef',
    type: 'run.needs_user',
    timestamp,
    data: {
      run_id: 'backup',
      kind: 'needs_user',
      phase: 'waiting_for_user',
      goal: 'Host the backup',
      text: 'waiting for your answer to q1: Which region?',
      open_questions: 2,
      cost_usd: 1.25,
      command: 'npm run planwave -- answer backup',
      summary:
        'backup needs you: waiting for your answer to q1: Which region? (2 open questions). Host the backup. $1.25 so far. npm run planwave -- answer backup',
    },
  });
});

it.each([
  [{ kind: 'ended', phase: 'completed' }, 'report backup'],
  [{ phase: 'parked' }, 'resume backup'],
  [{ phase: 'paused', open_questions: 1 }, 'answer backup'],
] as const)('names the command that helps: %j', (over, command) => {
  expect(renderNotification({ ...notification, ...over }, timestamp).data.command).toContain(
    command,
  );
});

it('NT5: no text breaks a line or hides, and none is long', () => {
  const hostile = `a\n\u001b[31mb\u202e${'c'.repeat(9_000)}`;
  const { data } = renderNotification({ ...notification, goal: hostile, text: hostile }, timestamp);
  for (const text of [data.goal, data.text, data.summary]) {
    expect(text).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text.length).toBeLessThanOrEqual(1_200);
  }
  const { due } = stepNotified(nothingNotified, { parked: hostile, again: false, open: [] });
  expect(due?.text).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(due?.text.length).toBeLessThanOrEqual(300);
});

it('NT4: an event of the engine has the same id in other words', () => {
  const waits = [
    [{ open: [question({ text: 'The budget is spent. Go on?' })] }, { open: [question({})] }],
    [{ parked: 'the key is refused' }, { parked: 'the API refuses the key' }],
  ];
  for (const inWords of waits) {
    const [one, other] = inWords.map(
      (said) =>
        stepNotified(nothingNotified, { parked: null, again: false, open: [], ...said }).due?.event,
    );
    expect(one).toBeDefined();
    expect(one).toBe(other);
  }
});
