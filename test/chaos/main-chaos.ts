import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { findTemporalCli } from '../../scripts/bootstrap/find-temporal-cli.mjs';
import { provideBundle } from '../support/shared-server.ts';
import { runCampaign } from './campaign.ts';
import { parseCampaignOptions, repeatCommand, usage } from './campaign-options.ts';
import { renderPage, renderSummary } from './report.ts';
import { judgeCampaign } from './verdict.ts';

const page = fileURLToPath(new URL('../../docs/campaign.md', import.meta.url));

/** `npm run chaos`: hurts runs of real processes and says what became of them. Exit code 1 after a breach. */
export async function main(args: readonly string[]): Promise<number> {
  const options = parseCampaignOptions(args);
  if (options === null) {
    console.log(usage);
    return 0;
  }
  console.error(`seed ${options.seed}`);
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const cli = await findTemporalCli();
  const forgetBundle = await provideBundle();
  try {
    const result = await runCampaign(options, (line) => console.error(line));
    const verdict = judgeCampaign(result);
    if (options.json) console.log(JSON.stringify({ ...result, verdict }, null, 2));
    else console.log(renderSummary(result, verdict));
    if (options.write) {
      const date = new Date().toISOString().slice(0, 10);
      const versions = [`Node ${process.versions.node}`, `Temporal CLI ${cli.version}`];
      writeFileSync(
        page,
        renderPage(result, verdict, { date, versions, repeat: repeatCommand(options) }),
      );
    }
    return verdict.faults.length === 0 ? 0 : 1;
  } finally {
    forgetBundle();
  }
}
