import { PlanwaveClientError } from '../../../client/client-error.ts';
import { streamTeam } from '../../../client/stream-team.ts';
import type { StreamOptions } from '../../../client/stream-team.ts';
import type { TeamLook } from '../../../client/read-work.ts';
import type { TeamEvent } from '../../../client/team-event.ts';
import { notFound } from './support/fake-client.ts';
import { closed, endOfTeam, look, task, team, writing } from './support/team-samples.ts';

const away = new PlanwaveClientError('unreachable', 'The server no longer answers.');

type Sight = TeamLook | Error;

/** A client that sees these one after the other, and then the last one for ever. */
function seeing(...sights: readonly Sight[]) {
  let at = 0;
  return {
    team: (): Promise<TeamLook> => {
      const sight = sights[Math.min(at, sights.length - 1)];
      at += 1;
      return sight instanceof Error || sight === undefined
        ? Promise.reject(sight ?? away)
        : Promise.resolve(sight);
    },
    result: () => Promise.resolve(endOfTeam()),
  };
}

const quick: StreamOptions = { pollEveryMs: 1, giveUpAfterMs: 30 };

async function collect(stream: AsyncIterable<TeamEvent>): Promise<TeamEvent[]> {
  const events: TeamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const typesOf = (events: readonly TeamEvent[]): string[] => events.map(({ type }) => type);

const atWork = look(team({}, [task('d1')]), { calls: [writing('task.d1', 'c', 'Once')] });
const over = closed(team({ state: 'done', turns: 2 }, [task('d1', { state: 'completed' })]));

it('streams until the answer and the end', async () => {
  const events = await collect(streamTeam(seeing(atWork, over), 'run-1', quick));
  expect(typesOf(events)).toEqual([
    'leader',
    'delegation',
    'text',
    'delegation',
    'leader',
    'answer',
    'end',
  ]);
  expect(events.at(-2)).toEqual({ type: 'answer', text: '# Bread\n\nIt is baked.' });
  expect(events.at(-1)).toMatchObject({ status: 'completed', partial: false });
});

it('goes on where it was when the connection is back, and says so once each', async () => {
  const more = { ...atWork, calls: [writing('task.d1', 'c', 'Once upon')] };
  const client = seeing(away, atWork, away, away, more, over);
  const events = await collect(streamTeam(client, 'run-1', { pollEveryMs: 1 }));
  expect(typesOf(events)).toEqual([
    'notice',
    'notice',
    'leader',
    'delegation',
    'text',
    'notice',
    'notice',
    'text',
    'delegation',
    'leader',
    'answer',
    'end',
  ]);
  const texts = events.flatMap((event) => (event.type === 'text' ? [event] : []));
  expect(texts.map(({ position, text }) => [position, text])).toEqual([
    [0, 'Once'],
    [4, ' upon'],
  ]);
});

it('case 7.1: a connection that is lost for good is an error event, and the loop ends', async () => {
  const events = await collect(streamTeam(seeing(atWork, away), 'run-1', quick));
  expect(typesOf(events).slice(3)).toEqual(['notice', 'error']);
  expect(events.at(-1)).toEqual({ type: 'error', code: 'unreachable', message: away.message });
});

it.each([
  ['credentials that are refused', new PlanwaveClientError('unauthorized', 'no')],
  ['a run that the server forgot', notFound()],
  ['a fault of the client itself', new TypeError('x is not a function')],
])('case 7.1: %s are an error event at once', async (_what, error) => {
  const events = await collect(streamTeam(seeing(atWork, error), 'run-1', quick));
  expect(typesOf(events).slice(3)).toEqual(['error']);
});

it('throws for a workflow that does not exist, and for a cursor that is none', async () => {
  await expect(collect(streamTeam(seeing(notFound()), 'nobody', quick))).rejects.toThrow(
    'There is no run',
  );
  expect(() => streamTeam(seeing(atWork), 'run-1', { cursor: 'x' })).toThrow('cursor');
});

it('another process goes on from a cursor after any event, without repeats and without gaps', async () => {
  const sights = [atWork, over];
  const whole = await collect(streamTeam(seeing(...sights), 'run-1', quick));
  for (let cut = 1; cut <= whole.length; cut += 1) {
    const first = streamTeam(seeing(...sights), 'run-1', quick);
    const events: TeamEvent[] = [];
    for await (const event of first) {
      events.push(event);
      if (events.length === cut) break;
    }
    const { cursor } = first;
    const later = await collect(streamTeam(seeing(over), 'run-1', { ...quick, cursor }));
    const all = [...events, ...later];
    expect(new Set(all.map((event) => JSON.stringify(event))).size).toBe(all.length);
    expect(typesOf(all).slice(-2)).toEqual(['answer', 'end']);
  }
});

it('an ended signal ends the stream without another event, whatever it waits for', async () => {
  const aborting = new AbortController();
  const events: TeamEvent[] = [];
  const options = { pollEveryMs: 60_000, signal: aborting.signal };
  for await (const event of streamTeam(seeing(atWork), 'run-1', options)) {
    events.push(event);
    if (event.type === 'text') setTimeout(() => aborting.abort(), 5);
  }
  expect(typesOf(events)).toEqual(['leader', 'delegation', 'text']);
});

it.each(['team', 'result'] as const)(
  'an ended signal ends the stream while the %s is read, however long that takes',
  async (read) => {
    const aborting = new AbortController();
    const never = (): Promise<never> => {
      setTimeout(() => aborting.abort(), 5);
      return new Promise(() => {});
    };
    const client = { ...seeing(over), [read]: never };
    const events = await collect(streamTeam(client, 'run-1', { signal: aborting.signal }));
    expect(typesOf(events)).toEqual(read === 'team' ? [] : ['leader', 'delegation']);
  },
);

it('says that no worker answers, and goes on with what is known of the team', async () => {
  const silent = look(null, {
    note: 'No worker is running.',
    calls: [writing('task.d1', 'c', 'Once upon')],
  });
  const events = await collect(streamTeam(seeing(atWork, silent, silent, over), 'run-1', quick));
  expect(events.slice(3, 5)).toMatchObject([
    { type: 'notice', text: 'No worker is running.' },
    { type: 'text', position: 4 },
  ]);
  expect(typesOf(events).filter((type) => type === 'notice')).toHaveLength(1);
});
