import { QueryNotRegisteredError } from '@temporalio/client';
import { PlanwaveClientError } from '../../../client/client-error.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { taskView, teamView } from '../../support/team-fixtures.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { readStatus, readView } from '../../../client/read-view.ts';
import { readUsageNow } from '../../../client/usage-now.ts';
import { formatUsage } from '../../../core/text/format.ts';
import type { ClientContext } from '../../../client/server-calls.ts';
import { createFakeDeps, notFound } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { delegation as delegationView, listing, noUsage, status, wave } from './support/samples.ts';

it('status of a team that was started alone has a table of its tasks', async () => {
  const team = teamView({
    tasks: [
      taskView('d1', { state: 'completed', title: 'Prices\u001B[2J\nand more' }),
      taskView('d2', {
        member_id: 'testers',
        attempts: 2,
        executor: {
          kind: 'team',
          team_id: null,
          view: teamView({ tasks: [taskView('d2.d1', { state: 'timed_out' })] }),
        },
      }),
    ],
  });
  const delegation = {
    delegation_id: 'design',
    agent_id: 'leader',
    title: 'Design it',
    state: 'running',
    turn: 4,
    waiting_for: '',
    usage: { ...noUsage, calls: 4 },
    executor: { kind: 'team', team_id: null, view: team },
  } as const;
  const io = createFakeIo();
  const view = status({ delegation, usage: noUsage });
  const deps = createFakeDeps(io, {
    status: () => Promise.resolve({ live: true, view }),
    usageNow: (asked) =>
      Promise.resolve({
        usage: asked.delegation?.usage ?? noUsage,
        untold: ['run-1/d3/negotiate'],
      }),
  });
  expect(await runCli(['status', 'run-1'], deps)).toBe(0);
  // No worker has told what a phase has used.
  expect(io.out()).toContain(' · at least 4 calls · ');
  expect(io.out()).toContain(`leader waits for its members, 2 of 10 tasks, 42 of 300 s
task          member      state      attempts  cost    title
design.d1     researcher  completed  1         $0.002  Prices and more
design.d2     testers     running    2         $0.002  Task d2
design.d2.d1  researcher  timed out  1         $0.002  Task d2.d1
`);
});

const forgotten = (): Promise<never> => Promise.reject(notFound());

const silentWave: PlanwaveClient['waveView'] = async (run_id) => {
  const note = 'No worker is running.';
  return { live: false, note, stuck: [], last_known: listing({ run_id }) };
};

describe('a delegation that works in its wave', () => {
  const path = 'run-1/wave-001/gather-facts';
  it('without a worker, the state of its wave is told, and that no worker answers', async () => {
    const io = createFakeIo();
    const deps = createFakeDeps(io, { status: forgotten, waveView: silentWave });
    expect(await runCli(['status', path], deps)).toBe(0);
    expect(io.out()).toContain('run-1/wave-001 · ');
    expect(io.out()).toContain('No worker is running.');
    expect(io.err()).toBe('');
  });

  it('one that its wave does not have is not found, and neither is one of no wave', async () => {
    const view = wave({ delegations: [delegationView({ delegation_id: 'write' })] });
    const io = createFakeIo();
    const waveView: PlanwaveClient['waveView'] = async () => ({ live: true, view });
    const deps = createFakeDeps(io, { status: forgotten, waveView });
    expect(await runCli(['status', path], deps)).toBe(4);
    expect(io.err()).toBe(
      'run-1/wave-001 tells of no delegation "gather-facts". Try: one of "write"\n',
    );
    const none = createFakeIo();
    const absent = createFakeDeps(none, { status: forgotten, waveView: forgotten });
    expect(await runCli(['status', path], absent)).toBe(4);
    expect(none.err()).toContain('There is no run');
  });
});

it('what waits for a store is unknown when the server does not say, and the rest is told', async () => {
  const lost = new PlanwaveClientError('unreachable', 'gone');
  const io = createFakeIo();
  const deps = createFakeDeps(io, { storeWaits: () => Promise.reject(lost) });
  expect(await runCli(['status', 'run-1', '--json'], deps)).toBe(0);
  expect(JSON.parse(io.out())).toMatchObject({ source: 'worker', store_waits: null });
});

const atWork = { cell: 3, goal: 'backup', setting: 'alone', repetition: 3, run_id: 'eval-x-3' };
const cells = {
  waiting: 4,
  at_work: [atWork],
  passed: 1,
  not_passed: 1,
  cached: 0,
  newest_not_passed: [
    { ...atWork, cell: 2, run_id: 'eval-x-2', status: 'failed', reason: 'No key.' },
  ],
} as const;

/** Status of an evaluation, which is asked as any other. */
const ofEvaluation = status({
  run_id: 'eval-x',
  goal: 'x',
  wave: 0,
  wave_workflow_id: null,
  phase: 'paused',
  waiting_for: ['paused: lunch'],
  usage: { ...noUsage, calls: 2 },
  evaluation: cells,
});

const evaluationsText =
  '2 of 7 cells done (0 from before), 1 passed, 1 at work, 4 to start. eval-x is an evaluation: its runs, ';

/** Answers queries as an evaluation and its run do. */
async function askEvaluation(asked: string, id: string): Promise<object> {
  if (asked !== 'status') throw new QueryNotRegisteredError('Workflow did not register', 3);
  if (id === 'eval-x') return ofEvaluation;
  const waiting_for = ['parked: no key', 'paused: lunch'];
  const usage = { ...noUsage, calls: 3 };
  return status({ run_id: id, wave_workflow_id: null, waiting_for, usage });
}

