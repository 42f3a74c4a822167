import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check';
import type { ThreadStore } from '../../activities/ports/thread-store.ts';
import type { ThreadEntry } from '../../contracts/thread.ts';
import { entry, kept } from './thread-entries.ts';

const nothing = { threads: 0, entries: 0, delegations: 0 };
const five = { limit: 5, exceptRun: '' };

/**
 * Tests the functions of every store of threads for people who read threads and delete them.
 *
 * @param connect opens another connection each time to one database that is not used elsewhere.
 */
export function itLooksAfterThreads(connect: () => ThreadStore): void {
  let store: ThreadStore;
  beforeAll(() => {
    store = connect();
  });
  afterAll(() => store.close());

  async function append(...entries: readonly ThreadEntry[]): Promise<void> {
    for (const one of entries) await store.append(one);
  }

  /** Empties the store for the next test. */
  async function removeAll(): Promise<void> {
    const { threads } = await store.list({ limit: 1_000, userId: null });
    for (const { thread_id } of threads) await store.remove({ thread_id });
    expect(await store.list({ limit: 1_000, userId: null })).toEqual({ threads: [], total: 0 });
  }
  afterEach(removeAll);

  it('a store that is new has no threads, and there is nothing in them to delete', async () => {
    expect(await store.list({ limit: 1, userId: null })).toEqual({ threads: [], total: 0 });
    expect(await store.read('t', 1)).toEqual({ entries: [], total: 0, unreadable: 0 });
    expect(await store.count({ user_id: 'anna' })).toEqual(nothing);
    expect(await store.remove({ thread_id: 't' })).toEqual(nothing);
  });

  it('lists the thread with the newest entry first, and says how many more there are', async () => {
    await append(
      entry({ thread_id: 'old', at: 1, user_id: 'ben' }),
      entry({ thread_id: 'b', at: 5, user_id: 'zoe' }),
      entry({ thread_id: 'b', at: 2, user_id: 'anna' }),
      entry({ thread_id: 'b', at: 3, user_id: 'anna' }),
      entry({ thread_id: 'a', at: 5 }),
    );
    const a = { thread_id: 'a', user_ids: [], entries: 1, newest_at: 5 };
    const b = { thread_id: 'b', user_ids: ['anna', 'zoe'], entries: 3, newest_at: 5 };
    const old = { thread_id: 'old', user_ids: ['ben'], entries: 1, newest_at: 1 };
    expect(await store.list({ limit: 9, userId: null })).toEqual({
      threads: [a, b, old],
      total: 3,
    });
    expect(await store.list({ limit: 2, userId: null })).toEqual({ threads: [a, b], total: 3 });
    // Only this person's entries.
    expect(await store.list({ limit: 9, userId: 'anna' })).toEqual({
      threads: [{ thread_id: 'b', user_ids: ['anna'], entries: 2, newest_at: 3 }],
      total: 1,
    });
    expect(await store.list({ limit: 9, userId: 'nobody' })).toEqual({ threads: [], total: 0 });
  });

  it('reads the newest entries as they were added, oldest first', async () => {
    const entries = [1, 2, 3].map((nth) =>
      entry({
        thread_id: 'tea',
        user_id: nth === 2 ? 'anna' : null,
        at: nth,
        answer: nth === 3 ? null : `answer ${nth}`,
        delegations: nth === 1 ? [] : [kept(`b${nth}`), kept(`a${nth}`)],
      }),
    );
    await append(entry({ thread_id: 'other' }), ...entries);
    expect(await store.read('tea', 9)).toEqual({ entries, total: 3, unreadable: 0 });
    expect(await store.read('tea', 2)).toEqual({
      entries: entries.slice(1),
      total: 3,
      unreadable: 0,
    });
  });

  it('deletes a thread with its delegations and their words, and nothing else', async () => {
    const task = { task: 'Find the teapot.' };
    const stays = entry({ thread_id: 'stays', delegations: [kept('s', task)] });
    const goes = [1, 2].map((nth) =>
      entry({ thread_id: 'goes', delegations: [kept(`g${nth}`, task), kept(`h${nth}`)] }),
    );
    await append(stays, ...goes);
    expect((await store.search('goes', 'teapot', five)).delegations).toHaveLength(2);
    const counts = { threads: 1, entries: 2, delegations: 4 };
    expect(await store.count({ thread_id: 'goes' })).toEqual(counts);
    expect(await store.remove({ thread_id: 'goes' })).toEqual(counts);
    expect(await store.count({ thread_id: 'goes' })).toEqual(nothing);
    expect((await store.read('goes', 9)).total).toBe(0);
    // Remaining words would be found for later entries.
    await append(entry({ thread_id: 'goes', delegations: [kept('new')] }));
    expect((await store.search('goes', 'teapot', five)).delegations).toEqual([]);
    expect((await store.search('goes', 'task', five)).delegations).toHaveLength(1);
    expect((await store.read('stays', 9)).entries).toEqual([stays]);
    expect((await store.search('stays', 'teapot', five)).delegations).toHaveLength(1);
  });

  it('deletes what is of a person, in whatever threads, and leaves what others said there', async () => {
    const hers = ['shop', 'home'].map((thread_id) => entry({ thread_id, user_id: 'anna' }));
    const others = ['shop', 'anna'].map((thread_id) => entry({ thread_id, user_id: 'ben' }));
    const nobodys = entry({ thread_id: 'shop' });
    await append(...hers, ...others, nobodys);
    const counts = { threads: 2, entries: 2, delegations: 2 };
    expect(await store.count({ user_id: 'anna' })).toEqual(counts);
    expect(await store.remove({ user_id: 'anna' })).toEqual(counts);
    expect(await store.remove({ user_id: 'anna' })).toEqual(nothing);
    expect((await store.read('shop', 9)).entries).toEqual([others[0], nobodys]);
    expect((await store.read('anna', 9)).entries).toEqual([others[1]]);
    expect((await store.read('home', 9)).total).toBe(0);
  });

  it('names are names, whatever stands in them', async () => {
    const names = [`' OR 1=1 --`, '%', '*', 'a\0b', 'ünï/日本', '["x"]', 'null'];
    const entries = names.map((name) => entry({ thread_id: name, user_id: name, delegations: [] }));
    await append(...entries, entry({ thread_id: 'stays' }));
    for (const name of names) {
      const { threads } = await store.list({ limit: 9, userId: name });
      const shown = name.replace('\0', '\ufffd');
      expect(threads).toMatchObject([{ thread_id: shown, user_ids: [shown], entries: 1 }]);
      expect((await store.read(name, 9)).total).toBe(1);
      expect(await store.count({ user_id: name })).toMatchObject({ entries: 1 });
      expect(await store.remove({ thread_id: name })).toMatchObject({ entries: 1 });
    }
    expect((await store.list({ limit: 9, userId: null })).total).toBe(1);
  });

  it('after any deletion there is exactly what was not chosen', async () => {
    const name = constantFrom('a', 'b', 'c');
    const some = array(
      record({
        thread: name,
        user: constantFrom('a', 'b', null),
        tasks: integer({ min: 0, max: 3 }),
      }),
      { maxLength: 8 },
    );
    await assert(
      asyncProperty(some, name, boolean(), async (made, chosen, byUser) => {
        await removeAll();
        const entries = made.map(({ thread, user, tasks }, at) =>
          entry({
            thread_id: thread,
            user_id: user,
            at,
            delegations: ['x', 'y', 'z'].slice(0, tasks).map((task) => kept(task)),
          }),
        );
        await append(...entries);
        const isChosen = (one: ThreadEntry): boolean =>
          (byUser ? one.user_id : one.thread_id) === chosen;
        const gone = entries.filter(isChosen);
        const which = byUser ? { user_id: chosen } : { thread_id: chosen };
        const counts = {
          threads: new Set(gone.map((one) => one.thread_id)).size,
          entries: gone.length,
          delegations: gone.flatMap((one) => one.delegations).length,
        };
        expect(await store.count(which)).toEqual(counts);
        expect(await store.remove(which)).toEqual(counts);
        for (const thread of ['a', 'b', 'c']) {
          const left = entries.filter((one) => one.thread_id === thread && !isChosen(one));
          expect((await store.read(thread, 99)).entries).toEqual(left);
          const found = await store.search(thread, 'task', { limit: 99, exceptRun: '' });
          expect(found.delegations).toHaveLength(left.flatMap((one) => one.delegations).length);
        }
      }),
      { numRuns: 15 },
    );
  });
}
