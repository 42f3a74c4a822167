import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteThreadStore } from '../../../activities/adapters/thread-store/sqlite-thread-store.ts';
import { redactThreads } from '../../../activities/redaction/redact-ports.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import type { ThreadEntry } from '../../../contracts/thread.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { createCliThreads } from '../../../scripts/cli-stores.ts';
import { planted } from '../../support/planted.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import type { FakeIo } from './support/fake-io.ts';

const redactor = createRedactor({ secrets: [] });

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'planwave-threads-'));
});
afterEach(() => rmSync(home, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const openSession = (): Promise<never> => Promise.reject(new Error('must not connect'));

/** On the real threads of the home; a server is never asked. */
async function run(
  argv: readonly string[],
  { io = createFakeIo(), env = {} }: { io?: FakeIo; env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  const threads = createCliThreads(home, env, redactor);
  const code = await runCli(argv, createFakeDeps(io, {}, { threads, openSession }));
  return { code, out: io.out(), err: io.err() };
}

/** As a worker adds them. */
async function append(...entries: readonly ThreadEntry[]): Promise<void> {
  const store = redactThreads(createSqliteThreadStore({ home }), redactor);
  for (const one of entries) await store.append(one);
  await store.close();
}

const day = 86_400;
const first = entry({
  thread_id: 'anna/shop',
  user_id: 'anna',
  run_id: 'tea-1',
  at: day,
  message: 'Which tea?\n\nA green one.',
  answer: 'Sencha.',
  delegations: [
    kept('d1', { member_id: 'researcher', title: 'Find teas', task: 'Find\ngreen teas.' }),
    kept('d2', { status: 'failed', result: '' }),
  ],
});
const second = entry({
  thread_id: 'anna/shop',
  run_id: 'tea-2',
  at: 2 * day,
  message: 'And cups?',
  answer: null,
  delegations: [],
});
const bens = entry({ thread_id: 'ben', user_id: 'ben', at: 3 * day });

const json = ({ out }: Outcome): unknown => JSON.parse(out) as unknown;

const left = async (): Promise<unknown> => json(await run(['threads', '--json']));

describe('planwave threads', () => {
  it('says what to try where there are none', async () => {
    const { code, out } = await run(['threads']);
    expect(code).toBe(0);
    expect(out).toMatch(/^No threads are kept here\. .*--thread.*PLANWAVE_THREADS_URL/);
    expect(json(await run(['threads', '--json']))).toEqual({ threads: [], more: 0 });
  });

  it('lists them newest first, and how many more there are', async () => {
    await append(first, second, bens);
    expect((await run(['threads'])).out.split('\n')).toEqual([
      'thread     entries  newest (UTC)      users',
      'ben        1        1970-01-04 00:00  ben',
      'anna/shop  2        1970-01-03 00:00  anna',
      '',
    ]);
    const { out } = await run(['threads', '--limit', '1']);
    expect(out).toContain('\nand 1 more. Try: npm run planwave -- threads --limit 2\n');
    expect(json(await run(['threads', '--user', 'anna', '--json']))).toEqual({
      threads: [{ thread_id: 'anna/shop', user_ids: ['anna'], entries: 1, newest_at: day }],
      more: 0,
    });
    await append({ ...second, thread_id: 'anna/till', user_id: 'anna' });
    expect((await run(['threads', '--user', 'anna', '--limit', '1'])).out).toContain(
      'Try: npm run planwave -- threads --limit 2 --user anna\n',
    );
    expect((await run(['threads', '--user', 'carl'])).err).toContain('no entry of "carl"');
  });

  it('refuses what it does not know', async () => {
    const refused: readonly [string[], string][] = [
      [['anna/shop'], 'threads'],
      [['show'], 'threads show'],
      [['--limit', '0'], 'threads'],
      [['delete', 'a', 'b'], 'threads delete'],
    ];
    for (const [argv, command] of refused) {
      const { code, err } = await run(['threads', ...argv]);
      expect([code, err]).toEqual([
        2,
        expect.stringContaining(`Try: npm run planwave -- ${command} --help`),
      ]);
    }
  });
});

describe('planwave threads show', () => {
  it('tells a thread as a person reads it, oldest first', async () => {
    await append(first, second);
    expect((await run(['threads', 'show', 'anna/shop'])).out.split('\n')).toEqual([
      '1970-01-02 00:00 UTC · tea-1 design · anna',
      '  message:',
      '    Which tea?',
      '',
      '    A green one.',
      '  answer:',
      '    Sencha.',
      '  gave out: design.d1 · researcher · Find teas · completed',
      '    Find',
      '    green teas.',
      '    of it came:',
      '      Did d1.',
      '  gave out: design.d2 · writer · Task d2 · failed',
      '    Do d2.',
      '',
      '1970-01-03 00:00 UTC · tea-2 design',
      '  message:',
      '    And cups?',
      '  no answer',
      '',
    ]);
  });

  it('shows the newest, says what is not shown, and gives scripts all of it', async () => {
    await append(first, second);
    const argv = ['threads', 'show', 'anna/shop', '--limit', '1'];
    const { out } = await run(argv);
    expect(out).toMatch(/^1 older entry is not shown\. Try: .* show anna\/shop --limit 2\n\n1970/);
    expect(out).not.toContain('Sencha');
    expect(json(await run([...argv, '--json']))).toEqual({
      thread_id: 'anna/shop',
      entries: [second],
      more: 1,
      unreadable: 0,
    });
    expect(json(await run(['threads', 'show', 'anna/shop', '--json']))).toMatchObject({
      entries: [first, second],
      more: 0,
    });
  });

  it('harms no terminal, whatever stands in a thread', async () => {
    const evil = '\u001B[2J\u202Eevil\u0007\r';
    const delegations = [kept(evil, { member_id: evil, title: evil, task: evil, result: evil })];
    const all = { user_id: evil, run_id: evil, message: evil, answer: evil, delegations };
    await append(entry({ thread_id: evil, ...all }), entry({ thread_id: evil }));
    for (const argv of [
      ['threads'],
      ['threads', 'show', evil, '--limit', '1'],
      ['threads', 'show', evil],
      ['threads', 'show', evil, '--json'],
      ['threads', 'delete', evil],
      ['threads', 'show', `${evil}?`],
      ['threads', 'delete', '--user', evil, '--yes'],
    ]) {
      const { out, err } = await run(argv);
      expect(out + err).toContain('evil');
      expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    }
  });

  it('names the threads that are there when there is no such one, with exit code 4', async () => {
    const none = await run(['threads', 'show', 'anna']);
    expect([none.code, none.out]).toEqual([4, '']);
    expect(none.err).toContain('There is no thread "anna". Newest threads: none. Try: ');
    await append(first, bens);
    const { err } = await run(['threads', 'show', 'anna']);
    expect(err).toContain('Newest threads: "ben", "anna/shop". Try: npm run planwave -- threads');
    expect(json(await run(['threads', 'show', 'anna', '--json']))).toMatchObject({
      error: { code: 'not_found' },
    });
  });
});

describe('planwave threads delete', () => {
  const ofBen = { thread_id: 'ben', user_ids: ['ben'], entries: 1, newest_at: 3 * day };

  it('deletes a thread, and says what', async () => {
    await append(first, second, bens);
    expect(await run(['threads', 'delete', 'anna/shop', '--yes'])).toEqual({
      code: 0,
      out: 'Deleted thread "anna/shop": 2 entries with 2 delegations.\n',
      err: '',
    });
    expect(await left()).toEqual({ threads: [ofBen], more: 0 });
  });

  it('deletes what is of a person, in whatever threads', async () => {
    await append(first, second, bens);
    const outcome = await run(['threads', 'delete', '--user', 'anna', '--yes', '--json']);
    expect(json(outcome)).toEqual({
      user_id: 'anna',
      deleted: { threads: 1, entries: 1, delegations: 2 },
    });
    const rest = { thread_id: 'anna/shop', user_ids: [], entries: 1, newest_at: 2 * day };
    expect(await left()).toEqual({ threads: [ofBen, rest], more: 0 });
  });

  it('without a terminal wants --yes, and says what it would delete', async () => {
    await append(bens);
    for (const [argv, words] of [
      [['ben'], 'ben'],
      [['--user', 'ben'], '--user ben'],
    ] as const) {
      const { code, out, err } = await run(['threads', 'delete', ...argv]);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain('"ben"');
      expect(err).toContain('--yes has to confirm the deletion of ');
      expect(err).toContain(': 1 entry with 1 delegation.');
      expect(err).toContain(`Try: npm run planwave -- threads delete ${words} --yes\n`);
    }
    const io = createFakeIo({ isTerminal: true });
    expect((await run(['threads', 'delete', 'ben', '--json'], { io })).code).toBe(2);
    expect(await left()).toMatchObject({ threads: [ofBen] });
  });

  it.each([
    ['', 'Nothing was deleted.', 1],
    ['no', 'Nothing was deleted.', 1],
    ['yes', 'Deleted thread "ben": 1 entry with 1 delegation.', 0],
  ])('in a terminal asks, and hears %j', async (typed, said, threads) => {
    await append(bens);
    const io = createFakeIo({ isTerminal: true });
    io.typeAfter('> ', typed);
    const { code, out } = await run(['threads', 'delete', 'ben'], { io });
    expect(code).toBe(0);
    expect(out).toContain('Delete thread "ben": 1 entry with 1 delegation, for good?');
    expect(out.trimEnd().split('\n').at(-1)).toBe(said);
    expect(await left()).toMatchObject({ threads: { length: threads } });
  });

  it('of what is not there names what is, with exit code 4, and asks nothing', async () => {
    await append(bens);
    for (const argv of [['anna'], ['anna', '--yes']]) {
      const { code, err } = await run(['threads', 'delete', ...argv]);
      expect([code, err]).toEqual([4, expect.stringContaining('Newest threads: "ben".')]);
    }
    const { code, err } = await run(['threads', 'delete', '--user', 'anna', '--yes']);
    expect([code, err]).toEqual([4, expect.stringContaining('newest threads: "ben".')]);
  });

  it('wants to know of what, once', async () => {
    await append(bens);
    for (const argv of [[], ['ben', '--user', 'ben']]) {
      const { code, err } = await run(['threads', 'delete', ...argv, '--yes']);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/^Expected a thread or --user, .*Try/),
      ]);
    }
    expect(await left()).toMatchObject({ threads: [ofBen] });
  });

  it('finds one whose name holds a secret', async () => {
    const thread_id = `thread ${planted.github}`;
    await append(entry({ thread_id }));
    expect(await left()).toMatchObject({ threads: [{ thread_id: 'thread [redacted:github]' }] });
    expect((await run(['threads', 'delete', thread_id, '--yes'])).code).toBe(0);
    expect(await left()).toEqual({ threads: [], more: 0 });
  });
});

