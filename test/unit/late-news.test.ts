import { CancellationScope } from '@temporalio/workflow';
import type { Delivery, NewsDelivery, NewsItem } from '../../contracts/messages.ts';
import { DelegationService } from '../../workflows/planner-wave/delegation-service.ts';
import { createChildRelay, relayEscalations } from '../../workflows/shared/child-relay.ts';
import type { ChildRelay } from '../../workflows/shared/child-relay.ts';
import { NewsFeed } from '../../workflows/shared/news-feed.ts';
import {
  adaptSuperior,
  createParentSuperior,
  nobodyAbove,
} from '../../workflows/shared/superior.ts';
import type { Superior } from '../../workflows/shared/superior.ts';
import type { Escalation } from '../../contracts/messages.ts';
import { asked, escalation } from './core/builders.ts';

/** Signals between workflows, each with the function that tells its sender that it has arrived. */
const sent: { readonly name: string; readonly payload: unknown; readonly arrive: () => void }[] =
  [];

/** Handlers of the workflow at work, by the names of their signals. */
const handlers = new Map<string, (payload: unknown) => void>();

vi.mock('@temporalio/workflow', async (original) => {
  const handle = {
    signal({ name }: { readonly name: string }, payload: unknown) {
      return new Promise<void>((arrive) => void sent.push({ name, payload, arrive }));
    },
  };
  const replaced = {
    setHandler: ({ name }: { readonly name: string }, handler: (payload: unknown) => void) =>
      void handlers.set(name, handler),
    async condition(isMet: () => boolean) {
      // oxlint-disable-next-line no-await-in-loop
      while (!isMet()) await settle();
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
beforeEach(() => {
  sent.splice(0);
  handlers.clear();
});

/** Lets all that is ready go on. */
const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const pretend = <T>(part: object): T => part as T;

const told = (news_id: number): NewsItem => ({
  news_id,
  type: 'instruction',
  instruction: `Do ${news_id}.`,
  criteria_waived: [],
});

const control = { subscribe: () => {}, parkedReason: () => null, pausedReason: () => null };
const answered = { escalation_id: 'd1#1', answers: [] };
const childId = 'run/wave-001/d1';

/** A relay with a child that has news up to an id. */
function openRelay(newsId: number) {
  const news = new NewsFeed();
  const relay = createChildRelay(pretend(control), news);
  relay.welcome(childId, newsId);
  return { news, relay };
}

const newsIds = ({ payload }: { readonly payload: unknown }): number[] | undefined =>
  pretend<Partial<NewsDelivery>>(Object(payload)).news?.map(({ news_id }) => news_id);

const deliveries = () => sent.filter(({ name }) => name === 'deliver').map(newsIds);

it('NW5: the answers go with all news that have not arrived, sent or not', async () => {
  const { news, relay } = openRelay(1);
  news.take([told(2)]);
  news.take([told(3)]);
  // The second waits for the first to arrive.
  expect(sent.map(newsIds)).toEqual([[2]]);
  void relay.deliver(childId, answered);
  sent[0]?.arrive();
  await settle();
  void relay.deliver(childId, answered);
  sent.at(-2)?.arrive();
  await settle();
  void relay.deliver(childId, answered);
  expect(sent.map(({ name }) => name)).toEqual([
    'inform',
    'deliver',
    'inform',
    'deliver',
    'deliver',
  ]);
  expect(deliveries()).toEqual([[2, 3], [3], undefined]);
});

it('the answers to a child that has ended, or has not begun, go without news', () => {
  const { news, relay } = openRelay(0);
  news.take([told(1)]);
  relay.dismiss(childId);
  void relay.deliver(childId, answered);
  expect(deliveries()).toEqual([undefined]);
});

it('NW5: a workflow takes the news before the answers, and takes them once', async () => {
  const { news, relay } = openRelay(0);
  const below = createParentSuperior('run', 'run', pretend({}), []);
  const heard: number[] = [];
  below.news.subscribe(() => void heard.push(below.news.last()));
  const lastAtAnswer = below.ask(escalation('d1#1', [asked()])).then(() => below.news.last());
  sent[0]?.arrive();
  news.take([told(1)]);
  news.take([told(2)]);
  void relay.deliver(childId, answered);
  const [, inform, deliver] = sent;
  // In the other order than they were sent in.
  handlers.get('deliver')?.(deliver?.payload);
  handlers.get('inform')?.(inform?.payload);
  expect(await lastAtAnswer).toBe(2);
  expect(heard).toEqual([2]);
});

/** A superior that answers at once, with its news. */
function answering(): Superior {
  const superior = nobodyAbove((reason) => {
    throw new Error(reason);
  });
  return adaptSuperior(superior, { ask: async () => [] });
}

/** Opens a part of a workflow that has a child. @returns the way of the child's messages to it. */
type OpenPart = (superior: Superior, relay: ChildRelay) => (one: Escalation) => void;

const inWave: OpenPart = (superior, relay) => {
  const service = new DelegationService(
    pretend({
      plan: () => ({ plan_ref: 'p', delegations: [] }),
      order: { refused_questions: [] },
      context: { superior, account: null },
      waveId: 'run/wave-001',
      relay,
      outcomes: new Map(),
      scope: {},
      entries: () => [],
      on: () => {},
      isRunning: () => true,
    }),
  );
  return (one) => service.take(one);
};

const inTriad: OpenPart = (superior) => {
  const routes: ((one: Escalation) => void)[] = [];
  const relay = relayEscalations({
    control: pretend(control),
    budget: pretend({}),
    escalations: { register: (_id, take) => void routes.push(take) },
    superior,
  });
  relay.expect(childId);
  relay.began(childId, 0);
  return (one) => routes[0]?.(one);
};

it.each([
  ['a wave', inWave],
  ['a triad', inTriad],
])('NW5: %s gives its child the news with the answers', async (_name, open) => {
  const superior = answering();
  const relay = createChildRelay(pretend(control), superior.news);
  relay.welcome(childId, 0);
  const send = open(superior, relay);
  superior.news.take([told(1)]);
  send(escalation('d1#1', [asked()], { from: childId, kind: 'approval' }));
  await settle();
  const delivered = sent.find(({ name }) => name === 'deliver')?.payload;
  expect(delivered).toEqual({ ...answered, news: [told(1)] } satisfies Delivery);
});
