import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../scripts/bootstrap/expected-error.mjs';
import { startObjectStore } from '../../cluster/object-store.ts';
import type { ObjectStore } from '../../cluster/object-store.ts';
import { findPrograms } from '../../cluster/programs.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';
import type { BenchStage } from '../bench-stage.ts';
import { countSequentialCalls, equalWave, usualWave } from '../bench-wave.ts';
import { measureInTurns } from '../contest.ts';
import type { Contestant, ContestResult, CpuReading } from '../contest.ts';
import { runEngineWave } from '../engine-wave.ts';
import type { Figure, FigureContext, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { readFamilyCpuMs } from '../process-usage.ts';
import { warmUpWaves } from '../wave-rounds.ts';

const wave = equalWave(usualWave);
const ratioMax = 1.2;

/** A store with a worker of its own. */
interface Side {
  /** Name of its task queue. */
  readonly id: string;
  readonly title: string;
  /** Settings that name the store. */
  readonly env: Readonly<Record<string, string>>;
  /** Processes of the store. */
  readonly parts: Readonly<Record<string, number>>;
}

const files: Side = { id: 'files', title: 'files', env: {}, parts: {} };

/** One server has a worker for each store, and they take turns: other load meets them alike. */
export const stores: Figure = {
  name: 'stores',
  about: 'a wave of 3 delegations × 9 turns, 0 ms a call, stored in PostgreSQL and a bucket',
  measure: (context) =>
    withSides(context, (sides) =>
      context.withStage(async (stage) => {
        const contestants: Contestant[] = [];
        for (const side of [files, ...sides]) {
          // oxlint-disable-next-line no-await-in-loop
          contestants.push(await enter(stage, side));
        }
        return measure(context, sides, contestants);
      }),
    ),
};

/** Brings up the stores that this machine has the programs for, and tells which are left out. */
async function withSides<T>(
  { say }: FigureContext,
  work: (sides: readonly Side[]) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-bench-stores-'));
  let postgres: OwnPostgres | null = null;
  let objects: ObjectStore | null = null;
  try {
    // A commit waits for the disk, as in production.
    postgres = await startOwnPostgres(undefined, true).catch((error: unknown) => {
      say(`Without PostgreSQL and a bucket: ${messageOf(error)}`);
      return null;
    });
    if (postgres === null) return await work([]);
    const database: Side = {
      id: 'postgres',
      title: 'PostgreSQL',
      env: { PLANWAVE_STORE_URL: postgres.url },
      parts: { PostgreSQL: postgres.pid() },
    };
    const programs = findPrograms('objects');
    if (programs.folder === null) {
      say(`Without a bucket: ${programs.missing}`);
      return await work([database]);
    }
    objects = await startObjectStore(programs.folder, folder);
    const bucket: Side = {
      id: 'bucket',
      title: 'PostgreSQL and a bucket',
      env: { ...database.env, PLANWAVE_ARTIFACTS_URL: objects.url, ...objects.env },
      parts: { ...database.parts, 'S3 server': objects.pid() },
    };
    return await work([database, bucket]);
  } finally {
    await objects?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function enter(stage: BenchStage, { id, env, parts }: Side): Promise<Contestant> {
  const [worker = -1] = await stage.addWorkers({ taskQueue: id, count: 1, env });
  return {
    wave: (key) => runEngineWave({ client: stage.client, taskQueue: id }, wave, `${id}-${key}`),
    async readCpu() {
      const reading: Record<string, number> = {};
      for (const [name, pid] of Object.entries({ worker, ...parts })) {
        // oxlint-disable-next-line no-await-in-loop
        const ms = await readFamilyCpuMs(pid);
        if (ms === null) return null;
        reading[name] = ms;
      }
      return reading;
    },
  };
}

async function measure(
  { rounds, say }: FigureContext,
  sides: readonly Side[],
  [floor, ...others]: readonly Contestant[],
): Promise<FigureRow[]> {
  const engine = others.pop();
  if (floor === undefined || engine === undefined) return [];
  const contest = { engine, floor, others };
  await measureInTurns(contest, { name: 'warm-up', rounds: warmUpWaves, together: 1 });
  say(`${rounds} rounds …`);
  const measured = await measureInTurns(contest, { name: 'stores', rounds, together: 1 });
  const results = [...measured.others, measured.engine];
  return sides.flatMap((side, nth) => {
    const result = results[nth];
    return result === undefined ? [] : [toRow(side, result, measured.floor)];
  });
}

function toRow({ title }: Side, result: ContestResult, ofFiles: ContestResult): FigureRow {
  const ratio = result.ms.median / ofFiles.ms.median;
  const cpu = sumOf(result.cpuMs) / sumOf(ofFiles.cpuMs);
  const turnMs = result.ms.median / countSequentialCalls(wave);
  return {
    figure: `a wave of 3 delegations × 9 turns, 0 ms a call, stored in ${title}`,
    target: `≤ ${ratioMax} × files`,
    measured: `${formatSummary(result.ms, 'ms')}: ${formatNumber(turnMs)} ms a turn, ${formatNumber(ratio)} × files, ${formatNumber(cpu)} × their CPU`,
    floor: formatSummary(ofFiles.ms, 'ms'),
    reached: ratio <= ratioMax,
    notes: `${result.cpu} With files: ${ofFiles.cpu} The floor is the same wave with files.`,
    numbers: { ms: result.ms, files_ms: ofFiles.ms, ratio, cpu_ratio: cpu },
  };
}

function sumOf(reading: CpuReading | null): number {
  return Object.values(reading ?? {}).reduce((sum, ms) => sum + ms, 0);
}
