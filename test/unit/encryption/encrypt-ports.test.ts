import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkHome } from '../../../activities/adapters/file-store/check-home.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import {
  createFileEffectLedger,
  createFileReplyLedger,
  createFileRunIndex,
} from '../../../activities/adapters/file-store/file-ledgers.ts';
import { openSegments } from '../../../activities/adapters/file-store/segments.ts';
import {
  encryptEffects,
  encryptLedger,
  encryptNames,
  encryptStore,
  withholdProjection,
} from '../../../activities/encryption/encrypt-ports.ts';
import { encryptThreads } from '../../../activities/encryption/encrypt-threads.ts';
import { createThreadStore, openStores } from '../../../activities/adapters/open-stores.ts';
import { ArtifactCorrupt, StoreUnavailable } from '../../../activities/ports/artifact-store.ts';
import { createStoreCipher } from '../../../encryption/encrypting-codec.ts';
import { hashBytes } from '../../../activities/text/bytes.ts';
import { createHarness } from '../record/harness.ts';
import { damageRecord } from '../../support/stored-records.ts';
import { createMemoryLedger } from '../../support/memory-ledger.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { readTree } from '../../support/read-tree.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { testKeys } from '../../support/test-keys.ts';

const word = 'Zwiebelturm';
const cipherOf = (...ids: readonly string[]) => createStoreCipher(testKeys(...ids));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'planwave-encrypted-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Opens all wrapped ports on files, as a worker does. */
function openPorts(...ids: readonly string[]) {
  const cipher = cipherOf(...ids);
  const segments = openSegments({ home });
  return {
    store: encryptStore(createFileArtifactStore({ segments }), cipher),
    ledger: encryptLedger(createFileReplyLedger({ segments }), cipher),
    effects: encryptEffects(createFileEffectLedger({ home }), cipher),
    research: encryptNames(createFileRunIndex({ home, folder: 'research' }), cipher),
  };
}

const key = { workflow_id: 'run/wave-001', run_id: 'r1', activity_id: '7' };
const effectKey = hashBytes('effect');

/** Writes the word through every port. @returns the addresses of both artifacts. */
async function writeAll({ store, ledger, effects, research }: ReturnType<typeof openPorts>) {
  const ref = await store.put(`The ${word} stands.`);
  const batch = store.openBatch();
  const staged = await batch.put(`A ${word} in a batch.`);
  expect(await batch.getText(staged)).toContain(word);
  await ledger.put(key, 1, { text: word }, batch);
  await effects.put(effectKey, { type: 'failed', reason: word }, 0);
  await research.write(word.toLowerCase(), ref, 0);
  return { ref, staged };
}

async function readAll({ store, ledger, effects, research }: ReturnType<typeof openPorts>) {
  const { ref } = await research.read(word.toLowerCase());
  return {
    text: ref === null ? null : await store.getText(ref),
    values: await ledger.find(key),
    listed: (await ledger.list('run', 0)).map(({ value }) => value),
    effect: (await effects.find(effectKey)).state,
  };
}

const written = {
  text: `The ${word} stands.`,
  values: [{ text: word }],
  listed: [{ text: word }],
  effect: { type: 'failed', reason: word },
};

it('EP1: files hold no word of what is written through wrapped ports, and hold it without keys', async () => {
  const search = async () => {
    const tree = Object.entries(await readTree(home));
    return tree.filter((file) => file.join('\n').toLowerCase().includes(word.toLowerCase()));
  };
  const ports = openPorts('k1');
  const { staged } = await writeAll(ports);
  expect(await search()).toEqual([]);
  expect(await readAll(openPorts('k1'))).toEqual(written);
  expect(await openPorts('k1').research.list()).toEqual([word.toLowerCase()]);
  expect(await openPorts('k1').store.getText(staged)).toContain(word);
  rmSync(home, { recursive: true });
  await writeAll(openPorts());
  const found = (await search()).map(([path]) => path.split('/')[0]);
  expect([...new Set(found)]).toEqual(['effects', 'research', 'segments']);
  expect(await readAll(openPorts())).toEqual(written);
});

