import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { openSegments } from '../../../activities/adapters/file-store/segments.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { summarise } from '../statistics.ts';

const turns = 400;
const reservationChars = 300;
const nodeChars = 2_200;
const resultChars = 900;

export const storeTurns: Figure = {
  name: 'store',
  about:
    'what a model call stores, without server and model: its reservation, then node and result',
  measure: async ({ rounds, sizeOf, say }) => {
    const rows: FigureRow[] = [];
    for (const lanes of [1, 9]) {
      say(`${lanes} conversations at once …`);
      // One measurement after the other.
      // oxlint-disable-next-line no-await-in-loop
      rows.push(await measureLanes(lanes, sizeOf(turns), Math.max(1, Math.round(rounds / 4))));
    }
    return rows;
  },
};

/** Milliseconds a turn. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

async function measureLanes(lanes: number, count: number, rounds: number): Promise<FigureRow> {
  const engine: Cost[] = [];
  const floor: Cost[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop
    engine.push(await inFolder((home) => measureCost(lanes, count, openTurns(home))));
    // oxlint-disable-next-line no-await-in-loop
    floor.push(await inFolder((home) => measureFloor(home, lanes, count)));
  }
  const wall = summarise(engine.map((one) => one.wall));
  const cpu = summarise(engine.map((one) => one.cpu));
  const floorWall = summarise(floor.map((one) => one.wall));
  const floorCpu = summarise(floor.map((one) => one.cpu));
  return {
    figure: `what a model call stores, ${lanes === 1 ? 'one conversation' : `${lanes} conversations at once`}`,
    target: '',
    measured: `${formatSummary(wall, 'ms')}, ${formatNumber(cpu.median)} ms of CPU`,
    floor: `${formatSummary(floorWall, 'ms')}, ${formatNumber(floorCpu.median)} ms of CPU`,
    reached: null,
    notes:
      'The floor writes the same bytes to one file per conversation, with an fdatasync after each of the two writes.',
    numbers: { wall_ms: wall, cpu_ms: cpu, floor_wall_ms: floorWall, floor_cpu_ms: floorCpu },
  };
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-bench-store-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a function that stores what one model call stores. */
function openTurns(home: string): (turn: number) => Promise<void> {
  const segments = openSegments({ home });
  const store = createFileArtifactStore({ segments });
  const ledger = createFileReplyLedger({ segments });
  return async (turn) => {
    const key = { workflow_id: 'run/wave-001', run_id: 'r', activity_id: String(turn) };
    await ledger.put(key, 1, { spent: 'x'.repeat(reservationChars) });
    const batch = store.openBatch();
    const head = await batch.put(randomBytes(nodeChars / 2).toString('hex'));
    await ledger.put(key, 1, { head, result: 'y'.repeat(resultChars) }, batch);
  };
}

async function measureFloor(folder: string, lanes: number, count: number): Promise<Cost> {
  const names = Array.from({ length: lanes }, (_, lane) => join(folder, String(lane)));
  const files = await Promise.all(names.map((name) => open(name, 'w')));
  const cost = await measureCost(lanes, count, async (_turn, lane) => {
    const file = files[lane];
    for (const chars of [reservationChars, nodeChars + resultChars]) {
      // The call is made in between.
      // oxlint-disable-next-line no-await-in-loop
      await file?.write('x'.repeat(chars));
      // oxlint-disable-next-line no-await-in-loop
      await file?.datasync();
    }
  });
  await Promise.all(files.map((file) => file.close()));
  return cost;
}

async function measureCost(
  lanes: number,
  count: number,
  turn: (turn: number, lane: number) => Promise<void>,
): Promise<Cost> {
  let next = 0;
  const work = async (lane: number): Promise<void> => {
    while (next < count) {
      next += 1;
      // oxlint-disable-next-line no-await-in-loop
      await turn(next, lane);
    }
  };
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
  const { user, system } = process.cpuUsage(cpu);
  const wall = (performance.now() - begin) / count;
  return { wall, cpu: (user + system) / 1_000 / count };
}
