import { CancellationScope } from '@temporalio/workflow';
import type { Withdrawal } from '../../core/questions/inbox-event.ts';
import { openLedger, runNextWave } from '../../workflows/planner-run/run-next-wave.ts';
import { DelegationService } from '../../workflows/planner-wave/delegation-service.ts';
import { createChildRelay, relayEscalations } from '../../workflows/shared/child-relay.ts';
import { NewsFeed } from '../../workflows/shared/news-feed.ts';
import { createParentSuperior, nobodyAbove } from '../../workflows/shared/superior.ts';
import type { Superior } from '../../workflows/shared/superior.ts';
import { shareSuperior } from '../../workflows/shared/share-superior.ts';
import type { DeliveredAnswer, Escalation } from '../../contracts/messages.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import { openSchedule, stepSchedule } from '../../core/schedule/step-schedule.ts';
import type { ScheduleEvent } from '../../core/schedule/step-schedule.ts';
import { asked, delegation, escalation } from './core/builders.ts';

/** Signals to the workflow above, each with the function that tells that it has arrived. */
const sent: {
  readonly payload: Escalation;
  readonly arrive: () => void;
  readonly arrived: Promise<void>;
}[] = [];

/** Waits that began. */
let waits = 0;

/** End of the wave that a run waits for. */
let waveStatus = 'decided';

// A run does its wave in a cancellation scope of its own, which exists in a workflow only.
vi.mock('../../workflows/planner-run/run-design-first.ts', () => ({
  addPlan: (_host: unknown, order: unknown) => order,
  isEndedEarly: () => false,
  untilFull: (_host: unknown, work: () => unknown) => work(),
}));

vi.mock('@temporalio/workflow', async (original) => {
  const handle = {
    signal(_signal: unknown, payload: Escalation) {
      let resolve: (() => void) | null = null;
      const arrived = new Promise<void>((arrive) => void (resolve = arrive));
      sent.push({ payload, arrive: () => resolve?.(), arrived });
      return arrived;
    },
  };
  const replaced = {
    setHandler: () => {},
    startChild: async () => ({ result: async () => ({ status: waveStatus }) }),
    condition() {
      waits += 1;
      return new Promise(() => {});
    },
    workflowInfo: () => ({ workflowId: 'run/wave-001' }),
    getExternalWorkflowHandle: () => handle,
    inWorkflowContext: () => true,
  };
  return { ...(await original<object>()), ...replaced };
});

beforeAll(() => {
  vi.spyOn(CancellationScope, 'nonCancellable').mockImplementation((run) => run());
});
afterAll(() => void vi.restoreAllMocks());
beforeEach(() => void sent.splice(0));

/** Lets all that is ready go on. */
const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const pretend = <T>(part: object): T => part as T;

const question = (escalation_id: string) =>
  escalation(escalation_id, [asked()], { from: 'run/wave-001/d1/deliberate', kind: 'approval' });

/** A superior that answers nothing, with what is asked and withdrawn. */
function silent() {
  const asks: string[] = [];
  const withdrawn: (readonly [string | null, string | undefined])[] = [];
  const superior: Superior = {
    ...nobodyAbove((reason) => {
      throw new Error(reason);
    }),
    ask({ escalation_id }) {
      asks.push(escalation_id);
      return new Promise(() => {});
    },
    withdraw: async (id, escalationId) => void withdrawn.push([id, escalationId]),
  };
  return { superior, asks, withdrawn };
}

/** The service of a wave whose delegations all have a slot. */
function serve(superior: Superior, over: object = {}): DelegationService {
  return new DelegationService(
    pretend({
      plan: () => ({ plan_ref: 'p', delegations: [] }),
      order: { refused_questions: [] },
      context: { superior, account: null },
      waveId: 'run/wave-001',
      relay: createChildRelay(pretend({ subscribe: () => {} }), new NewsFeed()),
      outcomes: new Map(),
      scope: {},
      entries: () => [],
      on: () => {},
      isRunning: () => true,
      ...over,
    }),
  );
}

it('questions of a child that is lost are withdrawn by the ids that they have above, those of others stay', () => {
  const above = silent();
  const order = pretend<DelegationOrder>({ delegation: { delegation_id: 'd1.verify-1' } });
  const shared = shareSuperior(above.superior, order, 0);
  const waiting: string[] = [];
  void shared.forMember(() => {}).ask(question('other#1'));
  const routes: ((one: Escalation) => void)[] = [];
  const relay = relayEscalations({
    control: pretend({ subscribe: () => {} }),
    budget: pretend({}),
    escalations: { register: (_id, take) => void routes.push(take) },
    superior: shared.forMember((text) => waiting.push(text)),
  });
  relay.expect('run/wave-001/d1/deliberate');
  routes[0]?.(question('d1.verify-1#1'));
  expect(above.asks).toEqual(['d1.verify-1#1', 'd1.verify-1#2']);
  relay.lost('run/wave-001/d1/deliberate');
  relay.lost('run/wave-001/d1/deliberate');
  expect(above.withdrawn).toEqual([['d1', 'd1.verify-1#2']]);
  // Its clock goes on.
  expect(waiting).toEqual([asked().text, '']);
});

