import type { ReadingScope } from '../../../contracts/transcript.ts';
import type { DetailEntry } from '../../../contracts/run-record.ts';
import { ActivityCancellationDetails } from '@temporalio/common';
import { z } from 'zod';
import { splitPages, takeLines } from '../../../activities/text/bytes.ts';
import { detailPageBytes, loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import type { ReadingTool } from '../../../activities/tools/tool.ts';
import { StoreUnavailable } from '../../../activities/ports/artifact-store.ts';
import { agents, createBench, decision, outputOf, recordOf } from './bench.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { registryOf } from '../../support/registry-of.ts';

const toolOf = (
  name: string,
  run: ReadingTool['run'],
  input: z.ZodType = z.strictObject({}),
): ReadingTool => ({
  spec: { name, description: name, input },
  effect: 'read',
  brings: [],
  offeredTo: ['agents'],
  run,
});

async function createToolBench(
  tools: readonly ReadingTool[] = [loadDetail],
  options: BenchOptions = {},
) {
  const bench = await createBench({
    ...options,
    deps: { tools: createToolRegistry(tools), toolTimeoutMs: 500 },
  });
  const granted = agents.map((agent) => ({
    ...agent,
    allowed_tools: agent.agent_id === 'writer' ? tools.map((tool) => tool.spec.name) : [],
  }));
  const registry_ref = await bench.store.put(registryOf(granted));
  return { bench, registry_ref };
}

/** Has the writer call a tool. @param changes of what the tool may read, and of the caller. */
function call(
  { bench, registry_ref }: { bench: Bench; registry_ref: string },
  name: string,
  input: unknown,
  { agent_id, ...over }: Partial<ReadingScope> & { readonly agent_id?: string } = {},
  env = bench.env(2),
) {
  const reading = {
    record_ref: bench.record_ref,
    upstream: [],
    loads_left: 10,
    acts: true,
    ...over,
  };
  const changes = { registry_ref, agent_id: agent_id ?? 'writer', reading };
  return bench.read({ name, input }, changes, env);
}

const entryOf = (detail_id: string, output_ref: string): DetailEntry => ({
  detail_id,
  title: detail_id,
  summary: '',
  tags: [],
  size: 1,
  output_ref,
});

const neverEnds = (): Promise<string> => new Promise(() => {});

describe('fault 47: a tool call always gives a result to go on with', () => {
  it('the tool throws', async () => {
    const set = await createToolBench([
      toolOf('bad', async () => {
        throw new Error('boom');
      }),
    ]);
    expect(await call(set, 'bad', {})).toMatchObject({ is_error: true, text: 'bad failed: boom' });
  });

  it('the tool throws at once, or something that is no error', async () => {
    const set = await createToolBench([
      toolOf('bad', () => {
        // oxlint-disable-next-line no-throw-literal
        throw 'a string';
      }),
    ]);
    expect(await call(set, 'bad', {})).toMatchObject({
      is_error: true,
      text: 'bad failed: a string',
    });
  });

  it('the tool hangs: it is given up and told', async () => {
    let signal: AbortSignal | undefined;
    const set = await createToolBench([
      toolOf('slow', (_input, context) => {
        ({ signal } = context);
        return neverEnds();
      }),
    ]);
    const { is_error, text } = await call(set, 'slow', {});
    expect(is_error).toBe(true);
    expect(text).toContain('longer than 0.5 s');
    expect(text).toContain('Try: ');
    expect(signal?.aborted).toBe(true);
  });

  it('the tool returns 100 MB: capped at a line, and said', async () => {
    const set = await createToolBench([
      toolOf('big', async () => `${'x'.repeat(99)}\n`.repeat(1_000_000)),
    ]);
    const { is_error, text } = await call(set, 'big', {});
    expect(is_error).toBe(false);
    expect(Buffer.byteLength(text)).toBeLessThan(100_200);
    expect(text).toContain('[Cut: 100000 of 100000000 bytes are shown.');
  });

  it('bad arguments: every fault with path, reason and hint', async () => {
    const set = await createToolBench();
    const { is_error, text } = await call(set, 'load_detail', { detail_id: '', page: 0, x: 1 });
    expect(is_error).toBe(true);
    expect(text).toMatch(/^- detail_id: .*Try: /m);
    expect(text).toMatch(/^- page: .*Try: /m);
    expect(text).toMatch(/^- \$: .*"x".*Try: /m);
  });

  it('arguments that are no object', async () => {
    const set = await createToolBench();
    for (const input of [null, 'x', []]) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await call(set, 'load_detail', input)).is_error).toBe(true);
    }
  });

  it('an unknown name: the names that may be called', async () => {
    const set = await createToolBench();
    const { is_error, text } = await call(set, 'rm_rf', {});
    expect(is_error).toBe(true);
    expect(text).toContain('"load_detail"');
  });

  it('a tool outside the grant is not run, whoever asks for it', async () => {
    let runs = 0;
    const set = await createToolBench([
      toolOf('secret', async () => {
        runs += 1;
        return 'done';
      }),
    ]);
    const { is_error, text } = await call(set, 'secret', {}, { agent_id: 'reviewer' });
    expect([is_error, runs]).toEqual([true, 0]);
    expect(text).toContain('go on without tools');
  });

  it('no output is said', async () => {
    const set = await createToolBench([toolOf('mute', async () => '')]);
    expect((await call(set, 'mute', {})).text).toBe('[The tool gave no output.]');
  });
});

