import { assert, asyncProperty, constantFrom, oneof, string } from 'fast-check';
import type { FoundDelegations, ThreadStore } from '../../activities/ports/thread-store.ts';
import { entry, kept } from './thread-entries.ts';

const none = { exceptRun: '' };
const five = { limit: 5, exceptRun: '' };
const all = { messages: 20, delegations: 20, exceptRun: '' };

function titlesIn({ delegations }: Pick<FoundDelegations, 'delegations'>): string[] {
  return delegations.map(({ delegation }) => delegation.title);
}

/**
 * Tests the contract of every store of threads.
 *
 * @param connect opens another connection to the same database each time, like another worker.
 */
export function itKeepsThreads(connect: () => ThreadStore): void {
  let store: ThreadStore;
  beforeAll(() => {
    store = connect();
  });
  afterAll(() => store.close());

  it('case 4.3: a thread that is new is empty', async () => {
    const empty = { messages: [], delegations: [], unreadable: 0 };
    expect(await store.load('nobody wrote here', all)).toEqual(empty);
    expect(await store.search('nobody wrote here', 'tea', five)).toEqual({
      delegations: [],
      unreadable: 0,
    });
  });

  it('tells messages oldest first and delegations newest first, the newest of both, and those of other runs alone', async () => {
    const thread_id = 'long';
    for (const nth of [1, 2, 3]) {
      await store.append(
        entry({
          thread_id,
          run_id: `long-${nth}`,
          at: 1_000 + nth,
          message: `question ${nth}`,
          answer: nth === 2 ? null : `answer ${nth}`,
          delegations: [kept(`a${nth}`), kept(`b${nth}`)],
        }),
      );
    }
    await store.append(entry({ message: 'of another thread' }));
    const { messages, delegations } = await store.load(thread_id, all);
    expect(messages).toEqual([
      { role: 'user', text: 'question 1', at: 1_001 },
      { role: 'assistant', text: 'answer 1', at: 1_001 },
      { role: 'user', text: 'question 2', at: 1_002 },
      { role: 'user', text: 'question 3', at: 1_003 },
      { role: 'assistant', text: 'answer 3', at: 1_003 },
    ]);
    expect(titlesIn({ delegations })).toEqual(
      ['b3', 'a3', 'b2', 'a2', 'b1', 'a1'].map((name) => `Task ${name}`),
    );
    expect({ ...delegations[0]?.delegation, delegation_id: 'design.b3' }).toEqual(kept('b3'));
    const newest = await store.load(thread_id, {
      messages: 2,
      delegations: 1,
      exceptRun: 'long-3',
    });
    expect(newest.messages.map(({ text }) => text)).toEqual(['answer 1', 'question 2']);
    expect(titlesIn(newest)).toEqual(['Task b2']);
    const found = await store.search(thread_id, 'task', { limit: 20, exceptRun: 'long-3' });
    expect(titlesIn(found).toSorted()).toEqual(['Task a1', 'Task a2', 'Task b1', 'Task b2']);
  });

  it('keeps an entry once that is added twice, as it was added last', async () => {
    const first = entry({ delegations: [kept('d1'), kept('lost')] });
    await store.append(first);
    await store.append(first);
    expect((await store.load(first.thread_id, all)).messages).toHaveLength(2);
    await store.append({ ...first, answer: 'Cold by now.', delegations: [kept('d1')] });
    const { messages, delegations } = await store.load(first.thread_id, all);
    expect(messages.map(({ text }) => text)).toEqual(['How is the tea?', 'Cold by now.']);
    expect(titlesIn({ delegations })).toEqual(['Task d1']);
    expect(await store.search(first.thread_id, 'lost', five)).toMatchObject({ delegations: [] });
  });

  it('fault 5: keeps an entry as it is when one of an earlier time comes late, and of a run that was reset the later one', async () => {
    const thread_id = 'late';
    const early = entry({ thread_id, run_id: 'late', at: 1_000, delegations: [kept('d1')] });
    const reset = { ...early, at: 2_000, answer: 'After the reset.', delegations: [kept('d2')] };
    await store.append(early);
    await store.append(reset);
    const stands = await store.load(thread_id, all);
    expect(stands.messages.map(({ text }) => text)).toContain('After the reset.');
    expect(titlesIn(stands)).toEqual(['Task d2']);
    await store.append(early);
    expect(await store.load(thread_id, all)).toEqual(stands);
    expect(titlesIn(await store.search(thread_id, 'task', five))).toEqual(['Task d2']);
  });

  it('takes entries of many workers at once, each once', async () => {
    const workers = [store, connect(), connect(), connect()];
    const thread_id = 'crowd';
    const shared = entry({ thread_id, run_id: 'shared', delegations: [kept('shared')] });
    await Promise.all(
      workers.flatMap((worker, at) => [
        worker.append(shared),
        ...[1, 2, 3, 4, 5].map((nth) =>
          worker.append(
            entry({
              thread_id,
              run_id: `crowd-${at}-${nth}`,
              delegations: [kept(`w${at}n${nth}`)],
            }),
          ),
        ),
      ]),
    );
    const { messages, delegations } = await store.load(thread_id, {
      ...all,
      messages: 100,
      delegations: 100,
    });
    expect(messages).toHaveLength(2 * 21);
    expect(new Set(titlesIn({ delegations })).size).toBe(21);
    expect(delegations).toHaveLength(21);
    await Promise.all(workers.slice(1).map((worker) => worker.close()));
  });

  it('finds what shares more words first, then the newest, and nothing that shares none', async () => {
    const thread_id = 'ranked';
    const tasks = [
      'Compare prices of green tea in Kyoto',
      'Compare hotels',
      'Paint the fence',
      'Book flights',
      'Water the garden',
      'Write a poem on the sea',
    ];
    for (const [nth, task] of tasks.entries()) {
      const plain = { title: `${nth}`, result: '', member_id: 'm' };
      const delegations = [kept(`t${nth}`, { ...plain, task })];
      await store.append(entry({ thread_id, run_id: `ranked-${nth}`, at: nth, delegations }));
    }
    const search = async (query: string): Promise<string[]> =>
      titlesIn(await store.search(thread_id, query, five));
    expect(await search('Please compare the PRICES of tea for me, in kyotó!')).toEqual(
      expect.arrayContaining(['0', '1']),
    );
    expect((await search('Please compare prices of tea, in kyotó!'))[0]).toBe('0');
    expect(await search('compare')).toEqual(['1', '0']);
    expect(await search('nothing alike whatsoever')).toEqual([]);
    expect(await search('?!… «»')).toEqual([]);
    expect(titlesIn(await store.search('another', 'compare tea', five))).toEqual([]);
    expect(titlesIn(await store.search(thread_id, 'compare', { ...none, limit: 1 }))).toEqual([
      '1',
    ]);
  });

  it.each([
    ['日本の首都は東京都です', '東京'],
    ['Найди цену чая в Москве', 'МОСКВЕ'],
    ['ราคาชาเขียวในกรุงเทพ', 'กรุงเทพ'],
    ['हिन्दी में चाय की क़ीमत', 'चाय'],
    ['מחיר התה בירושלים', 'בירושלים'],
    ['سعر الشاي في القاهرة', 'القاهرة'],
    ['서울의 녹차 가격', '녹차'],
    ['Grüße aus Łódź', 'GRÜßE'],
    ['𞤢𞤣𞤤𞤢𞤥 tea', 'tea'],
  ])('finds words in %s', async (task, query) => {
    const one = entry({ message: task, delegations: [kept('d1', { task })] });
    await store.append(one);
    const { delegations } = await store.search(one.thread_id, query, five);
    expect(delegations).toMatchObject([{ delegation: { task } }]);
    expect((await store.load(one.thread_id, all)).messages[0]?.text).toBe(task);
  });

  it('keeps any text as it is, and no text is taken for a command', async () => {
    const hostile = [
      `'); DROP TABLE planwave_thread_entries; --`,
      `"tea" OR NEAR(x y, 2) AND NOT * ^ {words}: - + col:`,
      `tea' | !x & (y <-> z) :*`,
      '\\\' \\" $1 ?1 :name @at %s',
      '👩‍👩‍👧‍👦 \u202etxet\u202c \r\n\t',
      'x'.repeat(20_000),
    ];
    for (const text of hostile) {
      const one = entry({
        thread_id: text.slice(0, 200),
        user_id: text.slice(0, 200),
        message: text,
        answer: text,
        delegations: [kept('d1', { title: text, task: `findme ${text}`, result: text })],
      });
      await store.append(one);
      const { messages, delegations } = await store.load(one.thread_id, all);
      expect(messages.map((message) => message.text)).toEqual([text, text]);
      expect(delegations).toMatchObject([{ delegation: { title: text, result: text } }]);
      expect(titlesIn(await store.search(one.thread_id, `findme ${text}`, five))).toEqual([text]);
    }
  });

  it('takes NUL and half characters, of which no database can keep all', async () => {
    const text = 'a\0b\ud800c';
    const one = entry({
      thread_id: text,
      message: text,
      delegations: [kept('d1', { task: text })],
    });
    await store.append(one);
    const { messages, delegations } = await store.load(text, all);
    expect(messages[0]?.text).toBe('a\ufffdb\ufffdc');
    expect(delegations).toMatchObject([{ delegation: { task: text } }]);
  });

  it('no query can break the search', async () => {
    const one = entry({ delegations: [kept('d1', { task: 'needle' })] });
    await store.append(one);
    const anyText = oneof(
      string({ unit: 'binary', maxLength: 200 }),
      string({
        unit: constantFrom(...Array.from(`"'()*:^{}&|!<->\\ ORNEARANDNOT\0a1`)),
        maxLength: 60,
      }),
    );
    await assert(
      asyncProperty(anyText, async (text) => {
        const found = await store.search(one.thread_id, `${text} needle`, five);
        expect(titlesIn(found)).toEqual(['Task d1']);
        await store.search(one.thread_id, text, five);
      }),
      { numRuns: 100 },
    );
  });
}