/** No more of the context than these functions use. */
function contextOfEvaluation(
  name: string,
  query: (asked: string, id: string) => Promise<object>,
): ClientContext {
  const described = {
    workflowId: 'eval-x',
    type: 'evaluation',
    status: { name },
    startTime: new Date(0),
    typedSearchAttributes: { getAll: () => [] },
    raw: {},
  };
  return Object.assign(Object.create(null), {
    connection: { withDeadline: (_deadline: number, work: () => unknown) => work() },
    workflows: { getHandle: (id: string) => ({ query: (asked: string) => query(asked, id) }) },
    lists: {
      options: { loadedDataConverter: {} },
      list: async function* () {},
      getHandle: () => ({ describe: async () => described }),
    },
  });
}

describe('finding U1: a run whose workflow has failed', () => {
  const end = {
    ended: 'failed',
    type: 'InvalidInput',
    reason: 'The input has 2 faults:\n- goal: expected a goal\n- agents_dir: no such folder',
  } as const;
  const result: PlanwaveClient['result'] = () => Promise.resolve(end);
  const ofWorker: Partial<PlanwaveClient> = {
    result,
    status: () => Promise.resolve({ live: true, view: status({ phase: 'intake' }) }),
  };
  const ofServer: Partial<PlanwaveClient> = {
    result,
    status: () => {
      const last_known = listing({ execution: 'failed', phase: null });
      return Promise.resolve({ live: false, note: 'No worker is running.', stuck: [], last_known });
    },
  };

  it.each([
    ['a worker', ofWorker],
    ['no worker', ofServer],
  ])('tells state and reason by text, JSON and exit code with %s', async (_who, methods) => {
    const io = createFakeIo();
    expect(await runCli(['status', 'run-1'], createFakeDeps(io, methods))).toBe(2);
    expect(io.out()).toMatch(/^failed · /m);
    expect(io.out()).toContain('- agents_dir: no such folder\n');
    expect(io.out()).not.toContain('intake');
    const json = createFakeIo();
    expect(await runCli(['status', 'run-1', '--json'], createFakeDeps(json, methods))).toBe(2);
    expect(JSON.parse(json.out())).toMatchObject({ phase: 'failed', reason: end.reason });
  });

  it.each([
    ['COMPLETED', 'This is an evaluation. Try: npm run planwave -- report eval-x'],
    ['RUNNING', evaluationsText],
  ])(
    'the questions of an evaluation that is %s say what it is, and not that no worker answers',
    async (name, note) => {
      const context = contextOfEvaluation(name, askEvaluation);
      expect(await readView(context, 'eval-x', 'questions')).toMatchObject({
        live: false,
        note: expect.stringContaining(note),
      });
    },
  );

  it('of an evaluation whose worker is too slow nothing is said of its cells', async () => {
    const slow = contextOfEvaluation('RUNNING', async (asked, id) => {
      if (asked === 'status') throw new Error('deadline exceeded');
      return askEvaluation(asked, id);
    });
    expect(await readView(slow, 'eval-x', 'questions')).toMatchObject({
      live: false,
      note: expect.stringMatching(/^eval-x is an evaluation: its runs, /),
    });
  });

  it('an evaluation tells its cells, what its runs wait for, and the use of those at work', async () => {
    const context = contextOfEvaluation('RUNNING', askEvaluation);
    const reading = await readStatus(context, 'eval-x');
    expect(reading).toMatchObject({
      live: true,
      view: { evaluation: cells, waiting_for: ['paused: lunch', 'eval-x-3: parked: no key'] },
    });
    expect(await readUsageNow(context, ofEvaluation)).toMatchObject({ usage: { calls: 5 } });
    const silent = contextOfEvaluation('RUNNING', async (asked, id) => {
      if (id !== 'eval-x') throw new Error('deadline exceeded');
      return askEvaluation(asked, id);
    });
    expect(await readUsageNow(silent, ofEvaluation)).toMatchObject({
      usage: { calls: 2 },
      untold: ['eval-x-3'],
    });
    const io = createFakeIo();
    const deps = createFakeDeps(io, { status: async () => reading });
    expect(await runCli(['status', 'eval-x'], deps)).toBe(0);
    expect(io.out()).toBe(`eval-x · x
paused · 2 of 7 cells done (0 from before), 1 passed, 1 at work, 4 to start · ${formatUsage(ofEvaluation.usage)}
paused: lunch
eval-x-3: parked: no key
run       goal    setting  repetition  state    reason
eval-x-2  backup  alone    3           failed   No key.
eval-x-3  backup  alone    3           at work
`);
  });

  it('an evaluation that ended tells how many cells passed, and the command that shows them', async () => {
    const last_known = listing({ execution: 'completed', phase: null });
    const evaluation = { evaluation_id: 'run-1', name: 'x', cells: [], usage: noUsage };
    const io = createFakeIo();
    const methods: Partial<PlanwaveClient> = {
      result: async () => ({ ended: 'evaluation', evaluation }),
      status: async () => ({ live: false, note: 'This is an evaluation.', stuck: [], last_known }),
    };
    expect(await runCli(['status', 'run-1'], createFakeDeps(io, methods))).toBe(0);
    expect(io.out()).toContain(
      '0 of 0 cells passed. All of them: npm run planwave -- report run-1\n',
    );
  });

  it('a stopped run ends with 1, as watch does; one at work with 0', async () => {
    const stopped = { readStoredStatus: () => Promise.resolve(status({ phase: 'stopped' })) };
    expect(
      await runCli(
        ['status', 'run-1'],
        createFakeDeps(createFakeIo(), { status: forgotten }, stopped),
      ),
    ).toBe(1);
    expect(await runCli(['status', 'run-1'], createFakeDeps(createFakeIo()))).toBe(0);
  });
});