it('EP2: an address is the hash of encrypted bytes, and the home is checked without keys', async () => {
  const { ref } = await writeAll(openPorts('k1'));
  expect(ref).not.toBe(hashBytes(written.text));
  const plain = createFileArtifactStore({ home });
  expect(hashBytes(await plain.get(ref))).toBe(ref);
  const checked = await checkHome({ home, store: plain, repair: false });
  expect(checked).toMatchObject({ records: 4, faults: [] });
});

it('EP3: the same text has the same address while the first key is the same', async () => {
  const memory = createMemoryStore();
  const put = (...ids: readonly string[]) => encryptStore(memory, cipherOf(...ids)).put(word);
  const ref = await put('k1');
  expect(await put('k1', 'k2')).toBe(ref);
  expect(await put('k2', 'k1')).not.toBe(ref);
  const store = encryptStore(memory, cipherOf('k2', 'k1'));
  expect(await store.getText(ref)).toBe(word);
  expect(await store.has(ref)).toBe(true);
});

it('EP4: what was written before the first key, or under an older one, is read as before', async () => {
  await writeAll(openPorts());
  const { text, ...rest } = await readAll(openPorts('k1'));
  expect(rest).toEqual({ values: written.values, listed: written.listed, effect: written.effect });
  // Names of research are new with each first key: then it is made again.
  expect(text).toBeNull();
  const ref = await openPorts('k1').store.put('older');
  expect(await openPorts('k2', 'k1').store.getText(ref)).toBe('older');
  const { store } = openPorts('k1');
  await expect(store.getText(await store.put(Uint8Array.of(0xff, 0xfe)))).rejects.toThrow(
    ArtifactCorrupt,
  );
});

it('EP5: what needs a key that is not there waits for it', async () => {
  const { ref } = await writeAll(openPorts('k1'));
  for (const { store, ledger, effects } of [openPorts(), openPorts('k2')]) {
    for (const read of [
      () => store.get(ref),
      () => store.getText(ref),
      () => ledger.find(key),
      () => effects.find(effectKey),
    ]) {
      await expect(read()).rejects.toThrow(StoreUnavailable);
      await expect(read()).rejects.toThrow(/the key "k1".* Try: .*PLANWAVE_KEYS/);
    }
  }
  const memory = createMemoryStore();
  const plain = encryptStore(memory, cipherOf());
  await expect(plain.getText('0'.repeat(64))).rejects.toThrow(ArtifactCorrupt);
});

it('EP2: without the key a check looks at all addresses, and says that records were not followed', async () => {
  const openAll = (...ids: readonly string[]) => openStores({ home, cipher: cipherOf(...ids) });
  const { store, index } = openAll('k1');
  const harness = await createHarness({ store, index });
  await harness.open('plannerRun', { goal: word });
  const whole = await openAll('k1').check({ repair: false });
  expect(whole).toMatchObject({ runs: 1, faults: [] });
  expect(whole).not.toHaveProperty('unchecked');
  expect(await openAll().check({ repair: false })).toEqual({
    ...whole,
    unchecked: [
      {
        where: 'the records of 1 run',
        what: expect.stringMatching(
          /not followed.* with the key "k1", and there are no keys here$/,
        ),
        cure: expect.stringMatching(/^add "k1:…" to PLANWAVE_KEYS/),
      },
    ],
  });
  const ref = await store.put('lost');
  await damageRecord(home, ref);
  expect((await openAll().check({ repair: false })).faults).toMatchObject([
    { what: expect.stringContaining(ref) },
  ]);
});

it('EP6: an entry under another key of the ledger is not read', async () => {
  const memory = createMemoryLedger();
  const ledger = encryptLedger(memory, cipherOf('k1'));
  await ledger.put(key, 1, { text: word });
  const other = { ...key, activity_id: '8' };
  await memory.put(other, 1, (await memory.find(key))[0]);
  await expect(ledger.find(other)).rejects.toThrow('this part of the store');
});