describe('what is no fault of a tool', () => {
  it('a store that is away repeats the activity', async () => {
    const set = await createToolBench([
      toolOf('reader', async () => {
        throw new StoreUnavailable('The disk is gone.', { path: 'objects', code: 'EIO' });
      }),
    ]);
    await expect(call(set, 'reader', {})).rejects.toMatchObject({
      type: 'StoreUnavailable',
      nonRetryable: false,
    });
  });

  it('a cancelled call still has a result, and a shutdown is a failed attempt', async () => {
    const set = await createToolBench([toolOf('slow', neverEnds)]);
    const cancelled = set.bench.env(2);
    const first = call(set, 'slow', {}, {}, cancelled);
    setTimeout(() => cancelled.cancel(), 50);
    expect(await first).toMatchObject({ is_error: true, text: expect.stringContaining('stopped') });
    const stopping = set.bench.env(2);
    const second = call(set, 'slow', {}, {}, stopping);
    const details = new ActivityCancellationDetails({ workerShutdown: true });
    setTimeout(() => stopping.cancel('WORKER_SHUTDOWN', details), 50);
    await expect(second).rejects.toMatchObject({ name: 'ApplicationFailure', nonRetryable: false });
  });

  it('two tools of one name are refused when the worker is set up', () => {
    expect(() => createToolRegistry([loadDetail, loadDetail])).toThrow('load_detail');
  });
});

