import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { readRecord } from '../../../activities/artifacts/record-log.ts';
import type {
  ArtifactStore,
  IndexEntry,
  RunIndex,
} from '../../../activities/ports/artifact-store.ts';
import type { Redactor } from '../../../activities/ports/redactor.ts';
import { redactProjection, redactStore } from '../../../activities/redaction/redact-ports.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { RecordRevision, RunEvent } from '../../../contracts/run-log.ts';
import type { RecordChange, RunRecord } from '../../../contracts/run-record.ts';
import { engineLimits } from '../../../core/limits.ts';
import { foldRevision, foldRun, isSnapshotDue } from '../../../core/run/fold-run.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { damageRecord } from '../../support/stored-records.ts';
import { createHarness } from './harness.ts';
import type { Harness, RunningRun } from './harness.ts';
import { answered, question, usage } from './samples.ts';
import { wholeRun, wholeRunInput } from './whole-run.ts';

/** Question as long as an agent asks it, and its answer: one update each. */
function askAndAnswer(index: number): readonly (readonly RecordChange[])[] {
  const id = `q${index}`;
  const text = `${id}: ${'What does the hall need? '.repeat(30)}`;
  return [
    [{ type: 'question_opened', question: question(id, { text }) }],
    [
      {
        type: 'question_answered',
        answered: answered(id, { text, answer: 'Power. '.repeat(60) }),
        answer_ref: null,
      },
    ],
  ];
}

function questionsOf(count: number): readonly (readonly RecordChange[])[] {
  return Array.from({ length: count }, (_, index) => askAndAnswer(index + 1)).flat();
}

/** Counts what passes store and redactor. */
interface Work {
  stored: number;
  redacted: number;
  loaded: number;
}

function createMemoryIndex(): RunIndex {
  const entries = new Map<string, IndexEntry>();
  const read = (name: string): IndexEntry => entries.get(name) ?? { ref: null, version: 0 };
  return {
    read: async (name) => read(name),
    list: async () => [...entries.keys()],
    write: async (name, ref, after) => {
      if (read(name).version !== after) return false;
      entries.set(name, { ref, version: after + 1 });
      return true;
    },
  };
}

async function createCounted(): Promise<{ readonly harness: Harness; readonly work: Work }> {
  const work: Work = { stored: 0, redacted: 0, loaded: 0 };
  const redactor: Redactor = {
    redactText: (text) => {
      work.redacted += text.length;
      return text;
    },
    redactAsWritten: (text) => text,
    redactLines: (lines) => lines,
    redactValue: (value) => value,
    findOpen: (text) => text.length,
  };
  // In memory: a thousand updates on a disk take a minute.
  const store = createMemoryStore();
  const counted: ArtifactStore = {
    ...store,
    put: async (content) => {
      work.stored += content.length;
      return store.put(content);
    },
    getText: async (ref) => {
      const text = await store.getText(ref);
      work.loaded += text.length;
      return text;
    },
  };
  const nowhere = {
    write: async () => {},
    remove: async () => {},
    rootOf: (runId: string) => runId,
  };
  const harness = await createHarness({
    store: redactStore(counted, redactor),
    index: createMemoryIndex(),
    projection: redactProjection(nowhere, redactor),
  });
  return { harness, work };
}

describe('finding T9: a run with 250 questions', () => {
  const updates: Work[] = [];
  let record: RunRecord;

  beforeAll(async () => {
    const { harness, work } = await createCounted();
    const run = await harness.begin('my-run');
    for (const changes of questionsOf(250)) {
      const before = { ...work };
      await run.apply(...changes);
      updates.push({
        stored: work.stored - before.stored,
        redacted: work.redacted - before.redacted,
        loaded: work.loaded - before.loaded,
      });
    }
    record = await run.record();
  });

  it('stores at most three times the bytes that its record has', () => {
    expect(record.answered_questions).toHaveLength(250);
    const stored = updates.reduce((sum, update) => sum + update.stored, 0);
    expect(stored).toBeLessThan(3 * JSON.stringify(record).length);
  });

  it('loads, redacts and stores as much in a late update as in an early one', () => {
    // Few updates store the whole record too.
    const usual = updates.filter(({ stored }) => stored < 20_000);
    expect(updates.length - usual.length).toBeLessThan(10);
    // From the first full page of each list to the next, twice.
    const worst = (from: number, part: keyof Work): number =>
      Math.max(...usual.slice(from, from + 200).map((update) => update[part]));
    for (const part of ['stored', 'redacted', 'loaded'] as const) {
      expect(worst(280, part)).toBeLessThan(1.1 * worst(80, part));
    }
  });
});

/** Revisions of a run, oldest first, and the record with which it began. */
async function logOf(
  store: ArtifactStore,
  ref: Ref,
): Promise<{ readonly first: RunRecord; readonly revisions: readonly RecordRevision[] }> {
  const revisions: RecordRevision[] = [];
  for (let at = ref; ;) {
    const entry: RecordRevision | RunRecord = JSON.parse(await store.getText(at));
    if (!('events' in entry)) return { first: entry, revisions: revisions.toReversed() };
    revisions.push(entry);
    at = entry.previous_ref;
  }
}

async function wholeLog(): Promise<{ readonly harness: Harness; readonly run: RunningRun }> {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  for (const changes of await wholeRun(harness)) await run.apply(...changes);
  return { harness, run };
}

it('RL4, RL5: folding the log at once, or in parts that were stored between, gives the record', async () => {
  const { harness, run } = await wholeLog();
  const record = await run.record();
  const { first, revisions } = await logOf(harness.deps.store, run.ref());
  expect(revisions).toHaveLength(9);
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), (stored) => {
      const folded = revisions.reduce<RunRecord>((before, revision, index) => {
        const after = foldRevision(before, revision);
        return stored[index] === true ? JSON.parse(JSON.stringify(after)) : after;
      }, first);
      expect(folded).toEqual(record);
    }),
  );
});

