import { createTaskOrder, takenAhead } from '../../workflows/shared/task-order.ts';

type Activation = Parameters<ReturnType<typeof createTaskOrder>>[0];

/** Creates an activation of the workflow task that started at this second, up to this event. */
function activation(second: number, historyLength: number, job: object = signal): Activation {
  return Object.assign(Object.create(null), {
    jobs: [job],
    timestamp: { seconds: second, nanos: 5 },
    historyLength,
    historySizeBytes: second * 100,
  });
}

const signal = { signalWorkflow: { signalName: 'answer' } };
const query = { queryWorkflow: { queryId: 'legacy_query' } };

/** Hands them over in this order, and returns whether each was taken. @throws anything but the refusal. */
function take(...activations: readonly Activation[]): boolean[] {
  const check = createTaskOrder();
  return activations.map((one) => {
    try {
      check(one);
      return true;
    } catch (error) {
      if (!(error instanceof Error) || error.message !== takenAhead) throw error;
      return false;
    }
  });
}

it('takes tasks one after the other, with queries between them', () => {
  const taken = take(activation(1, 3), activation(1, 3, query), activation(2, 7), activation(3, 9));
  expect(taken).toEqual([true, true, true, true]);
});

it('takes several activations of one task', () => {
  expect(take(activation(1, 3), activation(1, 3), activation(2, 7))).toEqual([true, true, true]);
});

it('refuses the task after messages that came with a query', () => {
  const ahead = [activation(1, 3), activation(1, 5), activation(1, 5, query)];
  expect(take(...ahead, activation(2, 8))).toEqual([true, true, true, false]);
  // More queries bring more of the history.
  const more = [activation(1, 6), activation(1, 6, query)];
  expect(take(...ahead, ...more, activation(2, 8))).toEqual([true, true, true, true, true, false]);
});

it('takes a task that started in the same instant, or with a clock set back, when the history has grown', () => {
  const grown = { ...activation(1, 7), historySizeBytes: activation(2, 7).historySizeBytes };
  expect(take(activation(1, 3), Object.assign(activation(1, 7), grown), activation(3, 9))).toEqual([
    true,
    true,
    true,
  ]);
});