describe('load_detail', () => {
  const lines = Array.from({ length: 1_000 }, (_, i) => `Line ${i}: ${'ä'.repeat(20)}`).join('\n');
  async function createDetails() {
    const set = await createToolBench();
    const { store } = set.bench;
    const put = (detailed_md: string) => store.put(JSON.stringify(outputOf({ detailed_md })));
    const record = recordOf(set.registry_ref);
    const details = [entryOf('research', await put('Old.')), entryOf('long', await put(lines))];
    const record_ref = await store.put(JSON.stringify({ ...record, details }));
    const upstream = [{ delegation_id: 'draft', output_ref: await put('Fresh.') }];
    return { set, changes: { record_ref, upstream } };
  }

  it('gives what the record lists and what is upstream', async () => {
    const { set, changes } = await createDetails();
    const old = await call(set, 'load_detail', { detail_id: 'research' }, changes);
    expect(old).toMatchObject({ is_error: false });
    expect(old.text).toBe('Old.\n[Page 1 of 1: the end of "research".]');
    expect((await call(set, 'load_detail', { detail_id: 'draft' }, changes)).text).toMatch(
      /^Fresh\./,
    );
  });

  it('gives pages of at most 20 KB, cut at lines, that make up the whole', async () => {
    const { set, changes } = await createDetails();
    const first = await call(set, 'load_detail', { detail_id: 'long' }, changes);
    const total = Number(/Page 1 of (\d+)/.exec(first.text)?.[1]);
    expect(first.text).toContain('{"detail_id":"long","page":2}');
    const pages = await Promise.all(
      Array.from({ length: total }, (_, i) =>
        call(set, 'load_detail', { detail_id: 'long', page: i + 1 }, changes),
      ),
    );
    const bodies = pages.map((page) => page.text.slice(0, page.text.lastIndexOf('\n[Page ')));
    expect(bodies.join('')).toBe(lines);
    for (const body of bodies) {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(detailPageBytes);
      expect(body).toMatch(/^Line \d+:/);
    }
  });

  it('an unknown id is an error that lists the valid ones', async () => {
    const { set, changes } = await createDetails();
    const { is_error, text } = await call(set, 'load_detail', { detail_id: '../x' }, changes);
    expect(is_error).toBe(true);
    expect(text).toContain('"research", "long", "draft"');
    const empty = await call(set, 'load_detail', { detail_id: 'research' });
    expect(empty.text).toContain('the index is empty');
  });

  it('a reference is no id: what the packet does not list stays closed', async () => {
    const { set, changes } = await createDetails();
    const { is_error } = await call(set, 'load_detail', { detail_id: set.registry_ref }, changes);
    expect(is_error).toBe(true);
  });

  it('a wave_compact that is too long for the packet is a detail, and no other', async () => {
    const { set, changes } = await createDetails();
    const loadAfter = async (wave_compact: string) => {
      const { store } = set.bench;
      const decision_ref = await store.put(JSON.stringify({ ...decision, wave_compact }));
      const wave = { ...recordOf(set.registry_ref), waves: [{ wave: 1, decision_ref }] };
      const record_ref = await store.put(JSON.stringify(wave));
      return call(set, 'load_detail', { detail_id: 'wave_compact' }, { ...changes, record_ref });
    };
    expect(await loadAfter('Short.')).toMatchObject({ is_error: true });
    const long = await loadAfter(`# Long\n${'line\n'.repeat(9_000)}`);
    expect(long.text).toMatch(/^# Long\nline\n[^]*Page 1 of 3/);
  });

  it('what the index has no room for can’t be loaded', async () => {
    const { set, changes } = await createDetails();
    const text = JSON.stringify(outputOf());
    // Each is a result of its own, whatever it holds.
    const refs = await Promise.all(
      Array.from({ length: 400 }, (_, i) => set.bench.store.put(`${text}${' '.repeat(i)}`)),
    );
    const details = refs.map((output_ref, i) => ({
      ...entryOf(`d${i}`, output_ref),
      summary: 's'.repeat(300),
    }));
    const record = { ...recordOf(set.registry_ref), details };
    const record_ref = await set.bench.store.put(JSON.stringify(record));
    const load = (detail_id: string) =>
      call(set, 'load_detail', { detail_id }, { ...changes, record_ref });
    expect(await load('d399')).toMatchObject({ is_error: false });
    expect(await load('d0')).toMatchObject({ is_error: true });
  });

  it('what was loaded is told, and an error loaded nothing', async () => {
    const { set, changes } = await createDetails();
    const load = (input: unknown, more: Partial<ReadingScope> = {}) =>
      call(set, 'load_detail', input, { ...changes, ...more });
    expect((await load({ detail_id: 'draft' })).loaded_details).toEqual(['draft']);
    expect((await load({ detail_id: 'draft', page: 9 })).loaded_details).toEqual([]);
    expect((await load({ detail_id: 'other' })).loaded_details).toEqual([]);
    const full = await load({ detail_id: 'draft' }, { loads_left: 0 });
    expect(full).toMatchObject({ is_error: true, loaded_details: [] });
    expect(full.text).toMatch(
      /of this reply may load no more: 50 details are the most .*Try: the call in your next reply/,
    );
  });

  it('a page that does not exist is an error with the last one', async () => {
    const { set, changes } = await createDetails();
    const { is_error, text } = await call(
      set,
      'load_detail',
      { detail_id: 'draft', page: 9 },
      changes,
    );
    expect(is_error).toBe(true);
    expect(text).toContain('{"detail_id":"draft","page":1}');
  });

  it('a damaged detail is an error, not the end of the turn', async () => {
    const { set } = await createDetails();
    const upstream = [{ delegation_id: 'draft', output_ref: 'f'.repeat(64) }];
    const { is_error } = await call(set, 'load_detail', { detail_id: 'draft' }, { upstream });
    expect(is_error).toBe(true);
  });
});

describe('cutting', () => {
  it('never splits a character, and loses none', () => {
    const text = '🙂é\ufeffß'.repeat(50);
    for (let bytes = 4; bytes < 40; bytes += 1) {
      const pages = splitPages(text, bytes);
      expect(pages.join('')).toBe(text);
      for (const page of pages) expect(Buffer.byteLength(page)).toBeLessThanOrEqual(bytes);
    }
  });

  it('keeps the end of the line it cuts at', () => {
    expect(takeLines('ab\ncd\nef', 7)).toBe('ab\ncd\n');
    expect(takeLines('ab\ncd', 5)).toBe('ab\ncd');
    expect(takeLines('abcdef', 4)).toBe('abcd');
  });

  it('cuts between characters where the last line break is in the first half', () => {
    expect(takeLines('a\nbcdefgh', 6)).toBe('a\nbcde');
    expect(takeLines('ab\ncdefgh', 6)).toBe('ab\n');
    expect(takeLines('a\nbcdéé', 6)).toBe('a\nbcd');
    const page = `# Head\n${'x'.repeat(150_000)}`;
    expect(takeLines(page, 100_000)).toHaveLength(100_000);
  });
});
