import type { DoctorFinding } from '../../client/cli/cli-deps.ts';
import { BadSettings, readWorkerSettings } from '../../worker/worker-settings.ts';
import type { WorkerSettings } from '../../worker/worker-settings.ts';
import { messageOf } from '../bootstrap/expected-error.mjs';

const anthropicUrl = 'https://api.anthropic.com';
const timeoutMs = 5_000;

/** Checks that the model API of this environment answers and accepts the key. It lists models, which costs nothing. */
export async function checkModel(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  let settings: WorkerSettings;
  try {
    settings = readWorkerSettings(env);
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    return {
      ok: true,
      detail: 'no ANTHROPIC_API_KEY: npm start and npm run dev bring the rehearsal model',
    };
  }
  const baseUrl = settings.baseUrl ?? anthropicUrl;
  try {
    const response = await fetch(new URL('/v1/models?limit=1', baseUrl), {
      headers: { 'x-api-key': settings.apiKey, 'anthropic-version': '2023-06-01' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return judge(response.status, baseUrl, settings.defaultModel);
  } catch (error) {
    return {
      ok: false,
      detail: `${baseUrl} does not answer: ${messageOf(error)}`,
      cure: 'check ANTHROPIC_BASE_URL and the network',
    };
  }
}

function judge(status: number, baseUrl: string, model: string): DoctorFinding {
  if (status === 401 || status === 403) {
    return {
      ok: false,
      detail: `${baseUrl} refuses the key (${status})`,
      cure: 'set ANTHROPIC_API_KEY to a valid key',
    };
  }
  // Local servers often have no list of models; an answer is enough.
  return { ok: true, detail: `${baseUrl} answers (${status}); default model ${model}` };
}
