import { ApplicationFailure } from '@temporalio/common';
import type { OpenedEvaluation } from '../../contracts/evaluation.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { eventually } from '../support/eventually.ts';
import { someRef } from '../support/factories.ts';

const { handlers, away, done, held } = vi.hoisted(() => ({
  handlers: new Map<string, (payload: unknown) => void>(),
  /** Activities that find no store. */
  away: new Set<string>(),
  done: { gradeCell: 0, keepCell: 0 },
  /** Judgement that a test ends itself. */
  held: { judgement: null as Promise<object> | null },
}));

vi.mock(import('@temporalio/workflow'), async (original) => {
  const child = { workflowId: 'cell', result: () => ({ usage: { ...noUsage, calls: 2 } }) };
  const replaced: object = {
    workflowInfo: () => ({ workflowId: 'eval-a', searchAttributes: {} }),
    setHandler: ({ name }: { name: string }, handle: (payload: unknown) => void) =>
      handlers.set(name, handle),
    setDefaultSignalHandler: () => {},
    startChild: async () => child,
    condition: (isMet: () => boolean) => eventually('a resume or a stop', async () => isMet()),
  };
  return { ...(await original()), ...replaced };
});

function call(name: keyof typeof done) {
  return async () => {
    done[name] += 1;
    if (away.has(name))
      throw ApplicationFailure.create({ type: 'StoreUnavailable', message: 'The disk is full.' });
    return { status: 'completed', reason: '', grades: [], answer_ref: null };
  };
}

vi.mock(import('../../workflows/shared/activities.ts'), async (original) => {
  const replaced: object = {
    gradeCell: { executeWithOptions: () => held.judgement ?? call('gradeCell')() },
    keepCell: call('keepCell'),
  };
  return { ...(await original()), ...replaced };
});

const opened: OpenedEvaluation = {
  input: {
    name: 'a',
    goals: [{ name: 'goal', goal: 'Mend the sum' }],
    settings: [{ name: 'usual', run: 'direct' }],
    graders: [],
    repeat: 1,
    parallel: 1,
    fresh: false,
  },
  input_ref: someRef,
  registry_ref: someRef,
  stamp: 'stamp',
  rubrics: [],
  open: [],
  done: [],
};

// Other tests of this process have, or need, these modules without replaced ones.
beforeAll(() => {
  vi.resetModules();
});
afterAll(() => {
  vi.resetModules();
});

async function begin() {
  const { CellOrders } = await import('../../workflows/evaluation/cell-orders.ts');
  const { runCell } = await import('../../workflows/evaluation/run-cell.ts');
  const orders = new CellOrders();
  const cell = { cell: 1, goal: 'goal', setting: 'usual', repetition: 1, address: 'one' };
  return { orders, result: runCell(opened, cell, { share: 'none', orders }) };
}

beforeEach(() => {
  Object.assign(done, { gradeCell: 0, keepCell: 0 });
  away.clear();
  held.judgement = null;
});

it.each(['gradeCell', 'keepCell'] as const)(
  'a cell that is paid for parks when %s finds no store for long, and goes on after a resume',
  async (name) => {
    away.add(name);
    const { orders, result } = await begin();
    await eventually('a parked cell', async () => orders.parkedReason() !== null);
    expect(orders.parkedReason()).toBe('The disk is full.');
    away.clear();
    handlers.get('resume')?.({});
    expect(await result).toMatchObject({ status: 'completed', usage: { calls: 2 } });
    expect(orders.parkedReason()).toBeNull();
    expect(done).toEqual({ gradeCell: 1, keepCell: 1, [name]: 2 });
  },
);

it('a stop ends the wait of a parked cell, and its result says why it was not judged', async () => {
  away.add('gradeCell');
  const { orders, result } = await begin();
  await eventually('a parked cell', async () => orders.parkedReason() !== null);
  handlers.get('stop')?.({ reason: 'enough' });
  expect(await result).toMatchObject({
    status: 'failed',
    reason: 'Its answer could not be judged: The disk is full.',
    usage: { calls: 2 },
  });
  expect(done).toEqual({ gradeCell: 1, keepCell: 0 });
});

it('an evaluation that has failed for another reason does not wait for a parked cell', async () => {
  away.add('keepCell');
  const { orders, result } = await begin();
  await eventually('a parked cell', async () => orders.parkedReason() !== null);
  orders.fail();
  expect(await result).toMatchObject({ status: 'completed' });
  expect(orders.parkedReason()).toBeNull();
  expect(done.keepCell).toBe(1);
});

it.each(['judged', 'failed'])(
  'a cell that is %s goes on as many turns later as in evaluations from before cells parked, so that they replay',
  async (end) => {
    let settle = { resolve: (_judged: object) => {}, reject: (_why: Error) => {} };
    held.judgement = new Promise((resolve, reject) => (settle = { resolve, reject }));
    const { result } = await begin();
    await new Promise((go) => void setTimeout(go, 0));
    const seen = { failure: false };
    result.catch(() => (seen.failure = true));
    if (end === 'judged')
      settle.resolve({ status: 'completed', reason: '', grades: [], answer_ref: null });
    else settle.reject(new Error('no'));
    let turns = 0;
    for (; done.keepCell === 0 && !seen.failure && turns < 20; turns += 1)
      // oxlint-disable-next-line no-await-in-loop
      await Promise.resolve();
    expect(turns).toBe(end === 'judged' ? 2 : 3);
  },
);
