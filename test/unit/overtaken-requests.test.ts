import { CancellationScope } from '@temporalio/workflow';
import type { BudgetNeeds, RunBudget, Spending } from '../../contracts/budget.ts';
import type { BudgetEscalation, DeliveredAnswer, Escalation } from '../../contracts/messages.ts';
import { emptyNode } from '../../core/budget/budget-node.ts';
import { noLimits, noSpending } from '../../core/budget/spending.ts';
import { DelegationService } from '../../workflows/planner-wave/delegation-service.ts';
import { openAccount } from '../../workflows/shared/account.ts';
import type { Account } from '../../workflows/shared/account.ts';
import { openChildBudget } from '../../workflows/shared/budget.ts';
import { relayEscalations } from '../../workflows/shared/child-relay.ts';
import {
  adaptSuperior,
  createParentSuperior,
  nameNextRequest,
  nobodyAbove,
} from '../../workflows/shared/superior.ts';
import { asked, escalation } from './core/builders.ts';

/** Signals to other workflows. */
const sent: Escalation[] = [];

/** Lets all that is ready go on. */
const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));

vi.mock('@temporalio/workflow', async (original) => {
  const replaced = {
    setHandler: () => {},
    async condition(isMet: () => boolean) {
      // oxlint-disable-next-line no-await-in-loop
      while (!isMet()) await settle();
    },
    workflowInfo: () => ({ workflowId: 'run/wave-001/d1', runId: 'r1' }),
    getExternalWorkflowHandle: () => ({
      signal: async (_signal: unknown, payload: Escalation) => void sent.push(payload),
    }),
    inWorkflowContext: () => true,
  };
  return { ...(await original<object>()), ...replaced };
});

beforeAll(() => {
  vi.spyOn(CancellationScope, 'nonCancellable').mockImplementation((run) => run());
});
afterAll(() => void vi.restoreAllMocks());
beforeEach(() => void sent.splice(0));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const pretend = <T>(part: object): T => part as T;

const calls = (count: number): Spending => ({ ...noSpending, calls: count });

const needs = (count: number, spent = 0): BudgetNeeds => ({
  needs: calls(count),
  spent: calls(spent),
  worked_ms: 0,
});

const request = (request_id: string, count: number): BudgetEscalation => ({
  type: 'budget',
  from: 'run/wave-001/d1',
  delegation_id: 'd1',
  request_id,
  ...needs(count),
});

const question = (before_request: string, spent = calls(1)) =>
  escalation('d1#1', [asked()], { spent, before_request });

/** Opens the account of a wave with two calls. */
function open() {
  const answers: ((answers: readonly DeliveredAnswer[]) => void)[] = [];
  const nobody = nobodyAbove((reason) => {
    throw new Error(reason);
  });
  const superior = adaptSuperior(nobody, {
    ask: () => new Promise((resolve) => void answers.push(resolve)),
  });
  const limits: RunBudget = {
    run: { ...noLimits, calls: 2 },
    wave: noLimits,
    delegation: noLimits,
  };
  const opened = openAccount(
    { limits, steps: limits, before: noSpending, before_worked_ms: 0 },
    {
      control: pretend({
        subscribe: () => {},
        pausedReason: () => null,
        parkedReason: () => null,
      }),
      superior,
      limits: pretend({ max_parallel: 1 }),
      wave: 1,
    },
    '@planner',
  );
  const account = opened.account ?? pretend<Account>({});
  const service = new DelegationService(
    pretend({
      plan: () => ({ plan_ref: 'p', delegations: [] }),
      order: { refused_questions: [] },
      context: { superior, account },
      waveId: 'run/wave-001',
      outcomes: new Map(),
      scope: {},
      entries: () => [],
      on: () => {},
      isRunning: () => true,
    }),
  );
  const raise = (): void =>
    answers[0]?.([pretend<DeliveredAnswer>({ question_id: 'q1', answer: 'top_up' })]);
  return { account, service, superior, raise };
}

it('BA2: a request whose place a newer one took gets no grant, and the newer one gets it', async () => {
  const { account, service, raise } = open();
  service.take(request('lost#1', 3));
  service.take(request('lost again#1', 3));
  const admitted = account.request('d1', needs(3));
  await settle();
  expect(sent).toEqual([]);
  raise();
  expect((await admitted).reservation).toMatchObject({ calls: 3 });
  await settle();
  expect(sent).toEqual([]);
  // One that was granted is not taken back by the next.
  service.take(request('next#1', 1));
  await settle();
  expect(sent).toMatchObject([{ request_id: 'next#1', reservation: { calls: 2 } }]);
});

