import { Connection } from '@temporalio/client';
import type { TenantBudgets } from '../../../../contracts/budget.ts';
import type { ControlMessage } from '../../../../contracts/messages.ts';
import { PlanwaveClientError } from '../../../../client/client-error.ts';
import type { PlanwaveClient } from '../../../../client/planwave-client.ts';
import type { CliAgents, CliDeps, CliThreads } from '../../../../client/cli/cli-deps.ts';
import type { CliIo } from '../../../../client/cli/cli-io.ts';
import { listing, noUsage, status } from './samples.ts';

/** A client whose methods a test replaces; the others answer as for a run that works and has nothing to tell. */
export function createFakeClient(methods: Partial<PlanwaveClient> = {}): PlanwaveClient {
  return {
    address: 'temporal.test:7233',
    namespace: 'default',
    startRun: (_input, options) => Promise.resolve({ run_id: options?.run_id ?? 'run-1' }),
    startTeam: (_input, options) => Promise.resolve({ run_id: options?.run_id ?? 'run-1' }),
    list: () => Promise.resolve([{ ...listing(), stuck: null }]),
    describe: () => Promise.resolve(listing()),
    stuck: () => Promise.resolve([]),
    storeWaits: () => Promise.resolve([]),
    longHistories: () => Promise.resolve([]),
    lateNotifications: () => Promise.resolve([]),
    schedules: {
      create: () => Promise.resolve(),
      list: () => Promise.resolve([]),
      pause: () => Promise.resolve(),
      resume: () => Promise.resolve(),
      trigger: () => Promise.resolve(),
      delete: () => Promise.resolve(),
    },
    openHistories: noHistories,
    status: () => Promise.resolve({ live: true, view: status() }),
    usageNow: ({ usage }) => Promise.resolve({ usage, untold: [] }),
    questions: () =>
      Promise.resolve({
        live: true,
        view: { open: [], answered: [], rejected: [], rejected_total: 0 },
      }),
    waves: () =>
      Promise.resolve({ live: true, view: { done: [], current: null, wave_workflow_id: null } }),
    waveView: () =>
      Promise.resolve({
        live: true,
        view: { wave: 1, phase: 'dispatching', delegations: [], usage: noUsage, at_work: [] },
      }),
    work: () => Promise.resolve(null),
    evaluate: () => Promise.reject(new Error('no evaluation was expected')),
    consult: () =>
      Promise.resolve({
        agent_id: 'workflow-designer',
        answer: 'Because of the goal.',
        amendment: null,
        usage: noUsage,
      }),
    delegation: () =>
      Promise.resolve({ usage: null, triad: null, team: null, verification: null, activities: [] }),
    stageCalls: () => Promise.resolve([]),
    team: () =>
      Promise.resolve({ run: listing(), work: null, note: null, calls: [], questions: [] }),
    answer: (_run, { question_id }) =>
      Promise.resolve({ status: 'accepted', question_id, accepted: null }),
    pause: sendAsIs,
    resume: sendAsIs,
    resumeParked: () => Promise.resolve([]),
    stop: sendAsIs,
    amend: (_run, message) => Promise.resolve(message),
    result: () => Promise.resolve(null),
    waitForEnd: () => Promise.reject(notFound()),
    ...methods,
  };
}

async function* noHistories(): AsyncIterableIterator<never> {}

const sendAsIs = (_run: string, message: ControlMessage = {}): Promise<ControlMessage> =>
  Promise.resolve(message);

export function notFound(): PlanwaveClientError {
  return new PlanwaveClientError('not_found', 'There is no run "x".');
}

/** A command line on which no run has changed a repository. */
export const noChanges: CliDeps['changes'] = {
  diff: () => Promise.resolve(''),
  apply: () => Promise.resolve({ dir: '/somewhere', files: [] }),
  undo: () => Promise.resolve({ dir: '/somewhere', files: [] }),
};

/** A home without a run. */
export const noPages: CliDeps['pages'] = {
  list: () => Promise.resolve([]),
  read: () => Promise.resolve(null),
  readVersion: () => Promise.resolve(''),
};

export const noAgents: CliAgents = {
  load: () => Promise.resolve({ agents: [], faults: [] }),
  check: () => Promise.resolve([]),
  findLacks: () => Promise.resolve({ faults: [], leftOut: [] }),
};

export const noThreads: CliThreads = {
  list: () => Promise.resolve({ threads: [], total: 0 }),
  read: () => Promise.resolve({ entries: [], total: 0, unreadable: 0 }),
  count: () => Promise.resolve({ threads: 0, entries: 0, delegations: 0 }),
  remove: () => Promise.resolve({ threads: 0, entries: 0, delegations: 0 }),
};

export const noBudgets: TenantBudgets = {
  set: () => Promise.reject(new Error('not available')),
  read: () => Promise.resolve(null),
  list: () => Promise.resolve([]),
  remove: () => Promise.resolve(false),
};

export function createFakeDeps(
  io: CliIo,
  methods: Partial<PlanwaveClient> = {},
  others: Partial<CliDeps> = {},
): CliDeps {
  return {
    io,
    env: {},
    cwd: '/somewhere',
    exportRun: (runId) => Promise.resolve({ path: `.planning/${runId}` }),
    readResult: () => Promise.resolve(null),
    offerFork: () => Promise.reject(new Error('not available')),
    readComparedRun: () => Promise.reject(notFound()),
    prune: () => Promise.resolve({ runs: [], records: 0, bytes: 0, kept_by: null }),
    copyStore: () => Promise.reject(new Error('not available')),
    checkHome: () => Promise.resolve({ runs: 0, records: 0, bytes: 0, faults: [], repaired: [] }),
    pages: noPages,
    threads: noThreads,
    budgets: noBudgets,
    changes: noChanges,
    agents: noAgents,
    readPlan: () => Promise.resolve(null),
    doctorChecks: [],
    replayHistories: () => noHistories(),
    runTemporalCli: () => Promise.resolve(0),
    openSession: () =>
      Promise.resolve({
        client: createFakeClient(methods),
        // Never connects: only doctor's own checks use it, and those are tested against a server.
        connection: Connection.lazy(),
        address: 'temporal.test:7233',
        namespace: 'default',
        close: () => Promise.resolve(),
      }),
    ...others,
  };
}