describe('part of fault 35: threads that can not be had', () => {
  const commands = [['threads'], ['threads', 'show', 'a'], ['threads', 'delete', 'a', '--yes']];

  it.each(commands.map((argv) => [argv]))('in a damaged file: %j', async (argv) => {
    writeFileSync(join(home, 'threads.db'), 'no database '.repeat(500));
    const { code, out, err } = await run(argv);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('the file is damaged (SQLITE_NOTADB). Try: move it away');
    expect(err).not.toContain('PLANWAVE_DEBUG');
    expect(json(await run([...argv, '--json']))).toMatchObject({
      error: { code: 'threads_unavailable' },
    });
  });

  it('in a database that is down, without its password', async () => {
    const env = { PLANWAVE_THREADS_URL: 'postgresql://planwave:hidden@127.0.0.1:1/threads' };
    const { code, err } = await run(['threads'], { env });
    expect(code).toBe(1);
    expect(err).toContain('postgresql://127.0.0.1:1/threads: no server listens there');
    expect(err).not.toContain('hidden');
  });

  it('at an address that is none', async () => {
    const env = { PLANWAVE_THREADS_URL: 'hidden' };
    const { code, err } = await run(['threads'], { env });
    expect(code).toBe(2);
    expect(err).toMatch(/^PLANWAVE_THREADS_URL can't be used: expected postgresql:/);
    expect(err).not.toContain('hidden');
  });
});
