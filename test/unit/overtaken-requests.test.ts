import { CancellationScope } from '@temporalio/workflow';
import type { BudgetNeeds, RunBudget, Spending } from '../../contracts/budget.ts';
import type { BudgetEscalation, DeliveredAnswer, Escalation } from '../../contracts/messages.ts';
import { noLimits, noSpending } from '../../core/budget/spending.ts';
import { DelegationService } from '../../workflows/planner-wave/delegation-service.ts';
import { openAccount } from '../../workflows/shared/account.ts';
import type { Account } from '../../workflows/shared/account.ts';
import { relayEscalations } from '../../workflows/shared/child-relay.ts';
import { adaptSuperior, nobodyAbove } from '../../workflows/shared/superior.ts';

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
    workflowInfo: () => ({ workflowId: 'run/wave-001' }),
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
