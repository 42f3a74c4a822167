import { parseArgs } from 'node:util';
import { badSettingsExitCode, ExpectedError } from '../../scripts/bootstrap/expected-error.mjs';
import { phaseNames } from './phases/all-phases.ts';
import type { PhaseName } from './phases/all-phases.ts';
import { runNames, runOf, taskIds } from './runs/all-runs.ts';
import { teamTask } from './runs/with-team.ts';

export interface CampaignOptions {
  /** Everything that chance decides comes from it. */
  readonly seed: number;
  /**
   * About how many times processes are killed or paused. If undefined: every moment of the reference run once. On a cluster: deaths
   * before the last run is started.
   */
  readonly deaths: number | undefined;
  readonly only: readonly PhaseName[];
  /** Name of the run that is hurt. If undefined: the one that has `task`, or the standard one. */
  readonly run: string | undefined;
  /** The delegation whose moments are struck. If undefined: those of the whole run. */
  readonly task: string | undefined;
  /** The part of each phase's runs that is played; null: all are. The parts of one seed are the whole campaign. */
  readonly part: Part | null;
  readonly lanes: number;
  /** Whether the workers have a home each and share a cluster; only the phase `crowd` is then played. */
  readonly cluster: boolean;
  /** Runs of the phase `crowd`. */
  readonly runs: number;
  /** Generated programs that are played; null: the phases of the fixed runs are. */
  readonly programs: number | null;
  /** Minutes after which no other program is begun; a later call goes on. If undefined, all are played. */
  readonly slice: number | undefined;
  /** One trial to play again; what is undefined is as the seed has it. Null: none. */
  readonly trial: {
    readonly name: string;
    readonly program: string | undefined;
    readonly blows: string | undefined;
    readonly modelFaults: number | undefined;
  } | null;
  readonly json: boolean;
  /** Whether the page of the result is written. */
  readonly write: boolean;
}

/** One of several parts of equal size, from 1. */
export interface Part {
  readonly nth: number;
  readonly of: number;
}

const runsDefault = 200;
/** Deaths of a campaign on a cluster. */
const clusterDeathsDefault = 200;

export const usage = `Usage: npm run chaos -- [options]

Kills and pauses real processes (Temporal server, workers, model server) at every step of a run, restarts them, and
compares each run with an undisturbed one. Writes docs/campaign-fixed-runs.md after all phases. Exit code 1: a guarantee was broken.

  --seed <n>         repeat a campaign; default: a new one, which is printed
  --deaths <n>       about how many times processes are hurt; default: each moment of the reference run once. With
                     --cluster, runs are started until so many processes have died; default ${clusterDeathsDefault}
  --only <a,b>       some of the phases: ${phaseNames.join(', ')}
  --run <name>       the run that is hurt: ${runNames.join(', ')}. "seed" is all of a designed run on a repository
  --task <id>        only moments of one delegation and what is below it: ${taskIds.join(', ')}.
                     A team does "${teamTask}", in a run of its own
  --part <n/m>       only the nth of m parts, such as 2/4: a long campaign in several calls with the same seed
  --programs <n>     play so many generated programs, each hurt twice; the result is docs/campaign.json. A call with
                     the same seed goes on where the last one stopped
  --slice <minutes>  begin no other program after this time
  --trial <name>     play one trial of a seed again, such as program-4-2. A failed campaign prints what may differ:
                     --program <text>, --blows '<JSON>' and --model-faults <0 to 1>
  --lanes <n>        runs that are hurt side by side; default 3. With --programs, one keeps 1.2 cores busy
  --cluster          play the phase "crowd" with workers that have a home each and share PostgreSQL, a bucket and a
                     Temporal server on PostgreSQL; "npm run cluster" builds the servers, and one that is missing is named.
                     Workers are killed and paused, and each server is stopped and restarted, in turn
  --runs <n>         runs of the phase "crowd", with --cluster at least; default ${runsDefault}
  --json             print the result as JSON on standard output
  --write            write the page also with --only; --no-write: never
  --help             this text`;

