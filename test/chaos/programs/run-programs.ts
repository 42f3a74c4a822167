import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { countOf } from '../../../core/text/format.ts';
import { createPrng } from '../../support/prng.ts';
import { closeOwnLanes, openOwnLanes, shortHistories } from '../lane.ts';
import type { Lane } from '../lane.ts';
import type { PlayedReference } from '../play-reference.ts';
import { createTally, mergeTally } from '../tally.ts';
import type { Tally } from '../tally.ts';
import { describeProgram, generateProgram } from './generate-program.ts';
import { chooseBlows, playProgram } from './play-program.ts';
import type { Trial } from './play-program.ts';
import { reduceTrial } from './reduce-trial.ts';

/** The machine-readable result of generated programs, to which each slice adds. */
export interface ProgramsResult {
  readonly seed: number;
  /** Day of the last slice, such as `2026-11-22`, and the versions then: `Node 20.20.2`, … */
  date: string;
  versions: readonly string[];
  /** Programs that were played to their end, and those that the campaign wants. */
  programs: number;
  wanted: number;
  /** Their numbers, from 1. A campaign that was cut off goes on with the first one that is missing. */
  readonly played: number[];
  seconds: number;
  readonly tally: Tally;
  /** One for each trial with a breach: what broke, and the command that shows it again. */
  readonly failures: { readonly text: string; readonly command: string }[];
  /** The version of the engine, and breaches before this result with what was done about them. Written by hand. */
  readonly engine: string;
  readonly mended: readonly { readonly breach: string; readonly fix: string }[];
}

export interface ProgramsOptions {
  readonly seed: number;
  readonly programs: number;
  /** Minutes after which no other program is begun. If undefined, all are played. */
  readonly sliceMinutes: number | undefined;
  readonly lanes: number;
  /** File of the result. One with the same seed is continued. */
  readonly file: string;
  readonly versions: readonly string[];
  readonly say: (line: string) => void;
}

const trialsPerProgram = 2;

export const programsTitle =
  'generated programs, hurt at any event: deaths, also at durable writes and during recovery, of the server too, pauses, a full disk, floods, clock jumps, another version, faults of the model';

/** Plays generated programs, each undisturbed and then hurt twice. Writes the result after each. */
export async function runPrograms(options: ProgramsOptions): Promise<ProgramsResult> {
  const { file, programs, sliceMinutes, say } = options;
  const result = readResult(file, options.seed);
  result.date = new Date().toISOString().slice(0, 10);
  result.versions = options.versions;
  result.wanted = programs;
  const startedAtMs = Date.now();
  const before = result.seconds;
  const untilMs = sliceMinutes === undefined ? Infinity : startedAtMs + sliceMinutes * 60_000;
  const lanes = await openProgramLanes(options.lanes);
  if (!lanes.every(({ usual }) => usual.hasSandbox)) {
    const lack = 'without a sandbox, so edits stand for commands';
    say(lack);
    result.versions = [...options.versions, lack];
  }
  const left = listUnplayed(result, programs);
  const work = async (lane: ProgramLane): Promise<void> => {
    while (Date.now() < untilMs) {
      const next = left.shift();
      if (next === undefined) return;
      const { tally, failures } = await playOne(lane, `program-${next}`, options);
      mergeTally(result.tally, tally);
      result.failures.push(...failures);
      result.played.push(next);
      result.programs = result.played.length;
      result.seconds = before + Math.round((Date.now() - startedAtMs) / 1_000);
      writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
      say(`${result.programs} of ${programs} programs, ${result.tally.deaths} deaths`);
    }
  };
  try {
    await Promise.all(lanes.map(work));
    return result;
  } finally {
    await closeProgramLanes(lanes);
  }
}

/** A lane for most programs, and one whose server wants workflows to continue as new early. */
export interface ProgramLane {
  readonly usual: Lane;
  readonly short: Lane;
}

export async function openProgramLanes(count: number): Promise<ProgramLane[]> {
  const short = await openOwnLanes(count, shortHistories);
  const usual = await openOwnLanes(count);
  return usual.flatMap((one, at) => {
    const other = short[at];
    return other === undefined ? [] : [{ usual: one, short: other }];
  });
}

export async function closeProgramLanes(lanes: readonly ProgramLane[]): Promise<void> {
  await closeOwnLanes(lanes.flatMap(({ usual, short }) => [usual, short]));
}

/** The figure that the README states. */
export function figureOf({ programs, tally }: ProgramsResult): string {
  const deaths = tally.deaths.toLocaleString('en');
  const faults = countOf(faultsOf(tally).length, 'breach', 'breaches');
  return `${deaths} deaths in ${countOf(programs, 'generated program')}, ${faults}`;
}

