import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createSqliteThreadStore } from '../../../activities/adapters/thread-store/sqlite-thread-store.ts';
import { ThreadUnavailable } from '../../../activities/ports/thread-store.ts';
import type { ThreadStore } from '../../../activities/ports/thread-store.ts';
import {
  loadThread,
  saveThread,
  threadLimits,
} from '../../../activities/threads/thread-activities.ts';
import type { Activities } from '../../../contracts/activity-types.ts';
import type {
  LoadThreadResult,
  SaveThreadInput,
  TaskRecord,
  TeamReport,
} from '../../../contracts/team-run.ts';
import type { Ref } from '../../../contracts/ref.ts';
import { ThreadHistory } from '../../../contracts/thread.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { createActivities } from '../../../worker/create-activities.ts';
import { findPlantedInFiles, planted, plantedText } from '../../support/planted.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { teamSetup } from '../../support/team-fixtures.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { createTemporaryHome } from '../adapters/temporary-home.ts';
import type { TemporaryHome } from '../adapters/temporary-home.ts';
import { output, plan, delegation } from '../record/samples.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

/** A store of artifacts and one of threads, and what tests do with them. */
function openRoom(threads: ThreadStore = createSqliteThreadStore({ home: at.home })) {
  const store = createMemoryStore();
  const put = (value: unknown): Promise<Ref> => store.put(JSON.stringify(value));
  return {
    threads,
    put,
    load: async (message: string, run_id = 'asking-run'): Promise<LoadThreadResult> =>
      loadThread(
        { store, threads },
        { thread_id: 'tea', message_ref: await store.put(message), run_id },
      ),
    async told(message: string, run_id?: string): Promise<ThreadHistory | null> {
      const { history_ref } = await this.load(message, run_id);
      return history_ref === null
        ? null
        : ThreadHistory.parse(JSON.parse(await store.getText(history_ref)));
    },
    async save(change: Partial<SaveThreadInput> & { message?: string; tasks?: TaskRecord[] }) {
      const { message = 'Which tea?', tasks = [], ...input } = change;
      await saveThread(
        { store, threads },
        {
          thread_id: 'tea',
          user_id: null,
          run_id: 'my-run',
          delegation_id: 'team',
          message_ref: await store.put(message),
          report_ref: await put(reportOf(tasks)),
          output_ref: null,
          now: 1_000,
          ...input,
        },
      );
    },
  };
}

function reportOf(tasks: readonly TaskRecord[]): TeamReport {
  return {
    version: 1,
    setup: teamSetup({ members: [], thread_id: 'tea' }),
    plan_ref: '',
    status: 'done',
    reason: '',
    tasks,
    refused: [],
    leader: { turns: 1, usage: noUsage },
    notes: [],
    output_ref: null,
  };
}

const task = (name: string, plan_ref: Ref, change: Partial<TaskRecord> = {}): TaskRecord => ({
  delegation_id: `team.${name}`,
  member_id: 'writer',
  title: `Title of ${name}`,
  plan_ref,
  inputs: [],
  status: 'completed',
  reason: '',
  attempts: 1,
  output_ref: null,
  partial_ref: null,
  turns: 1,
  usage: noUsage,
  worked_ms: 1,
  executor: { kind: 'agent' },
  ...change,
});

const planned = (name: string, task_description: string) => ({
  ...plan({ ...delegation('d'), task_description }),
  delegations: [{ ...delegation('d'), delegation_id: `team.${name}`, task_description }],
});

function asActivity<T>(work: () => Promise<T>): Promise<T> {
  return new MockActivityEnvironment().run(work);
}

/** As an activity before has stored it: a text as it is, anything else as JSON. */
async function storeText({ storeText: put }: Activities, value: unknown): Promise<Ref> {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (await asActivity(() => put({ text }))).ref;
}

describe('what a thread keeps', () => {
  it('the message, the answer, and each task with its text and what came of it', async () => {
    const room = openRoom();
    const plan_ref = await room.put(planned('d1', 'Compare prices of green tea.'));
    const answer = { ...output(), compact_md: 'Sencha.' };
    const done = { ...output(), compact_md: 'Sencha is cheapest.' };
    await room.save({
      output_ref: await room.put(answer),
      tasks: [
        task('d1', plan_ref, { output_ref: await room.put(done) }),
        task('d2', plan_ref, { status: 'timed_out', reason: 'Its 60 s were over.' }),
      ],
    });
    expect(await room.told('And now?')).toEqual({
      messages: [
        { role: 'user', text: 'Which tea?', at: 1_000 },
        { role: 'assistant', text: 'Sencha.', at: 1_000 },
      ],
      delegations: [
        {
          member_id: 'writer',
          title: 'Title of d2',
          task: 'Title of d2',
          status: 'timed_out',
          result: 'Its 60 s were over.',
          at: 1_000,
        },
        {
          member_id: 'writer',
          title: 'Title of d1',
          task: 'Compare prices of green tea.',
          status: 'completed',
          result: 'Sencha is cheapest.',
          at: 1_000,
        },
      ],
    });
  });

  it('no more than its limits, and it is told in shorter pieces', async () => {
    const room = openRoom();
    const long = 'word '.repeat(20_000);
    const plan_ref = await room.put(planned('d1', long));
    await room.save({
      message: long,
      output_ref: await room.put({ ...output(), compact_md: long }),
      tasks: [task('d1', plan_ref, { output_ref: await room.put({ compact_md: long }) })],
    });
    const loaded = await room.threads.load('tea', { messages: 9, delegations: 9, exceptRun: '' });
    expect(loaded.messages.map(({ text }) => text.length)).toEqual([20_000, 20_000]);
    const told = await room.told('word');
    expect(told?.messages.map(({ text }) => text.length)).toEqual([2_000, 2_000]);
    expect(told?.delegations).toMatchObject([{ task: expect.any(String) }]);
    expect(told?.delegations[0]?.task).toHaveLength(threadLimits.taskCharsMax);
    expect(told?.delegations[0]?.result).toHaveLength(threadLimits.resultCharsMax);
  });

  it('part of fault 53: no secret, in no byte of any file', async () => {
    const redactor = createRedactor({ secrets: [planted.own] });
    const settings = { apiKey: 'rehearsal', baseUrl: undefined, defaultModel: 'rehearsal' };
    const activities = createActivities(
      { ...settings, home: at.home, isRehearsal: true },
      redactor,
    );
    const store = async (value: unknown): Promise<Ref> => storeText(activities, value);
    const text = `tea ${plantedText}`;
    const plan_ref = await store({
      delegations: [{ delegation_id: 'team.d1', task_description: text }],
    });
    const failed = { status: 'failed', reason: text, title: text } as const;
    const thread_id = `thread ${planted.github}`;
    const team = { thread_id, run_id: 'my-run', message_ref: await store(text) };
    const saved = {
      ...team,
      user_id: planted.github,
      delegation_id: 'team',
      now: 1,
      report_ref: await store(reportOf([task('d1', plan_ref, failed)])),
      output_ref: await store({ compact_md: text }),
    };
    await asActivity(() => activities.saveThread(saved));
    expect(findPlantedInFiles(at.home)).toEqual([]);
    expect(await readFile(join(at.home, 'threads.db'), 'utf8')).toContain('[redacted:github]');
    const { history_ref } = await asActivity(() =>
      activities.loadThread({ ...team, run_id: 'later' }),
    );
    expect(history_ref).not.toBeNull();
  });
});

