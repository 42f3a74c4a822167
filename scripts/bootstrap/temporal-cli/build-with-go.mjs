import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLines, runCommand } from '../run-command.mjs';
import { cliFileName } from './cache.mjs';

/** Later versions replace a module by a local folder and so can't be built from the module proxy. */
const buildVersion = '1.5.1';
const commandPackage = 'github.com/temporalio/cli/cmd/temporal';

/**
 * Builds the CLI from source in a module of its own that is thrown away. Takes minutes.
 *
 * @param {string} workDir
 * @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} say
 * @returns {Promise<string>} path of the built CLI
 * @throws {Error} with the reason
 */
export async function buildWithGo(workDir, env, say) {
  const go = await runCommand('go', ['version'], { env });
  if (!go.ok) throw new Error(go.reason);
  say(`Building the Temporal CLI ${buildVersion} with Go; this takes some minutes …`);
  const module = join(workDir, 'module');
  const binary = join(workDir, cliFileName);
  await mkdir(module);
  // A build from the module proxy carries no version of its own and would report 0.0.0.
  const version = `-X github.com/temporalio/cli/temporalcli.Version=${buildVersion}`;
  const steps = [
    ['mod', 'init', 'planwave-temporal-cli'],
    ['get', `${commandPackage}@v${buildVersion}`],
    ['build', '-ldflags', `-s -w ${version}`, '-o', binary, commandPackage],
  ];
  for (const args of steps) {
    const step = await runCommand('go', args, { cwd: module, env });
    if (!step.ok) throw new Error(`go ${args[0]}: ${step.reason}\n${lastLines(step.output, 3)}`);
  }
  return binary;
}