/** Returns the result so far of this seed, or an empty one. */
export function readResult(file: string, seed: number): ProgramsResult {
  const empty: ProgramsResult = {
    seed,
    date: '',
    versions: [],
    programs: 0,
    wanted: 0,
    played: [],
    seconds: 0,
    tally: createTally(),
    failures: [],
    engine: '',
    mended: [],
  };
  if (!existsSync(file)) return empty;
  const found: ProgramsResult = JSON.parse(readFileSync(file, 'utf8'));
  return found.seed === seed ? found : empty;
}

/** Lists the numbers of the programs that a campaign has not played yet. */
export function listUnplayed(
  { played }: Pick<ProgramsResult, 'played'>,
  programs: number,
): number[] {
  return Array.from({ length: programs }, (_one, index) => index + 1).filter(
    (nth) => !played.includes(nth),
  );
}

/** Creates one trial of a seed's campaign. @param name such as `program-4-2`: the second one of the fourth program. */
export function createTrial(seed: number, name: string): Trial {
  const [, program = '', nth = ''] = /^program-(\d+)-(\d+)$/u.exec(name) ?? [];
  const ofProgram = createPrng(seed).fork(`program ${program}`);
  const random = ofProgram.fork(`trial ${nth}`);
  return {
    name,
    program: generateProgram(ofProgram.fork('program')),
    blows: chooseBlows(random.fork('blows')),
    modelFaultChance: random.fork('faults').chance(0.3) ? 0.2 : 0,
    random,
  };
}

async function playOne(
  lane: ProgramLane,
  name: string,
  { seed, say }: Pick<ProgramsOptions, 'seed' | 'say'>,
): Promise<Pick<ProgramsResult, 'tally' | 'failures'>> {
  const tally = createTally();
  const failures: ProgramsResult['failures'] = [];
  let reference: PlayedReference | undefined;
  for (let nth = 1; nth <= trialsPerProgram; nth += 1) {
    const trial = createTrial(seed, `${name}-${nth}`);
    if (nth === 1) say(`${name}: ${describeProgram(trial.program)}`);
    const played = await playSafely(lane, trial, reference);
    reference = played.reference;
    mergeTally(tally, played.tally);
    const [fault] = faultsOf(played.tally);
    if (fault === undefined) continue;
    say(`  ${trial.name}: BREACH: ${fault}`);
    const smallest = await reduceTrial(trial, async (smaller) => {
      const again = await playSafely(lane, smaller, undefined);
      const faults = faultsOf(again.tally);
      for (const one of faults) say(`  ${smaller.name}: ${one.slice(0, 500)}`);
      // Another breach is a find of its own.
      return faults.some((one) => kindOfFault(one) === kindOfFault(fault));
    });
    const command = commandOf(smallest, seed);
    say(`  repeat it with: ${command}`);
    failures.push({ text: `${trial.name}: ${fault.slice(0, 500)}`, command });
  }
  for (const one of [lane.usual, lane.short]) await one.clear();
  return { tally, failures };
}

/** Plays a trial. A campaign that fails itself is a breach of its own, so that the next program is played. */
export async function playSafely(
  { usual, short }: ProgramLane,
  trial: Trial,
  known: PlayedReference | undefined,
): Promise<{ readonly reference?: PlayedReference; readonly tally: Tally }> {
  try {
    const isShort = trial.program.extras.includes('short histories');
    return await playProgram(isShort ? short : usual, trial, known);
  } catch (error) {
    const tally = createTally();
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tally.breaches.push({ kind: 'campaign failed', run: trial.name, text });
    return { tally, ...(known !== undefined && { reference: known }) };
  }
}

/** One line for each breach and stuck run. */
export function faultsOf({ breaches, stuck }: Tally): string[] {
  return [...breaches.map(({ kind, text }) => `${kind}: ${text}`), ...stuck];
}

/** `broken promise: files` of such a line: what must be the same when it comes again. */
function kindOfFault(fault: string): string {
  return /^[^:]+(?:: \w+(?=:))?/u.exec(fault)?.[0] ?? fault;
}

/** Returns the command that plays one trial again. */
export function commandOf({ name, program, blows, modelFaultChance }: Trial, seed: number): string {
  return `npm run chaos -- --seed ${seed} --trial ${name} --program '${describeProgram(program)}' --blows '${JSON.stringify(blows)}' --model-faults ${modelFaultChance}`;
}