describe('what a leader is told', () => {
  it('case 4.3: nothing of a thread that is new', async () => {
    expect(await openRoom().load('Which tea?')).toEqual({
      history_ref: null,
      note: 'The thread is new.',
    });
  });

  it('what the search finds first, then the newest, each once; nothing that the asking run added', async () => {
    const room = openRoom();
    const texts = ['green tea', 'black tea', 'coffee', 'milk', 'sugar', 'lemons', 'cups', 'spoons'];
    for (const [nth, text] of texts.entries()) {
      const delegations = [kept(`d${nth}`, { title: text, task: text, result: '' })];
      await room.threads.append(
        entry({ thread_id: 'tea', run_id: `run-${nth}`, at: nth, delegations }),
      );
    }
    const told = await room.told('More green tea, or coffee?', 'run-7');
    expect(told?.delegations.map(({ title }) => title)).toEqual([
      'green tea',
      'coffee',
      'black tea',
      'cups',
      'lemons',
      'sugar',
      'milk',
    ]);
    expect(told?.messages).toHaveLength(14);
  });

  it('the newest messages, oldest first', async () => {
    const room = openRoom();
    for (let nth = 0; nth < 15; nth += 1) {
      await room.threads.append(
        entry({
          thread_id: 'tea',
          at: nth,
          message: `q${nth}`,
          answer: `a${nth}`,
          delegations: [],
        }),
      );
    }
    const texts = (await room.told('?'))?.messages.map(({ text }) => text);
    expect(texts).toHaveLength(threadLimits.messagesMax);
    expect(texts?.[0]).toBe('q5');
    expect(texts?.at(-1)).toBe('a14');
  });

  it('case 4.4: messages without what the search would have found, and without what can not be read', async () => {
    const real = createSqliteThreadStore({ home: at.home });
    const searchless = openRoom({
      ...real,
      search: () => Promise.reject(new ThreadUnavailable('The index is damaged.')),
    });
    await real.append(entry({ thread_id: 'tea', delegations: [kept('d1')] }));
    const { history_ref, note } = await searchless.load('tea');
    expect(history_ref).not.toBeNull();
    expect(note).toMatch(/ Its past delegations could not be searched\.$/u);
    const lossy = openRoom({
      ...real,
      load: async (...told) => ({ ...(await real.load(...told)), delegations: [], unreadable: 2 }),
    });
    expect((await lossy.load('nothing alike')).note).toBe(
      'Of the thread the leader was told 2 messages and answers and 0 past delegations. ' +
        'Past messages and delegations that could not be read were left out.',
    );
    expect((await lossy.told('nothing alike'))?.messages).toHaveLength(2);
  });
});

describe('part of fault 35: a store that is down', () => {
  const settings = { apiKey: 'rehearsal', baseUrl: undefined, defaultModel: 'rehearsal' };

  it.each(['loadThread', 'saveThread'] as const)(
    'case 4.2, case 11.2: %s fails by a type that workflows know, and may be tried again',
    async (name) => {
      await writeFile(join(at.outside, 'threads.db'), 'no database '.repeat(500));
      const redactor = createRedactor({ secrets: [] });
      const home = at.outside;
      const activities = createActivities({ ...settings, home, isRehearsal: true }, redactor);
      const message_ref = await storeText(activities, 'Which tea?');
      const team = { thread_id: 't', run_id: 'r', message_ref };
      const saved = {
        ...team,
        user_id: null,
        delegation_id: 'team',
        now: 1,
        output_ref: null,
        report_ref: await storeText(activities, reportOf([])),
      };
      const run = asActivity<unknown>(() =>
        name === 'loadThread' ? activities.loadThread(team) : activities.saveThread(saved),
      );
      await expect(run).rejects.toMatchObject({
        type: 'ThreadUnavailable',
        nonRetryable: false,
        message: expect.stringMatching(/threads\.db": the file is damaged .*Try: move it away/),
      });
    },
  );
});
