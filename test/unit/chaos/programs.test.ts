import {
  describeProgram,
  generateProgram,
  readProgram,
  shrinkProgram,
  toRun,
} from '../../chaos/programs/generate-program.ts';
import type { Program } from '../../chaos/programs/generate-program.ts';
import { outsideKinds, partKinds } from '../../chaos/programs/program-parts.ts';
import { chooseBlows, placeBlows } from '../../chaos/programs/play-program.ts';
import type { Trial } from '../../chaos/programs/play-program.ts';
import { reduceTrial } from '../../chaos/programs/reduce-trial.ts';
import { commandOf, createTrial, listUnplayed } from '../../chaos/programs/run-programs.ts';
import { createPrng } from '../../support/prng.ts';

const programs = Array.from({ length: 200 }, (_one, seed) => generateProgram(createPrng(seed)));
const isOutside = (kind: string): boolean => outsideKinds.some((one) => one === kind);
const partsOf = ({ waves }: Program): number => waves.flat().length;

it('one seed gives one program and one choice of blows', () => {
  expect(generateProgram(createPrng(5))).toEqual(generateProgram(createPrng(5)));
  expect(chooseBlows(createPrng(5))).toEqual(chooseBlows(createPrng(5)));
});

it('200 programs use every part, one to four waves, designed mode, and messages', () => {
  expect(new Set(programs.flatMap(({ waves }) => waves.flat()))).toEqual(
    new Set(['agent', ...partKinds, ...outsideKinds]),
  );
  // Without waves it is a run in designed mode.
  expect(new Set(programs.map(({ waves }) => waves.length))).toEqual(new Set([0, 1, 2, 3, 4]));
  expect(new Set(programs.flatMap(({ extras }) => extras)).size).toBe(4);
});

it('what acts outside comes last in its wave, once', () => {
  for (const kinds of programs.flatMap(({ waves }) => waves)) {
    expect(kinds.slice(0, -1).filter(isOutside)).toEqual([]);
  }
});

it('a program is read as it was described', () => {
  for (const program of programs) expect(readProgram(describeProgram(program))).toEqual(program);
  expect(() => readProgram('agent+robot')).toThrow('"robot" is no part of a program. Parts are:');
});

it('a shrunk program is smaller, and still has its first parts', () => {
  for (const program of programs) {
    for (const smaller of shrinkProgram(program)) {
      const size = (one: Program): number => partsOf(one) + one.extras.length;
      expect(size(smaller)).toBeLessThan(size(program));
      expect(smaller.waves.map(([first]) => first)).toEqual(smaller.waves.map(() => 'agent'));
    }
  }
});

it('each question of a program has an answer of its own', () => {
  for (const program of programs) {
    const texts = toRun(program, { hasSandbox: true }).askings.map(({ asked }) => asked.text);
    expect(new Set(texts).size).toBe(texts.length);
    const askers = program.waves.flat().filter((kind) => kind === 'asker').length;
    // A design has its interview.
    expect(texts).toHaveLength(program.waves.length === 0 ? 1 : askers);
  }
});

it('blows come in the order of the run, and none at its last event', () => {
  const events = Array.from({ length: 50 }, (_one, at) => ({
    at: 'event' as const,
    path: '',
    continued: 0,
    id: at + 1,
    type: 'X',
  }));
  for (let seed = 0; seed < 100; seed += 1) {
    const ids = placeBlows({ events }, chooseBlows(createPrng(seed))).map(({ moment }) =>
      moment.at === 'event' ? moment.id : Number.NaN,
    );
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(ids.at(-1)).toBeLessThan(50);
  }
});

it('a failing trial is reduced to what makes it fail, and the command names it', async () => {
  const flood = { at: 0.5, blow: { type: 'flood', signals: 60 } } as const;
  const kill = { at: 0.2, blow: { type: 'kill worker' } } as const;
  const trial: Trial = {
    name: 'program-3-1',
    program: readProgram('agent+team+writer / agent+asker, amend'),
    blows: [kill, flood, kill],
    modelFaultChance: 0.2,
    random: createPrng(1),
  };
  const smallest = await reduceTrial(
    trial,
    async ({ program, blows }) => blows.includes(flood) && program.waves.flat().includes('writer'),
  );
  expect(smallest).toMatchObject({ name: 'program-3-1', blows: [flood], modelFaultChance: 0 });
  expect(describeProgram(smallest.program)).toBe('agent+writer');
  expect(commandOf(smallest, 7)).toBe(
    `npm run chaos -- --seed 7 --trial program-3-1 --program 'agent+writer' --blows '${JSON.stringify([flood])}' --model-faults 0`,
  );
});

it('the name of a trial and the seed give its program, its blows and its chances again', () => {
  const trial = createTrial(17, 'program-4-2');
  expect(describeProgram(trial.program)).toBe(
    'agent+disputer+threaded / agent+disputer+threaded / agent+triad+threaded+editor / agent+disputer+editor, small budget',
  );
  expect(trial.blows.map(({ blow }) => blow.type)).toEqual([
    'kill worker and server',
    'reset',
    'pause',
    'pause',
    'kill worker',
    'kill worker',
  ]);
  const other = createTrial(17, 'program-4-1');
  expect(other.program).toEqual(trial.program);
  expect(other.blows).not.toEqual(trial.blows);
});

it('a campaign that was cut off goes on with the first program that it has not finished', () => {
  expect(listUnplayed({ played: [1, 3, 4] }, 6)).toEqual([2, 5, 6]);
});
