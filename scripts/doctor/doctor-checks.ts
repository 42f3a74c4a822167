import { computeUsage, pricesAsOf } from '../../activities/adapters/prices.ts';
import { loadAgents } from '../../activities/adapters/agent-files.ts';
import { AgentFilesInvalid } from '../../activities/ports/agent-source.ts';
import { loadDetailName } from '../../activities/tools/registry/load-detail.ts';
import { writeFileName } from '../../activities/tools/registry/write-file.ts';
import type { DoctorCheck, DoctorFinding } from '../../client/cli/cli-deps.ts';
import { shippedAgentsDir } from '../../worker/create-activities.ts';
import { readWorkerSettings } from '../../worker/worker-settings.ts';
import { messageOf } from '../bootstrap/expected-error.mjs';
import { findTemporalCli } from '../bootstrap/find-temporal-cli.mjs';
import type { Settings } from '../settings.ts';
import { checkHome } from './check-home.ts';
import { checkMiddlewares } from './check-middlewares.ts';
import { checkModel } from './check-model.ts';
import { checkThreads } from './check-threads.ts';

/**
 * Creates the checks of `planwave doctor` for this machine, besides the server. The worker may have other settings than
 * this shell.
 */
export function createDoctorChecks(settings: Settings): DoctorCheck[] {
  return [
    { name: 'Temporal CLI', run: checkCli },
    { name: 'Settings', run: async () => describeSettings(settings) },
    { name: 'Model', run: () => checkModel(process.env) },
    { name: 'Prices', run: checkPrices },
    { name: 'Agents', run: checkAgents },
    { name: 'Middlewares', run: () => checkMiddlewares(process.env) },
    { name: 'Files', run: () => checkHome(settings.home) },
    { name: 'Threads', run: () => checkThreads(settings.home, process.env) },
  ];
}

async function checkCli(): Promise<DoctorFinding> {
  try {
    const { path, version, source } = await findTemporalCli();
    return { ok: true, detail: `${version} (${source}): ${path}` };
  } catch (error) {
    return { ok: false, detail: messageOf(error), cure: 'set TEMPORAL_CLI_PATH to a Temporal CLI' };
  }
}

function describeSettings(settings: Settings): DoctorFinding {
  const { home, temporalAddressGiven, temporalPort, uiPort, rehearsalPort } = settings;
  const where =
    temporalAddressGiven === undefined
      ? `ports: server ${temporalPort}, Web UI ${uiPort}, rehearsal ${rehearsalPort}`
      : `TEMPORAL_ADDRESS ${temporalAddressGiven}`;
  return { ok: true, detail: `PLANWAVE_HOME ${home}; ${where}` };
}

async function checkPrices(): Promise<DoctorFinding> {
  const model = modelName();
  const noTokens = {
    inputTokens: 0,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: 0,
    outputTokens: 0,
  };
  const isPriced = computeUsage(model, noTokens).unpriced_calls === 0;
  // An unknown price is no failure: a run counts its tokens and says so.
  const word = isPriced ? 'known' : 'unknown; runs will say "cost unknown"';
  return { ok: true, detail: `price of ${model} as of ${pricesAsOf}: ${word}` };
}

/** Returns the default model; without a key, `npm start` and `npm run dev` start the rehearsal model. */
function modelName(): string {
  try {
    return readWorkerSettings(process.env).defaultModel;
  } catch {
    return 'rehearsal';
  }
}

async function checkAgents(): Promise<DoctorFinding> {
  try {
    const agents = await loadAgents([shippedAgentsDir], {
      knownTools: [loadDetailName, writeFileName],
    });
    return { ok: true, detail: agents.map(({ agent_id }) => agent_id).join(', ') };
  } catch (error) {
    if (!(error instanceof AgentFilesInvalid)) throw error;
    const faults = error.faults.map(({ file, line, reason }) => `${file}:${line} ${reason}`);
    return { ok: false, detail: faults.join('; '), cure: 'mend the files it names' };
  }
}
