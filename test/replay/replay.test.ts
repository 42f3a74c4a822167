import { hostname, userInfo } from 'node:os';
import { loadWorkflowBundle } from '../../worker/bundle-workflows.ts';
import type { WorkflowBundle } from '../../worker/bundle-workflows.ts';
import { matchAll, read, sourceFiles } from '../architecture/repository.ts';
import { scenarios } from './scenarios.ts';
import {
  cutAtTasks,
  faultsOf,
  historyFiles,
  listPatches,
  readHistory,
  silenceRuntime,
} from './stored-histories.ts';

let bundle: WorkflowBundle;
beforeAll(async () => {
  silenceRuntime();
  bundle = await loadWorkflowBundle();
});

it('every scenario has its histories', () => {
  const names = scenarios.flatMap(({ keep }) =>
    Object.values(keep).flatMap(({ first, last }) =>
      [first, last].filter((name) => name !== undefined),
    ),
  );
  const recorded = new Set(historyFiles.map((file) => file.replace(/\.\d+\.\d+\.\d+(?=-)/, '')));
  expect(names.filter((name) => !recorded.has(`${name}.json`))).toEqual([]);
});

/** Lists the patches that code asks for. An argument that is no literal is listed as it is written. */
function findPatches(code: string): string[] {
  return matchAll(code, /\b(?:patched|deprecatePatch)\(\s*['"`]?([^'"`\s,)]+)/g);
}

it.each([
  [`isLate && patched('one-patch')`, ['one-patch']],
  [`patched("v2_patch"); deprecatePatch('one-patch');`, ['v2_patch', 'one-patch']],
  ['patched(\n  `patch-3`,\n)', ['patch-3']],
  ['patched(patchName)', ['patchName']],
  [`import { patched } from '@temporalio/workflow';`, []],
])('the patches of %j are %j', (code, patches) => {
  expect(findPatches(code)).toEqual(patches);
});

it('every change behind a patch stands in a history that was recorded with it', () => {
  const workflows = sourceFiles.filter((path) => path.startsWith('workflows/'));
  const asked = workflows.map(read).flatMap(findPatches);
  const recorded = new Set(historyFiles.map(readHistory).flatMap(listPatches));
  expect(asked.filter((name) => !recorded.has(name))).toEqual([]);
});

it('a patch is read from its marker', () => {
  const data = Buffer.from('{"id":"v2_patch","deprecated":false}').toString('base64');
  const details = { 'patch-data': { payloads: [{ data }] } };
  const marker = { markerRecordedEventAttributes: { markerName: 'core_patch', details } };
  const events = [{ eventType: 'EVENT_TYPE_MARKER_RECORDED', ...marker }];
  expect(listPatches({ events })).toEqual(['v2_patch']);
});

it('every history replays', async () => {
  const faults = await faultsOf(historyFiles.map(readHistory), bundle);
  expect(historyFiles.map((file, at) => [file, faults[at]])).toEqual(
    historyFiles.map((file) => [file, null]),
  );
});

// `test/slow/replay.test.ts` takes each of its tasks, and the other long histories too.
it('a worker that takes a design over finds its place', async () => {
  const cuts = cutAtTasks(readHistory('architectureDesign.0.1.0-designed.json'));
  const sample = cuts.filter((_, at) => at % 6 === 1);
  expect(sample.length).toBeGreaterThan(5);
  expect(await faultsOf(sample, bundle)).toEqual(sample.map(() => null));
});

it('a history that the code did not make is refused', async () => {
  const { events } = readHistory('delegation.0.1.0-tools.json');
  const name = 'activityTaskScheduledEventAttributes';
  const tampered = events.map((event) =>
    event[name] === undefined
      ? event
      : { ...event, [name]: { ...Object(event[name]), activityType: { name: 'storeText' } } },
  );
  expect(await faultsOf([{ events: tampered }], bundle)).toEqual([
    expect.stringMatching(/nondeterminism|determinism/i),
  ]);
});

it.each(historyFiles)('%s names no machine', (file) => {
  const found: string[] = [];
  const { username, homedir } = userInfo();
  const names = [hostname(), homedir, ...(username.length > 4 ? [username] : [])];
  const look = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      const text = key === 'data' ? Buffer.from(value, 'base64').toString('utf8') : value;
      if (/\d@\w|\/(?:home|Users|tmp|work|root)\//.test(text)) found.push(text);
      if (names.some((name) => text.includes(name))) found.push(text);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, one] of Object.entries(value)) look(one, name);
    }
  };
  look(readHistory(file), '');
  expect(found).toEqual([]);
});
