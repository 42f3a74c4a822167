import { createTaskOrder, takenAhead } from '../../workflows/shared/task-order.ts';

type TaskOrder = ReturnType<typeof createTaskOrder>;
type Activation = Parameters<TaskOrder['check']>[0];
type Command = Parameters<TaskOrder['note']>[0][number];

/** Creates an activation of the workflow task that started at this second, up to this event. */
function activation(second: number, historyLength: number, ...jobs: readonly object[]): Activation {
  return Object.assign(Object.create(null), {
    jobs: jobs.length === 0 ? [signal] : jobs,
    timestamp: { seconds: second, nanos: 5 },
    historyLength,
    historySizeBytes: second * 100,
    isReplaying: false,
  });
}

const replay = (second: number, historyLength: number): Activation =>
  Object.assign(activation(second, historyLength), { isReplaying: true });

const signal = { signalWorkflow: { signalName: 'answer' } };
const activity = { resolveActivity: { seq: 1, result: { completed: {} } } };
const cancelled = { resolveActivity: { seq: 1, result: { cancelled: {} } } };
const update = { doUpdate: { name: 'submitAnswer' } };
const query = { queryWorkflow: { queryId: 'legacy_query' } };
const queryInTask = { queryWorkflow: { queryId: '3c1d' } };

const schedule = { scheduleActivity: { seq: 1 } };
const upsert = { upsertWorkflowSearchAttributes: {} };
const patch = { setPatchMarker: { patchId: 'early-answer' } };
const timer = { startTimer: { seq: 4 } };
const cancel = { cancelTimer: { seq: 4 } };
const cancelEarlier = { cancelTimer: { seq: 2 } };
const child = { startChildWorkflowExecution: { seq: 1 } };
const cancelChild = { cancelChildWorkflowExecution: { childWorkflowSeq: 1 } };
const send = { signalExternalWorkflowExecution: { seq: 2 } };
const unsend = { cancelSignalWorkflow: { seq: 2 } };
const rejection = { updateResponse: { rejected: {} } };
const acceptance = { updateResponse: { accepted: {} } };
const answer = { respondToQuery: { queryId: 'legacy_query' } };

type Step = Activation | { readonly made: readonly object[] };

const made = (...commands: readonly object[]): Step => ({ made: commands });

/** Hands them over in this order, and returns whether each was taken. @throws anything but the refusal. */
function take(...steps: readonly Step[]): boolean[] {
  const order = createTaskOrder(() => 5_000);
  return steps.flatMap((step) => {
    if ('made' in step) {
      order.note(step.made.map((one): Command => Object.assign(Object.create(null), one)));
      return [];
    }
    try {
      order.check(step);
      return [true];
    } catch (error) {
      if (!(error instanceof Error) || error.message !== takenAhead) throw error;
      return [false];
    }
  });
}

/** Whether a task is taken that follows on one which began with event 20, made these commands, and was shown to a query. */
function takesAfter(commands: readonly object[], next: Activation, shown: object = query): boolean {
  const first = [replay(1, 10), replay(2, 14), activation(3, 20), made(...commands)];
  return take(...first, activation(3, 20, shown), made(answer), next).at(-1) === true;
}

it('takes tasks one after the other, with queries between them', () => {
  const taken = take(activation(1, 3), activation(1, 3, query), activation(2, 7), activation(3, 9));
  expect(taken).toEqual([true, true, true, true]);
});

it('takes several activations of one task', () => {
  expect(take(activation(1, 3), activation(1, 3), activation(2, 7))).toEqual([true, true, true]);
});

it('WT1: refuses the task after messages that came with a query', () => {
  const ahead = [activation(1, 3), activation(1, 5), activation(1, 5, query)];
  expect(take(...ahead, activation(2, 8))).toEqual([true, true, true, false]);
  // More queries bring more of the history.
  const more = [activation(1, 6), activation(1, 6, query)];
  expect(take(...ahead, ...more, activation(2, 8))).toEqual([true, true, true, true, true, false]);
});

it('WT1: takes a task that started in the same instant, or with a clock set back, when the history has grown', () => {
  const grown = { ...activation(1, 7), historySizeBytes: activation(2, 7).historySizeBytes };
  expect(take(activation(1, 3), Object.assign(activation(1, 7), grown), activation(3, 9))).toEqual([
    true,
    true,
    true,
  ]);
});

// Event 21 is the end of the task. The last two before the next activation are its schedule and its start.
it.each([
  [
    'its time-out, an answer and an activity',
    [upsert, schedule],
    activation(8, 26, signal, activity),
  ],
  ['only its time-out', [schedule], activation(8, 23)],
  [
    'as many events as the campaign of 2026-11-27 met',
    [upsert, upsert, schedule],
    activation(8, 26, activity, signal),
  ],
  ['its time-out, where it had made nothing', [], activation(8, 24)],
  ['its time-out and an activity', [schedule], activation(8, 25, activity)],
  ['its time-out, where it had cancelled a timer', [cancelEarlier], activation(8, 24)],
  ['its time-out, and events that no job stems from', [schedule], activation(8, 30)],
  ['its time-out, perhaps, and the end of an activity', [schedule], activation(8, 25, cancelled)],
] as const)('WT2: refuses a task after one that was lost: %s', (_what, commands, next) => {
  expect(takesAfter(commands, next)).toBe(false);
});

it.each([
  ['its commands and a signal', [upsert, schedule], activation(8, 26)],
  ['its commands and the end of an activity', [upsert, schedule], activation(8, 27, activity)],
  ['a timer that was cancelled at once', [timer, schedule, cancel], activation(8, 25)],
  ['the end of an earlier timer', [schedule, cancelEarlier], activation(8, 26)],
  ['the end of an activity that never started', [schedule], activation(7, 25, cancelled)],
  ['a patch, which leaves two events', [patch, schedule], activation(8, 27)],
  ['an update, which has no event', [schedule], activation(7, 24, update)],
  ['an update that it had taken', [schedule, acceptance], activation(8, 26)],
  ['an update that it had refused', [rejection], activation(8, 21)],
  [
    'a child and a signal that were cancelled at once',
    [child, cancelChild, send, unsend, upsert],
    activation(8, 25),
  ],
  ['nothing, in time', [], activation(7, 24)],
  ['what no job stems from, in time', [schedule], activation(7, 30)],
] as const)('WT2: takes a task after one that was completed: %s', (_what, commands, next) => {
  expect(takesAfter(commands, next)).toBe(true);
});

it('WT2: takes whatever follows on a task that no lone query came after, or that was not the first after a replay', () => {
  const lost = activation(8, 23);
  expect(takesAfter([schedule], lost)).toBe(false);
  expect(takesAfter([schedule], lost, queryInTask)).toBe(true);
  // What can't be told counts as completed then.
  const second = [activation(1, 10), activation(3, 20), activation(3, 20, query)];
  const unclear = activation(8, 24);
  expect(take(...second, unclear)).toEqual([true, true, true, true]);
  expect(takesAfter([], unclear)).toBe(false);
  const told = [activation(1, 10), activation(3, 20), made(schedule), activation(3, 20, query)];
  expect(take(...told, lost)).toEqual([true, true, true, false]);
});
