import { defaultPayloadConverter } from '@temporalio/common';
import type {
  ActivateInput,
  Headers,
  StartChildWorkflowExecutionInput as ChildStart,
} from '@temporalio/workflow';
import { interceptors } from '../../workflows/shared/signal-intake.ts';
import { CellOrders } from '../../workflows/evaluation/cell-orders.ts';

/** Global variable in which the SDK keeps the workflow at work. */
const activator = '__TEMPORAL_ACTIVATOR__';
afterEach(() => Reflect.deleteProperty(globalThis, activator));

const toPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const stamp = (token: string): Headers => ({ 'planwave-token': toPayload(token) });

const signal = (signalName: string, headers: Headers = {}) => ({
  signalWorkflow: { signalName, headers, input: [toPayload(signalName)] },
});
const noOptions: ChildStart['options'] = {
  workflowId: 'child',
  taskQueue: 'planwave',
  args: [],
  cancellationType: 'ABANDON',
};
const flood = (name: string, count: number) =>
  Array.from({ length: count }, (_, nth) => signal(`${name}${nth}`));

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** Returns a signal's name, or of a flood the first and last argument. */
function describeJob({ signalWorkflow }: Job): string {
  if (!signalWorkflow) return 'other';
  if (signalWorkflow.signalName !== 'planwave-flood') return String(signalWorkflow.signalName);
  const [signals, ...args] = (signalWorkflow.input ?? []).map((one) =>
    defaultPayloadConverter.fromPayload<unknown>(one),
  );
  expect(signals).toEqual(args.map((name) => ({ name, argsCount: 1 })));
  return `${String(args[0])}…${String(args.at(-1))}`;
}

const continued = { continuedFromExecutionRunId: 'earlier' };
const parent = { workflowId: 'above' };

/** Hands the first activation of a workflow to the intake, and returns the jobs that reach the SDK. Default: a continued run. */
function take(jobs: readonly Job[], info: object = continued, headers = stamp('run')): string[] {
  Reflect.set(globalThis, activator, { info });
  const activation = { jobs: [{ initializeWorkflow: { headers } }, ...jobs] };
  let taken: Job[] = [];
  const [intake] = interceptors().internals ?? [];
  intake?.activate?.({ activation, batchIndex: 0 }, (input) => {
    taken = input.activation.jobs ?? [];
  });
  return taken.slice(1).map(describeJob);
}

/** Starts a child from a workflow of the type, and returns the names of the headers that it gets. */
async function startFrom(workflowType: string): Promise<string[]> {
  Reflect.set(globalThis, activator, { info: { workflowType } });
  const [outbound] = interceptors().outbound ?? [];
  let names: string[] = [];
  const input: ChildStart = { workflowType: 'delegation', seq: 1, options: noOptions, headers: {} };
  const started = outbound?.startChildWorkflowExecution?.(input, ({ headers }) => {
    names = Object.keys(headers);
    return Promise.resolve([Promise.resolve(''), Promise.resolve(null)]);
  });
  await Promise.all((await started) ?? []);
  return names;
}

it('finding T4: the stretches of a flood are joined, and no signal overtakes a message of a child', () => {
  const escalate = signal('escalate', stamp('run'));
  const jobs = [...flood('a', 60), escalate, signal('answer'), escalate, escalate];
  expect(take([...jobs, ...flood('b', 39)])).toEqual([
    'a0…a59',
    'escalate',
    'answer',
    'escalate',
    'escalate',
    'b0…b38',
  ]);
});

it('finding T4: no signal of a flood overtakes an update', () => {
  const jobs = [...flood('a', 99), { doUpdate: {} }, ...flood('b', 2)];
  expect(take(jobs)).toEqual(['a0…a98', 'other', 'b0…b1']);
});

it('finding T4: signals with a token of another run are joined like those without', () => {
  const jobs = [...flood('a', 50), signal('escalate', stamp('forged')), ...flood('b', 50)];
  expect(take(jobs)).toEqual(['a0…b49']);
});

it('fewer than 100 signals stay apart', () => {
  expect(take(flood('a', 99))).toHaveLength(99);
});

describe('a workflow below another one', () => {
  const stop = [signal('stop'), signal('escalate', stamp('run'))];

  it('that got a token with its start takes only what the same run sends', () => {
    expect(take(stop, { parent })).toEqual(['escalate']);
    expect(take(stop, { parent, ...continued })).toEqual(['escalate']);
  });

  it('that got none is a run of its own, which people steer', () => {
    expect(take(stop, { parent }, {})).toEqual(['stop', 'escalate']);
    expect(take(flood('a', 100), { parent }, {})).toEqual(['a0…a99']);
  });

  it('that got none stays one when it continues as new, and no start can claim that', () => {
    const own = { ...stamp('run'), 'planwave-topmost': toPayload(true) };
    expect(take(stop, { parent, ...continued }, own)).toEqual(['stop', 'escalate']);
    expect(take(stop, { parent }, own)).toEqual(['escalate']);
  });

  it('gets a token from its run, and none from an evaluation', async () => {
    expect(await startFrom('plannerRun')).toEqual(['planwave-token']);
    expect(await startFrom('evaluation')).toEqual([]);
  });
});

it('an evaluation takes its orders out of a flood, and takes what it does not know as well', () => {
  const signalHandlers = new Map<string, { handler: (...args: unknown[]) => void }>();
  const workflow = {
    info: {},
    signalHandlers,
    defaultSignalHandler: null,
    dispatchBufferedSignals: () => undefined,
    patchInternal: () => true,
  };
  Reflect.set(globalThis, activator, workflow);
  const orders = new CellOrders();
  const names = ['pause', 'stop', 'resume'].map((name) => ({ name, argsCount: 1 }));
  const flooded = signalHandlers.get('planwave-flood');
  flooded?.handler(names, { reason: 'lunch' }, { reason: 'enough' }, {});
  expect([orders.stopReason(), orders.pausedReason()]).toEqual(['enough', null]);
  expect(workflow.defaultSignalHandler).toEqual(expect.any(Function));
});
