import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTemporalCli } from '../../scripts/bootstrap/find-temporal-cli.mjs';
import { quietRuntime } from '../support/quiet-runtime.ts';
import { provideBundle } from '../support/shared-server.ts';
import { runCampaign } from './campaign.ts';
import { parseCampaignOptions, repeatCommand, usage } from './campaign-options.ts';
import type { CampaignOptions } from './campaign-options.ts';
import { describeProgram, readProgram } from './programs/generate-program.ts';
import type { Trial } from './programs/play-program.ts';
import {
  closeProgramLanes,
  createTrial,
  faultsOf,
  figureOf,
  openProgramLanes,
  playSafely,
  runPrograms,
} from './programs/run-programs.ts';
import { asCampaign, renderPage, renderProgramsPage, renderSummary } from './report.ts';
import { judgeCampaign } from './verdict.ts';

const page = fileURLToPath(new URL('../../docs/campaign.md', import.meta.url));
const fixedPage = fileURLToPath(new URL('../../docs/campaign-fixed-runs.md', import.meta.url));

/** `npm run chaos`: hurts runs of real processes and says what became of them. Exit code 1 after a breach. */
export async function main(args: readonly string[]): Promise<number> {
  const options = parseCampaignOptions(args);
  if (options === null) {
    console.log(usage);
    return 0;
  }
  console.error(`seed ${options.seed}`);
  quietRuntime();
  const cli = await findTemporalCli();
  const forgetBundle = await provideBundle();
  try {
    if (options.trial !== null) return await repeatTrial(options, options.trial);
    if (options.programs !== null)
      return await playPrograms(options, options.programs, cli.version);
    const result = await runCampaign(options, (line) => console.error(line));
    const verdict = judgeCampaign(result);
    if (options.json) console.log(JSON.stringify({ ...result, verdict }, null, 2));
    else console.log(renderSummary(result, verdict));
    if (options.write) {
      const date = new Date().toISOString().slice(0, 10);
      const versions = [`Node ${process.versions.node}`, `Temporal CLI ${cli.version}`];
      writeFileSync(
        fixedPage,
        renderPage(result, verdict, { date, versions, repeat: repeatCommand(options) }),
      );
    }
    return verdict.faults.length === 0 ? 0 : 1;
  } finally {
    forgetBundle();
  }
}

const say = (line: string): void => console.error(line);

const resultFile = fileURLToPath(new URL('../../docs/campaign.json', import.meta.url));

async function playPrograms(
  { seed, slice, lanes, write }: CampaignOptions,
  programs: number,
  cliVersion: string,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-campaign-'));
  const file = write ? resultFile : join(folder, 'campaign.json');
  const versions = [`Node ${process.versions.node}`, `Temporal CLI ${cliVersion}`];
  const result = await runPrograms({
    seed,
    programs,
    sliceMinutes: slice,
    lanes,
    file,
    versions,
    say,
  });
  const campaign = asCampaign(result);
  const verdict = judgeCampaign(campaign);
  console.log(renderSummary(campaign, verdict));
  for (const { text, command } of result.failures) console.log(`${text}\n  ${command}`);
  if (write) {
    writeFileSync(page, renderProgramsPage(result));
    console.log(`docs/campaign.md is written. README.md has to say: ${figureOf(result)}`);
  }
  return verdict.faults.length === 0 ? 0 : 1;
}

async function repeatTrial(
  { seed }: CampaignOptions,
  { name, program, blows, modelFaults }: NonNullable<CampaignOptions['trial']>,
): Promise<number> {
  const [lane, ...rest] = await openProgramLanes(1);
  if (lane === undefined) throw new Error('No lane was opened.');
  try {
    const given = createTrial(seed, name);
    const trial: Trial = {
      ...given,
      program: program === undefined ? given.program : readProgram(program),
      blows: blows === undefined ? given.blows : JSON.parse(blows),
      modelFaultChance: modelFaults ?? given.modelFaultChance,
    };
    say(`${name}: ${describeProgram(trial.program)}`);
    const { tally } = await playSafely(lane, trial, undefined);
    const faults = faultsOf(tally);
    console.log(faults.join('\n') || `no breach after ${tally.deaths} deaths`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await closeProgramLanes([lane, ...rest]);
  }
}
