/** Checks of `planwave doctor` that read the settings of this shell, and nothing else. */
import type { DoctorFinding } from '../client/cli/cli-deps.ts';
import { BadSettings, readFolders, readWorkerSettings } from '../worker/worker-settings.ts';
import { messageOf } from './bootstrap/expected-error.mjs';
import { hasModel, type Settings } from './parts/settings.ts';

/** Shows where everything is, and the settings with which no worker starts; a missing model is none of them. */
export function checkSettings(settings: Settings, env: NodeJS.ProcessEnv): DoctorFinding {
  try {
    readWorkerSettings(hasModel(env) ? env : { ...env, ANTHROPIC_API_KEY: 'none' });
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    return {
      ok: false,
      detail: messageOf(error),
      cure: 'correct what it names (docs/configuration.md); no worker starts with it',
    };
  }
  const { home, temporalAddressGiven, temporalPort, uiPort, rehearsalPort } = settings;
  const where =
    temporalAddressGiven === undefined
      ? `ports: server ${temporalPort}, Web UI ${uiPort}, rehearsal ${rehearsalPort}`
      : `TEMPORAL_ADDRESS ${temporalAddressGiven}`;
  return { ok: true, detail: `PLANWAVE_HOME ${home}; ${where}` };
}

/** Shows the folders that runs may name. */
export function describeFolders(env: NodeJS.ProcessEnv): DoctorFinding {
  const { workspaceRoots = [], agentRoots = [] } = readFolders(env);
  const [workspaces, agents] = [workspaceRoots, agentRoots].map((roots) => roots.join(', '));
  return {
    ok: true,
    detail: `runs may work in ${workspaces} (PLANWAVE_WORKSPACES), and bring agents from ${agents} (PLANWAVE_AGENTS)`,
  };
}
