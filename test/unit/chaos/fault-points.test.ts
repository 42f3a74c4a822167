import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const preload = fileURLToPath(new URL('../../support/fault-points.mjs', import.meta.url));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'planwave-fault-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Writes `first` and `second` durably, each to a temporary file that is then renamed. */
const program = `
  import { open, rename } from 'node:fs/promises';
  import { setTimeout as sleep } from 'node:timers/promises';
  for (const name of ['first', 'second']) {
    if (name === 'second') await sleep(Number(process.env.PAUSE_MS));
    const file = await open(name + '.tmp', 'w');
    await file.writeFile('content of ' + name);
    await file.sync();
    await file.close();
    await rename(name + '.tmp', name);
  }
  console.log(new Date().getTime() - Number(process.env.NOW));
`;

interface Order {
  readonly what: string;
  readonly nth: number;
  readonly untilMs?: number;
}

function run(order: Order | null, clockOffsetMs = 0, pauseMs = 0) {
  const faultFile = join(dir, 'order.json');
  if (order !== null) writeFileSync(faultFile, JSON.stringify(order));
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [`--import=${preload}`, '--input-type=module', '--eval', program],
    {
      cwd: dir,
      encoding: 'utf8',
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        FAULT_FILE: faultFile,
        CLOCK_OFFSET_MS: String(clockOffsetMs),
        NOW: String(Date.now()),
        PAUSE_MS: String(pauseMs),
      },
    },
  );
  const contentOf = (name: string): string | null =>
    existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : null;
  const notes = readdirSync(dir).filter((name) => name.startsWith('order.json.'));
  return { end: signal ?? status, stdout, stderr, contentOf, notes };
}

it('without an order nothing is hit', () => {
  const { end, contentOf } = run(null);
  expect([end, contentOf('second')]).toEqual([0, 'content of second']);
});

it.each([
  ['before', 2, null],
  ['after', 2, 'content of first'],
])('dies %s the nth durable write', (what, nth, first) => {
  const { end, contentOf } = run({ what, nth });
  expect([end, contentOf('first'), contentOf('second')]).toEqual(['SIGKILL', first, null]);
});

it('dies in the middle of the bytes that follow', () => {
  const { end, contentOf } = run({ what: 'torn', nth: 2 });
  expect([end, contentOf('first')]).toEqual(['SIGKILL', 'content of first']);
  expect(contentOf('second.tmp')).toBe('content o');
});

it('a full disk refuses writes by name', () => {
  const { end, stderr, notes } = run({ what: 'full', nth: 1 });
  expect(end).toBe(1);
  expect(stderr).toContain('ENOSPC');
  // Not as a death is noted: a worker that ends of a full disk was not ordered to.
  expect(notes).toEqual([expect.stringMatching(/^order\.json\.full\.\d+$/)]);
});

it('a hit is noted, and a write that never came is not', () => {
  expect(run({ what: 'before', nth: 1 }).notes).toEqual([
    expect.stringMatching(/^order\.json\.\d+$/),
  ]);
  rmSync(dir, { recursive: true });
  mkdirSync(dir);
  expect(run({ what: 'full', nth: 50 }).notes).toEqual([]);
});

it.each(['before', 'torn', 'full'])('an order that is over hits nothing: %s', (what) => {
  const over = run({ what, nth: 1, untilMs: Date.now() });
  expect([over.end, over.contentOf('second'), over.notes]).toEqual([0, 'content of second', []]);
  const late = run({ what, nth: 3, untilMs: Date.now() + 1_000 }, 3_600_000, 1_100);
  expect([late.end, late.contentOf('second'), late.notes]).toEqual([0, 'content of second', []]);
});

it('the clock is as far off as it was told', () => {
  expect(Number(run(null, 3_600_000).stdout)).toBeGreaterThanOrEqual(3_600_000);
});