it('with keys no readable file is written, and old ones are still removed', async () => {
  const done: string[] = [];
  const projection = {
    write: async () => void done.push('write'),
    remove: async () => void done.push('remove'),
    rootOf: (runId: string) => runId,
  };
  const withheld = withholdProjection(projection, cipherOf('k1'));
  await withheld.write('run', 'result.md', word, { mayStill: async () => void done.push('asked') });
  await withheld.remove('run', 'result.md');
  expect(done).toEqual(['asked', 'remove']);
  expect(withholdProjection(projection, cipherOf())).toBe(projection);
});

/** Threads on a file, as a worker has them. */
function openThreads(...ids: readonly string[]) {
  return encryptThreads(createThreadStore({ home }), cipherOf(...ids));
}

const exceptRun = 'another';
const shown = { messages: 9, delegations: 9, exceptRun };

it('ET1: the file of threads holds no word of a text, and texts come back as they were', async () => {
  const added = entry({
    thread_id: 'tower',
    message: `Where is the ${word}?`,
    answer: `The ${word} is there.`,
    delegations: [kept('d1', { title: word, task: `Find the ${word}`, result: `Found: ${word}` })],
  });
  const threads = openThreads('k1');
  await threads.append(added);
  const plain = entry({ thread_id: 'tower', message: 'pwe1:not encrypted', answer: null });
  await openThreads().append({ ...plain, delegations: [] });
  const files = JSON.stringify(await readTree(home));
  expect(files.toLowerCase()).not.toContain(word.toLowerCase());
  expect(files).toContain('not encrypted');
  const { messages, delegations } = await threads.load('tower', shown);
  expect(messages.map(({ text }) => text)).toEqual(
    expect.arrayContaining([added.message, added.answer, plain.message]),
  );
  expect(delegations[0]?.delegation).toMatchObject({ title: word, result: `Found: ${word}` });
  const { entries } = await threads.read('tower', 5);
  expect(entries).toContainEqual(added);
  const without = await openThreads().load('tower', shown);
  expect(without.messages.map(({ text }) => text)).toEqual([plain.message]);
  await threads.close();
});

it('ET3: what is left under a removed key is left out and counted; the rest of the thread is read', async () => {
  const old = openThreads('k1');
  await old.append(
    entry({ thread_id: 'mast', at: 1, delegations: [kept('d1', { task: 'mast' })] }),
  );
  await expect(openThreads('k2').read('mast', 5)).rejects.toThrow(/key "k1".*PLANWAVE_KEYS/);
  const threads = openThreads('k2');
  const added = entry({ thread_id: 'mast', at: 2, delegations: [kept('d2', { task: 'mast' })] });
  await threads.append(added);
  expect(await threads.read('mast', 5)).toEqual({ entries: [added], total: 2, unreadable: 1 });
  const loaded = await threads.load('mast', shown);
  expect(loaded.messages.map(({ text }) => text)).toEqual([added.message, added.answer]);
  expect(loaded.delegations.map(({ delegation }) => delegation.title)).toEqual(['Task d2']);
  // A message, an answer and a delegation.
  expect(loaded.unreadable).toBe(3);
  const found = await threads.search('mast', 'mast', { limit: 5, exceptRun });
  expect(found.delegations.map(({ delegation }) => delegation.title)).toEqual(['Task d2']);
  expect(found.unreadable).toBe(1);
  await Promise.all([old.close(), threads.close()]);
});

it('ET2: a search ranks by shared words, of equals the newest first', async () => {
  const threads = openThreads('k2', 'k1');
  const tasks = [
    kept('both', { task: 'Paint the tower red', at: 1 }),
    kept('old', { task: 'Measure the tower', at: 2 }),
    kept('new', { task: 'Measure the tower', at: 3 }),
    kept('none', { task: 'Cook a soup', at: 4 }),
  ];
  for (const [at, task] of tasks.entries()) {
    await threads.append(entry({ thread_id: 'tower', at, delegations: [task] }));
  }
  const search = async (query: string, limit = 5) => {
    const { delegations } = await threads.search('tower', query, { limit, exceptRun });
    return delegations.map(({ delegation }) => delegation.title);
  };
  expect(await search('red tower')).toEqual(['Task both', 'Task new', 'Task old']);
  expect(await search('Tower, please', 1)).toEqual(['Task new']);
  expect(await search('nothing of it')).toEqual([]);
  await threads.close();
});