/** @returns null when help was asked for. @throws {ExpectedError} that says which option is wrong. */
export function parseCampaignOptions(args: readonly string[]): CampaignOptions | null {
  const values = readValues(args);
  if (values.help === true) return null;
  const cluster = values.cluster === true;
  const { only, deaths, lanes } = cluster
    ? { only: ['crowd'] as const, deaths: clusterDeathsDefault, lanes: 1 }
    : {
        only: readPhases(values.only),
        deaths: undefined,
        lanes: readCount('--lanes', values.lanes, 1, 16),
      };
  const run = readRun(values.run);
  const task = readTask(values.task, run);
  const part = readPart(values.part);
  const isWhole =
    part === null && only.length === phaseNames.length && task === undefined && run === undefined;
  return {
    seed: readCount('--seed', values.seed, 0, 2 ** 32 - 1) ?? Math.floor(Math.random() * 2 ** 32),
    deaths: readCount('--deaths', values.deaths, 1, 100_000) ?? deaths,
    only,
    run,
    task,
    part,
    cluster,
    lanes: lanes ?? 3,
    runs: readCount('--runs', values.runs, 1, 10_000) ?? runsDefault,
    programs: readCount('--programs', values.programs, 1, 100_000) ?? null,
    slice: readCount('--slice', values.slice, 1, 1_440),
    trial: readTrial(values),
    json: values.json === true,
    write: values.write ?? isWhole,
  };
}

/** The command that makes the same choices again. When each of them strikes depends on the machine. */
export function repeatCommand({
  seed,
  deaths,
  runs,
  only,
  run,
  task,
  part,
  cluster,
}: CampaignOptions): string {
  const parts = [`--seed ${seed}`];
  if (deaths !== undefined && !(cluster && deaths === clusterDeathsDefault))
    parts.push(`--deaths ${deaths}`);
  if (runs !== runsDefault) parts.push(`--runs ${runs}`);
  if (cluster) parts.push('--cluster');
  else if (only.length < phaseNames.length) parts.push(`--only ${only.join(',')}`);
  if (run !== undefined) parts.push(`--run ${run}`);
  if (task !== undefined) parts.push(`--task ${task}`);
  if (part !== null) parts.push(`--part ${part.nth}/${part.of}`);
  return `npm run chaos -- ${parts.join(' ')}`;
}

function readValues(args: readonly string[]) {
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    return parseArgs({
      args: [...args],
      allowNegative: true,
      options: {
        seed: text,
        deaths: text,
        only: text,
        run: text,
        task: text,
        part: text,
        lanes: text,
        runs: text,
        programs: text,
        slice: text,
        trial: text,
        program: text,
        blows: text,
        'model-faults': text,
        cluster: flag,
        json: flag,
        write: flag,
        help: flag,
      },
    }).values;
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error));
  }
}

function readCount(
  name: string,
  text: string | undefined,
  min: number,
  max: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw refused(`${name} ${text}: expected a whole number from ${min} to ${max}.`);
}

function readPhases(text: string | undefined): readonly PhaseName[] {
  if (text === undefined) return phaseNames;
  const wanted = text.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !phaseNames.some((known) => known === name));
  if (unknown.length === 0) return phaseNames.filter((name) => wanted.includes(name));
  throw refused(`--only ${unknown.join(',')}: there is no such phase.`);
}

function readRun(name: string | undefined): string | undefined {
  if (name === undefined || runNames.includes(name)) return name;
  throw refused(`--run ${name}: there is no such run.`);
}

function readTask(id: string | undefined, run: string | undefined): string | undefined {
  const known = run === undefined ? taskIds : runOf({ run, task: id }).taskIds;
  if (id === undefined || known.includes(id)) return id;
  throw refused(`--task ${id}: no run has such a delegation.`);
}

function readPart(text: string | undefined): Part | null {
  if (text === undefined) return null;
  const [, nth = 0, of = 0] = (/^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? []).map(Number);
  if (nth >= 1 && nth <= of) return { nth, of };
  throw refused(`--part ${text}: expected a part of several, such as 2/4.`);
}

function readTrial(values: ReturnType<typeof readValues>): CampaignOptions['trial'] {
  const { trial: name, program, blows, 'model-faults': chance } = values;
  if (name === undefined) return null;
  if (!/^program-\d+-\d+$/u.test(name)) {
    throw refused(`--trial ${name}: expected a name such as program-4-2.`);
  }
  return { name, program, blows, modelFaults: chance === undefined ? undefined : Number(chance) };
}

function refused(fault: string): ExpectedError {
  return new ExpectedError(`${fault}\n\n${usage}`, badSettingsExitCode);
}