it('a withdrawal does not overtake its question', async () => {
  const superior = createParentSuperior('run', 'run', pretend({}), []);
  void superior.ask(question('design#1'));
  void superior.withdraw(null);
  await settle();
  expect(sent.map(({ payload }) => payload.type)).toEqual(['questions']);
  sent[0]?.arrive();
  await settle();
  expect(sent.map(({ payload }) => payload.type)).toEqual(['questions', 'withdrawn']);
});

it('a question waits for its answer in the step in which it has arrived', async () => {
  const superior = createParentSuperior('run', 'run', pretend({}), []);
  void superior.ask(question('design#1'));
  await settle();
  const before = waits;
  // What waited for the arrival before goes on before this.
  const seen = sent[0]?.arrived.then(() => waits);
  sent[0]?.arrive();
  expect(await seen).toBe(before + 1);
});

it('a delegation that asks on after a withdrawal, before it has a slot, holds none while it waits', async () => {
  let { schedule } = openSchedule(
    [delegation('d1'), delegation('d2'), delegation('d3')],
    {
      known_inputs: ['goal'],
      max_parallel: 1,
      paused: false,
    },
    0,
  );
  const on = (event: ScheduleEvent<DelegationOutline>): void => {
    ({ schedule } = stepSchedule(schedule, event, 0));
  };
  const service = serve(silent().superior, { on, isRunning: () => false });
  service.take(question('d1#1'));
  service.take({ type: 'withdrawn', from: 'x', delegation_id: 'd1', escalation_id: 'd1#1' });
  await settle();
  const states = () => schedule.entries.map(({ state }) => state);
  expect(states()).toEqual(['resuming', 'running', 'pending']);
  service.take(question('d1#2'));
  await settle();
  expect(states()).toEqual(['waiting', 'running', 'pending']);
});

it.each(['inside its wave', 'as a child'])(
  'a wave takes back a question of a delegation that works %s, and lets it go on',
  async (where) => {
    const above = silent();
    const events: string[] = [];
    const service = serve(above.superior, {
      on: ({ type }: { readonly type: string }) => void events.push(type),
    });
    if (where === 'as a child') {
      service.take(question('d1#1'));
      service.take({ type: 'withdrawn', from: 'x', delegation_id: 'd1', escalation_id: 'd1#9' });
      service.take({ type: 'withdrawn', from: 'x', delegation_id: 'd1', escalation_id: 'd1#1' });
    } else {
      const superior = service.superiorOf('d1');
      void superior.ask(question('d1#1'));
      await superior.withdraw('d1', 'd1#1');
    }
    await settle();
    expect(above.asks).toEqual(['d1#1']);
    expect(above.withdrawn).toEqual([['d1', 'd1#1']]);
    expect(events).toEqual(['asked', 'answered']);
  },
);

it('an attempt that asks something else than the crashed one gets its own answers, and the old question is withdrawn', async () => {
  const above = silent();
  const answered = new Map<string, (answers: readonly DeliveredAnswer[]) => void>();
  const service = serve({
    ...above.superior,
    ask(one) {
      void above.superior.ask(one);
      return new Promise((resolve) => void answered.set(one.escalation_id, resolve));
    },
  });
  service.take(question('d1#1'));
  void service.restart('d1');
  service.take({ ...question('d1#1'), questions: [asked({ text: 'Which cities?' })] });
  await settle();
  expect(above.asks).toEqual(['d1#1', 'd1#1~2']);
  expect(above.withdrawn).toEqual([['d1', 'd1#1']]);
  const answers = [
    {
      question_id: 'q2',
      text: 'Which cities?',
      answer: 'Paris',
      answer_ref: null,
      answered_by: 'user',
      loop: false,
    },
  ];
  answered.get('d1#1~2')?.(answers);
  await settle();
  // The child knows its question by its own number.
  expect(sent.map(({ payload }) => payload)).toEqual([{ escalation_id: 'd1#1', answers }]);
});

it.each([
  ['decided', ['before it', 'after it', 'answers that are left']],
  ['stopped', ['before it', 'answers that are left']],
])('questions that a wave leaves open are withdrawn when it is %s', async (status, expected) => {
  waveStatus = status;
  const steps: string[] = [];
  let isOver = false;
  const inbox = {
    carry: () => ({ asked: {} }),
    knownAnswers: () => [],
    withdraw: ({ from, delegation_id, is_over }: Withdrawal) => {
      expect([from, delegation_id, is_over]).toEqual(['run/wave-001', null, true]);
      steps.push(isOver ? 'after it' : 'before it');
    },
    endRepeatedWork: () => void steps.push('answers that are left'),
  };
  const host = {
    isFull: () => false,
    runId: 'run',
    state: { news: { last: 0 }, opened: {}, plan_approved: null, wave: 0, budget: null },
    record: {
      flush: async () => 'r',
      knownInputs: () => [],
      stale: () => [],
      factsTotal: () => 0,
    },
    news: { since: () => [] },
    inbox,
    refresh: () => {},
    considered: () => void (isOver = true),
    relay: { welcome: () => {}, dismiss: () => {} },
  };
  await runNextWave(pretend(host), openLedger(null), false);
  expect(steps).toEqual(expected);
});

it('a call in a workflow is told news up to an id', () => {
  const news = new NewsFeed();
  news.hear(2);
  news.hear(1);
  expect(news.heard()).toBe(2);
});