/** Events of one run that may come in any order and number. */
const anyEvent = fc
  .tuple(fc.constantFrom('q1', 'q2', 'q3'), fc.constantFrom('one', 'two'), fc.nat({ max: 9 }))
  .chain(([id, said, at]) =>
    fc.constantFrom<RunEvent>(
      { type: 'question_opened', at, question: question(id, { fact_key: id }) },
      {
        type: 'question_answered',
        at,
        answered: answered(id, { answer: said }),
        answer_ref: null,
      },
      {
        type: 'answer_amended',
        at,
        amended: { question_id: id, answer: said, hash: said, answer_ref: null },
        amended_at: at,
      },
      { type: 'question_withdrawn', at, question_id: id },
      { type: 'instruction', at, instruction: said, facts: [{ key: id, value: said }] },
      { type: 'criteria_waived', at, criterion_ids: ['goal-1'], question_id: id },
      { type: 'ended', at, status: 'stopped', usage: usage(1), stop_reason: said },
    ),
  );

it('RL5: any log folds to the same record, wherever it is stored whole in between', async () => {
  const { harness, run } = await wholeLog();
  const { first } = await logOf(harness.deps.store, run.ref());
  fc.assert(
    fc.property(fc.array(fc.tuple(anyEvent, fc.boolean())), (steps) => {
      const whole = steps.reduce((record, [event]) => foldRun(record, event), first);
      const inParts = steps.reduce<RunRecord>((record, [event, isStored]) => {
        const after = foldRun(record, event);
        return isStored ? JSON.parse(JSON.stringify(after)) : after;
      }, first);
      expect(inParts).toEqual(whole);
    }),
  );
});

it('RL5: an event leaves what it does not change as it was', async () => {
  const { harness, run } = await wholeLog();
  const before = await run.record();
  await run.apply({ type: 'archived', by: 'another' });
  const after = await harness.record(run.ref());
  const changed = Object.entries(after).flatMap(([name, value]) =>
    Object.entries(before).some((one) => one[0] === name && one[1] === value) ? [] : [name],
  );
  expect(changed.toSorted()).toEqual(['archived_by', 'previous_ref', 'revision', 'updated_at']);
});

it('a worker without the record in memory reads the same one', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run');
  const refs: Ref[] = [];
  const updates = questionsOf(engineLimits.snapshotRevisionsMin);
  for (const changes of updates) {
    await run.apply(...changes);
    refs.push(run.ref());
  }
  const { revisions } = await logOf(harness.deps.store, run.ref());
  expect(revisions.filter(({ base, revision }) => base.revision === revision)).not.toEqual([]);
  for (const ref of refs) {
    const cold = createFileArtifactStore({ home: harness.home });
    expect(await readRecord(cold, ref)).toEqual(await harness.record(ref));
  }
});

it('a record is stored whole when the events since weigh as much, within the limits', () => {
  const { snapshotRevisionsMin: min, snapshotRevisionsMax: max } = engineLimits;
  const base = { ref: 'a'.repeat(64), revision: 10, chars: 1_000 };
  const isDue = (chars_since: number, after: number): boolean =>
    isSnapshotDue({ ...base, chars_since }, base.revision + after);
  expect(isDue(1_000, min - 1)).toBe(false);
  expect(isDue(999, min)).toBe(false);
  expect(isDue(1_000, min)).toBe(true);
  expect(isDue(0, max)).toBe(true);
});

it.each([
  ['torn', 'ArtifactDamaged', 'is damaged'],
  ['lost', 'ArtifactMissing', 'is missing'],
] as const)('a whole record that is %s is named', async (how, type, told) => {
  const harness = await createHarness();
  const run = await harness.begin('my-run');
  for (const changes of questionsOf(engineLimits.snapshotRevisionsMin / 2))
    await run.apply(...changes);
  const { revisions } = await logOf(harness.deps.store, run.ref());
  const ref = revisions.at(-1)?.base.ref ?? '';
  await damageRecord(harness.home, ref, how);
  const cold = createFileArtifactStore({ home: harness.home });
  await expect(readRecord(cold, run.ref())).rejects.toMatchObject({
    type,
    message: expect.stringContaining(`The artifact ${ref} ${told}`),
  });
});

it('a revision that is missing between two others is named', async () => {
  const { harness, run } = await wholeLog();
  const { revisions } = await logOf(harness.deps.store, run.ref());
  const ref = revisions.at(-3)?.previous_ref ?? '';
  await damageRecord(harness.home, ref, 'lost');
  const cold = createFileArtifactStore({ home: harness.home });
  await expect(readRecord(cold, run.ref())).rejects.toThrow(`The artifact ${ref} is missing`);
});

it('lists that grow are files of fifty lines, the newest of which keeps the name', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run');
  await run.apply(...questionsOf(120).flat());
  const dir = join(harness.home, 'my-run');
  const linesOf = async (file: string): Promise<number> =>
    (await readFile(join(dir, file), 'utf8')).split('\n').length - 1;
  const files = (await readdir(dir)).filter((file) => file.endsWith('.jsonl')).toSorted();
  expect(await Promise.all(files.map(async (file) => [file, await linesOf(file)]))).toEqual([
    ['pool-001.jsonl', 50],
    ['pool-002.jsonl', 50],
    ['pool.jsonl', 20],
    ['questions-001.jsonl', 50],
    ['questions-002.jsonl', 50],
    ['questions.jsonl', 20],
  ]);
});
