import { parseCampaignOptions, repeatCommand } from '../../chaos/campaign-options.ts';
import { runOf, standardRun } from '../../chaos/runs/all-runs.ts';
import { runWithDesign } from '../../chaos/runs/with-design.ts';
import { runWithSeed } from '../../chaos/runs/with-seed.ts';
import { phaseNames } from '../../chaos/phases/all-phases.ts';
import { badSettingsExitCode, ExpectedError } from '../../../scripts/bootstrap/expected-error.mjs';

function refusal(...args: readonly string[]): ExpectedError {
  try {
    parseCampaignOptions(args);
  } catch (error) {
    if (error instanceof ExpectedError) return error;
  }
  throw new Error(`${args.join(' ')} was taken.`);
}

it('without options: every phase, a seed of its own, and the page is written', () => {
  const options = parseCampaignOptions([]);
  expect(options).toMatchObject({
    deaths: undefined,
    only: phaseNames,
    lanes: 3,
    runs: 200,
    json: false,
    write: true,
  });
  expect(parseCampaignOptions([])?.seed).not.toBe(options?.seed);
});

it('reads every option', () => {
  const line =
    '--seed 7 --deaths 1000 --only crowd,calls --task region --lanes 2 --runs 12 --json --write';
  expect(parseCampaignOptions(line.split(' '))).toEqual({
    seed: 7,
    deaths: 1000,
    only: ['calls', 'crowd'],
    run: undefined,
    task: 'region',
    part: null,
    cluster: false,
    lanes: 2,
    runs: 12,
    programs: null,
    slice: undefined,
    trial: null,
    json: true,
    write: true,
  });
});

it('a part of the phases or of the run does not write the page, nor does --no-write', () => {
  expect(parseCampaignOptions(['--only', 'calls'])?.write).toBe(false);
  expect(parseCampaignOptions(['--task', 'region'])?.write).toBe(false);
  expect(parseCampaignOptions(['--run', 'seed'])?.write).toBe(false);
  expect(parseCampaignOptions(['--part', '1/2'])?.write).toBe(false);
  expect(parseCampaignOptions(['--no-write'])?.write).toBe(false);
});

it('a cluster has the phase of many runs alone, in one place, and is repeated as one', () => {
  const options = parseCampaignOptions('--cluster --seed 7 --lanes 2 --only calls'.split(' '));
  expect(options).toMatchObject({ cluster: true, only: ['crowd'], lanes: 1, write: false });
  expect(options === null ? '' : repeatCommand(options)).toBe(
    'npm run chaos -- --seed 7 --cluster',
  );
  expect(options?.deaths).toBe(200);
  const short = parseCampaignOptions('--cluster --seed 7 --deaths 20 --runs 1'.split(' '));
  expect(short === null ? '' : repeatCommand(short)).toBe(
    'npm run chaos -- --seed 7 --deaths 20 --runs 1 --cluster',
  );
});

it.each([
  ['--seed 7', '--seed 7'],
  [
    '--only calls --task region --runs 12 --deaths 9 --seed 7 --json',
    '--seed 7 --deaths 9 --runs 12 --only calls --task region',
  ],
  ['--run seed --only events --seed 7', '--seed 7 --only events --run seed'],
  ['--part 2/4 --run seed --seed 7', '--seed 7 --run seed --part 2/4'],
])('%s is repeated by %s', (line, repeated) => {
  const options = parseCampaignOptions(line.split(' '));
  expect(options && repeatCommand(options)).toBe(`npm run chaos -- ${repeated}`);
});

it('each run can be hurt as a whole, by its name', () => {
  expect(runOf({ run: 'seed', task: undefined })).toBe(runWithSeed);
  expect(runOf({ run: undefined, task: 'design' })).toBe(runWithDesign);
  expect(runOf({ run: undefined, task: undefined })).toBe(standardRun);
});

it('--help is no campaign', () => {
  expect(parseCampaignOptions(['--help'])).toBeNull();
});

it.each([
  [['--seed', 'x'], '--seed x: expected a whole number'],
  [['--deaths', '0'], '--deaths 0: expected a whole number from 1'],
  [['--deaths', '1e3'], '--deaths 1e3: expected'],
  [['--lanes', '17'], '--lanes 17: expected'],
  [['--only', 'calls,moon'], '--only moon: there is no such phase'],
  [['--task', 'moon'], '--task moon: no run has such a delegation'],
  [['--run', 'moon'], '--run moon: there is no such run'],
  [['--run', 'seed', '--task', 'region'], '--task region: no run has such a delegation'],
  [['--part', '3/2'], '--part 3/2: expected a part of several, such as 2/4'],
  [['--part', '0/2'], '--part 0/2: expected a part'],
  [['--trial', 'moon'], '--trial moon: expected a name such as program-4-2'],
  [['--moon'], "Unknown option '--moon'"],
  [['moon'], 'moon'],
])('%j is refused with what is wrong and the usage', (args, message) => {
  const { message: text, exitCode } = refusal(...args);
  expect(text).toContain(message);
  expect(text).toContain('Usage: npm run chaos');
  expect(exitCode).toBe(badSettingsExitCode);
});

it('reads how many programs a slice plays, and one trial to repeat', () => {
  expect(parseCampaignOptions(['--programs', '100', '--slice', '10'])).toMatchObject({
    programs: 100,
    slice: 10,
    trial: null,
  });
  const line = ['--trial', 'program-4-2', '--program', 'agent+team', '--blows', '[]'];
  expect(parseCampaignOptions(line)).toMatchObject({
    programs: null,
    trial: { name: 'program-4-2', program: 'agent+team', blows: '[]', modelFaults: undefined },
  });
});