it('a request that a delegation passes on is its own above it, whoever of it made it', async () => {
  const routes: ((one: Escalation) => void)[] = [];
  const relay = relayEscalations({
    control: pretend({ subscribe: () => {} }),
    budget: openChildBudget('run/wave-001', 'd1', emptyNode),
    escalations: { register: (_id, take) => void routes.push(take) },
    superior: open().superior,
  });
  relay.expect('run/wave-001/d1/verify-1/deliberate');
  const from = 'run/wave-001/d1/verify-1/deliberate';
  routes[0]?.({ ...request('phase#1', 3), from, delegation_id: 'd1.verify-1' });
  await settle();
  expect(sent).toEqual([{ ...request('r1#1', 3), from: 'run/wave-001/d1' }]);
});

it('BA2: a child that is gone gets no message about its request', async () => {
  const { account, superior, raise } = open();
  const routes: ((one: Escalation) => void)[] = [];
  const relay = relayEscalations({
    control: pretend({ subscribe: () => {} }),
    budget: pretend({ request: (needed: BudgetNeeds) => account.request('d1', needed) }),
    escalations: { register: (_id, take) => void routes.push(take) },
    superior,
  });
  relay.expect('run/wave-001/d1/deliberate');
  routes[0]?.(request('phase#1', 3));
  routes[0]?.(request('next phase#1', 3));
  await settle();
  raise();
  await settle();
  expect(sent).toMatchObject([{ request_id: 'next phase#1', reservation: { calls: 3 } }]);
});

/** Starts to request a call for another delegation. @returns true once it is granted. */
async function isFree(account: Account): Promise<boolean> {
  let isGranted = false;
  void account.request('d2', needs(1)).then(() => (isGranted = true));
  await settle();
  return isGranted;
}

describe('BA1: a reservation that was granted after its asker gave back the one before', () => {
  it.each([
    ['is kept by a wave', 'r1#2', false],
    ['goes back to a wave with a later question', 'r1#3', true],
  ])('%s', async (_what, before, isFreed) => {
    const { account, service } = open();
    service.take(request('r1#2', 2));
    service.take(question(before));
    expect(await isFree(account)).toBe(isFreed);
  });

  it.each([
    ['is kept by a delegation', 'r1#2', []],
    ['goes back to a delegation with a later question', 'r1#3', [calls(1)]],
  ])('%s', async (_what, before, released) => {
    const told: Spending[] = [];
    const asks: object[] = [];
    const routes: ((one: Escalation) => void)[] = [];
    const { superior } = open();
    const relay = relayEscalations({
      control: pretend({ subscribe: () => {} }),
      budget: pretend({
        request: () => new Promise(() => {}),
        release(spent: Spending) {
          told.push(spent);
          return spent;
        },
      }),
      escalations: { register: (_id, take) => void routes.push(take) },
      superior: adaptSuperior(superior, {
        ask(one) {
          asks.push(one);
          return new Promise(() => {});
        },
      }),
    });
    relay.expect('run/wave-001/d1/deliberate');
    routes[0]?.(request('r1#2', 2));
    routes[0]?.(question(before));
    await settle();
    expect(told).toEqual(released);
    const { before_request: _name, spent: _spent, ...passed } = question(before);
    expect(asks).toEqual([{ ...passed, ...(released.length > 0 && { spent: calls(1) }) }]);
  });

  it('is known by the request that the question names', async () => {
    const budget = openChildBudget('run/wave-001', 'd1', emptyNode);
    const parent = createParentSuperior('run/wave-001', 'run', pretend({}), []);
    const superior = nameNextRequest(parent, budget);
    const { spent: _spent, before_request: _name, ...without } = question('');
    void superior.ask({ ...without, spent: calls(0) });
    void budget.request(needs(1));
    void superior.ask({ ...without, spent: calls(1) });
    void superior.ask(without);
    await settle();
    expect(sent).toMatchObject([
      { type: 'questions', before_request: 'r1#1' },
      { type: 'budget', request_id: 'r1#1' },
      { type: 'questions', before_request: 'r1#2' },
      { type: 'questions' },
    ]);
    expect(sent[3]).toEqual(without);
  });
});
